/**
 * The first load of a local copy: all rows as a scan finds them, then the log from where it stood when the scan began. What
 * changed meanwhile comes twice, and to the same end. The lists are another matter.
 */
import { join } from 'node:path'
import type { Entry } from '../ledger.ts'
import { RowRuns } from '../row-runs.ts'
import type { LocalCopy } from './local-copy.ts'
import type { RedisLedger } from './redis-ledger.ts'
import { withChanges } from './scanned-rows.ts'
import type { StoreLog } from './store-log.ts'

/** How often the log says how far it has come. */
const PROGRESS_MS = 2_000

export interface LoadOptions {
  readonly source: RedisLedger
  /** An empty one. */
  readonly copy: LocalCopy
  /** The one it is in. */
  readonly directory: string
  readonly environmentId: string
  readonly log: StoreLog
}

/**
 * Returns the number of rows. Throws `REVISION_TOO_OLD` when the log was trimmed away under the load, `STORE_RESET` when the history was replaced, and
 * what the link throws; the copy is of no use then.
 */
export async function loadCopy({
  source,
  copy,
  directory,
  environmentId,
  log,
}: LoadOptions): Promise<number> {
  await copy.begin(source.epoch)
  const from = await source.position()
  const progress = new Progress(await source.rowCount(), environmentId, log)
  const scanned = new RowRuns(join(directory, 'scan'))
  for await (const rows of source.rows()) {
    for (const row of rows) scanned.add(row)
    progress.add(rows.length)
  }
  const upTo = await source.head()
  const since: Entry[] = []
  if (upTo.sequence > from.sequence) {
    for await (const entry of source.feed(from)) {
      since.push(entry)
      if (entry.revision.sequence >= upTo.sequence) break
    }
  }
  const last = since.at(-1)
  const position = last ? { ...last.revision, id: last.id } : from
  await copy.load(withChanges(scanned.inOrder(), since), position)
  progress.end()
  return scanned.count
}

/** Says how far a load is: a line every few seconds, and one at the end of a long one. */
class Progress {
  readonly #total: number
  readonly #environmentId: string
  readonly #log: StoreLog
  readonly #startedAt = performance.now()
  #toldAt = performance.now()
  #facts = 0
  #hasTold = false

  constructor(total: number, environmentId: string, log: StoreLog) {
    this.#total = total
    this.#environmentId = environmentId
    this.#log = log
  }

  add(facts: number): void {
    this.#facts += facts
    if (performance.now() - this.#toldAt < PROGRESS_MS) return
    this.#toldAt = performance.now()
    this.#hasTold = true
    this.#tell('loading')
  }

  end(): void {
    if (this.#hasTold) this.#tell('loaded')
  }

  #tell(message: string): void {
    const seconds = (performance.now() - this.#startedAt) / 1_000
    this.#log.info(
      {
        environment: this.#environmentId,
        facts: this.#facts,
        factsPerSecond: Math.round(this.#facts / seconds),
        remaining: Math.max(0, this.#total - this.#facts),
      },
      message,
    )
  }
}
