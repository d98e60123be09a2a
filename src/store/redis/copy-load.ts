/**
 * The first load of a local copy: all rows as a scan finds them, then the log from where it stood when the scan began. What
 * changed meanwhile comes twice, and to the same end. The lists are another matter.
 */
import { join } from 'node:path'
import { RowRuns, type StoredRow } from '#store/bulk-load/row-runs.ts'
import { decodeRow } from '#store/keyspace/row-codec.ts'
import type { Entry, Row } from '#store/ledger.ts'
import { LoadProgress } from './load-progress.ts'
import type { LocalCopy } from './local-copy.ts'
import type { RedisLedger } from './redis-ledger.ts'
import { RowTally } from './row-tally.ts'
import { withChanges } from './scanned-rows.ts'
import type { StoreLog } from './store-log.ts'

export interface LoadOptions {
  readonly source: RedisLedger
  /** An empty one. */
  readonly copy: LocalCopy
  /** The one it is in. */
  readonly directory: string
  readonly environmentId: string
  /** Whether a row means anything; asked where no account is kept of all of them. */
  readonly isReadable: (row: Pick<Row, 'key' | 'value'>) => boolean
  readonly log: StoreLog
}

/**
 * Returns the number of rows. Throws `REVISION_TOO_OLD` when the log was trimmed away under the load, `STORE_RESET`
 * when the history was replaced, `DamagedStoreError` when these are not the rows that commits have left, and what the link
 * throws; the copy is of no use then.
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
  const { position: from, rowCount: total, isOfAllRows } = await source.standing()
  const elapsedMs = () => performance.now()
  const progress = new LoadProgress({ total, environmentId, log, elapsedMs })
  const scanned = new RowRuns(join(directory, 'scan'))
  for await (const rows of source.rows()) {
    for (const row of rows) scanned.add(row)
    progress.add(rows.length)
  }
  // No commit is half done there: what the scan has found is of commits up to that one.
  const end = await source.standing()
  const upTo = end.position
  const since: Entry[] = []
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
      // Otherwise they are as they were committed, or the account says that they are not.
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
