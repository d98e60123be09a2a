/**
 * Loads a local replica for the first time: all rows from a scan, then the log from its position at the start
 * of the scan. The scan can already contain changes made during the scan. Applying them again from the log
 * changes nothing. The secondary indexes are built later.
 */
import { join } from 'node:path'
import { RowRuns, type StoredRow } from '#store/bulk-load/row-runs.ts'
import { decodeRow } from '#store/keyspace/row-codec.ts'
import type { LogEntry, Row } from '#store/ledger.ts'
import { LoadProgress } from './load-progress.ts'
import type { LocalCopy } from './local-copy.ts'
import type { RedisLedger } from '#store/redis/ledger/redis-ledger.ts'
import { RowTally } from '#store/redis/ledger/row-tally.ts'
import { withChanges } from './scanned-rows.ts'
import type { StoreLog } from '#store/store-log.ts'

export interface LoadOptions {
  readonly source: RedisLedger
  /** An empty replica. */
  readonly copy: LocalCopy
  /** Directory of the replica. */
  readonly directory: string
  readonly environmentId: string
  /** Whether a row can be decoded. Used only if the checksum in Redis does not cover all rows. */
  readonly isReadable: (row: Pick<Row, 'key' | 'value'>) => boolean
  readonly log: StoreLog
}

/**
 * Returns the number of rows. Throws `REVISION_TOO_OLD` if the log was trimmed during the load, `STORE_RESET`
 * if the epoch was replaced, `DamagedStoreError` if the rows differ from those that commits wrote, and the
 * errors of the link. The replica must not be used then.
 */
export async function loadCopy({
  source,
  copy,
  directory,
  environmentId,
  isReadable,
  log,
}: LoadOptions): Promise<number> {
  await copy.begin(source.epoch)
  const { position: from, rowCount: total, isOfAllRows } = await source.state()
  const elapsedMs = () => performance.now()
  const progress = new LoadProgress({ total, environmentId, log, elapsedMs })
  const scanned = new RowRuns(join(directory, 'scan'))
  for await (const rows of source.rows()) {
    for (const row of rows) scanned.add(row)
    progress.add(rows.length)
  }
  // The log is read up to this position. All rows of the commits up to this position are written completely.
  const end = await source.state()
  const upTo = end.position
  const since: LogEntry[] = []
  if (upTo.sequence > from.sequence) {
    for await (const entry of source.feed(from)) {
      since.push(entry)
      if (entry.revision.sequence >= upTo.sequence) break
    }
  }
  const last = since.at(-1)
  const position = last ? { ...last.revision, id: last.id } : from
  const tally = new RowTally()
  let isEachReadable = true
  await copy.write(
    each(withChanges(scanned.inOrder(), since), row => {
      tally.add(row)
      // This check is not necessary with a checksum of all rows, because the checksum shows whether the rows
      // are as they were committed.
      if (!isOfAllRows) isEachReadable &&= isReadable(decodeRow(row.created, row.bytes))
    }),
  )
  if (!isEachReadable) await source.refuseUnreadable()
  await source.verify(end, tally)
  await copy.loaded(position)
  progress.end()
  return scanned.count
}

function* each(rows: Iterable<StoredRow>, note: (row: StoredRow) => void): Iterable<StoredRow> {
  for (const row of rows) {
    note(row)
    yield row
  }
}
