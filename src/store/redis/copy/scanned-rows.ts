/** Updates the rows that a scan found with the commits made during the scan. Pure function. */
import type { StoredRow } from '#store/bulk-load/row-runs.ts'
import { textOf } from '#model/text/byte-text.ts'
import { encodeRow, keyOf } from '#store/keyspace/row-codec.ts'
import type { LogEntry, Row } from '#store/ledger.ts'

/**
 * Returns the rows after those commits, in the order of their creation. If a row was written or removed
 * during the scan, the commits determine its state, regardless of what the scan found.
 */
export function* withChanges(scanned: Iterable<StoredRow>, since: readonly LogEntry[]): Iterable<StoredRow> {
  const changed = new Map<string, Row | null>()
  for (const entry of since) {
    for (const key of entry.delete) changed.set(textOf(key), null)
    for (const row of entry.put) changed.set(textOf(row.key), row)
  }
  const written = [...changed.values()].filter(row => row !== null)
  const next = written.toSorted((one, other) => one.created - other.created).values()
  let step = next.next()
  for (const row of scanned) {
    for (; !step.done && step.value.created < row.created; step = next.next()) yield stored(step.value)
    if (changed.size === 0 || !changed.has(textOf(keyOf(row.bytes)))) yield row
  }
  for (; !step.done; step = next.next()) yield stored(step.value)
}

function stored(row: Row): StoredRow {
  return { created: row.created, bytes: encodeRow(row) }
}
