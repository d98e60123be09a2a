/**
 * The feed of one consumer. It reads every entry from the log at its own position, old and new entries alike.
 * Therefore no entry is lost or delivered twice at the transition from catch-up to live entries. A slow
 * consumer uses no memory: if the log is trimmed beyond its position, it receives `REVISION_TOO_OLD`.
 *
 * `DurableMark` states how far consumers can read, and wakes them when that changes. There is no polling.
 */
import { AuthzError } from '#model/errors.ts'
import { formatRevision, type Revision } from '#model/revision.ts'
import type { LogEntry } from '#store/ledger.ts'
import type { CommitLog } from './commit-log.ts'
import { decodeEntry, laterDecoded } from './entry-codec.ts'

/**
 * The readable end of an epoch, and the consumers that wait for more. A consumer can also be woken although
 * there is no new entry. It then reads again and finds nothing.
 */
export class DurableMark {
  #sequence: number
  #turns = 0
  #end: { readonly reason: AuthzError | null } | null = null
  readonly #waiting = new Set<() => void>()

  constructor(sequence: number) {
    this.#sequence = sequence
  }

  /** Sequence of the newest durable commit. */
  get sequence(): number {
    return this.#sequence
  }

  get isClosed(): boolean {
    return this.#end !== null
  }

  /** Reason for which the mark was closed. Null if it was closed without a reason or is open. */
  get endReason(): AuthzError | null {
    return this.#end?.reason ?? null
  }

  /**
   * Number of times that waiting consumers were woken. A consumer compares two values to detect a missed
   * wake.
   */
  get turns(): number {
    return this.#turns
  }

  /**
   * Advances the mark to a durable commit. Calls can be in any order: if a commit is durable, all earlier
   * ones are.
   */
  advance(sequence: number): void {
    if (sequence <= this.#sequence) return
    this.#sequence = sequence
    this.#wakeAll()
  }

  /** Makes every consumer read again. */
  nudge(): void {
    this.#wakeAll()
  }

  /**
   * Closes the mark. If a reason is given, consumers that continue to read receive it as an error. Otherwise
   * their feeds end normally.
   */
  close(reason: AuthzError | null = null): void {
    this.#end ??= { reason }
    this.#wakeAll()
  }

  /** Calls `wake` once, when the mark has advanced or is closed. */
  notify(wake: () => void): void {
    this.#waiting.add(wake)
  }

  /** Cancels a `notify`. */
  forget(wake: () => void): void {
    this.#waiting.delete(wake)
  }

  #wakeAll(): void {
    this.#turns += 1
    const woken = [...this.#waiting]
    this.#waiting.clear()
    for (const wake of woken) wake()
  }
}

/**
 * Reads the entries after `after`, up to the size of one batch; returns none if there are no more at the
 * moment. Throws the error that ends a feed.
 */
export type LogReader = (after: number) => readonly LogEntry[] | Promise<readonly LogEntry[]>

/**
 * Maximum total number of changes in the commits that are kept. A few commits suffice, because a consumer
 * that does not lag reads each commit soon after it was made.
 */
const HANDED_CHANGES_MAX = 40_000

/**
 * Changes of the newest commits, as the writer passed them. A consumer then need not decode them from the
 * log, which would block the thread. A consumer that lags reads the same changes from the log.
 */
export class HandedCommits {
  readonly #durable: DurableMark
  readonly #logEntriesMax: number
  readonly #commits = new Map<number, HandedCommit>()
  /** Number of changes of all kept commits, plus one per commit. */
  #changes = 0

  /** `durable` is the mark of the same epoch. At most `logEntriesMax` commits are kept, as in the log. */
  constructor(durable: DurableMark, logEntriesMax: number) {
    this.#durable = durable
    this.#logEntriesMax = logEntriesMax
  }

  /**
   * Keeps a commit. Must be called before the mark advances to `sequence`. If a later commit has already
   * advanced the mark beyond `sequence`, the commit is not kept: consumers have read it from the log and
   * would not take it from here.
   */
  add(sequence: number, { id, changes }: HandedCommit): void {
    // An earlier commit that the tables rolled back might have had the same sequence.
    this.take(sequence)
    if (sequence <= this.#durable.sequence) return
    this.#commits.set(sequence, { id, changes })
    this.#changes += changes.length + 1
    for (const oldest of this.#commits.keys()) {
      if (this.#changes <= HANDED_CHANGES_MAX && oldest > sequence - this.#logEntriesMax) return
      this.take(oldest)
    }
  }

  /** Removes and returns the commit with this sequence. */
  take(sequence: number): HandedCommit | undefined {
    const commit = this.#commits.get(sequence)
    if (this.#commits.delete(sequence)) this.#changes -= commit!.changes.length + 1
    return commit
  }
}

type HandedCommit = Pick<LogEntry, 'id' | 'changes'>

export interface LogReaderOptions {
  readonly log: CommitLog
  readonly durable: DurableMark
  readonly epoch: string
  /** Commits whose changes need not be read from the log. */
  readonly handed?: HandedCommits
  /**
   * Sequence of the newest commit that readers of the view might have seen. The commit might not be durable
   * yet.
   */
  readonly head: () => number
  /**
   * Whether the reader is for a replay. Such a reader reads few bytes at a time, and decodes an entry only
   * when the content of the entry is read.
   */
  readonly isReplay?: boolean
}

/**
 * Limits of one read of a replay: the number of entries, and the size of the entries except the first one.
 * They are low, because there can be many readers and each holds its entries in memory.
 */
const REPLAYED_AT_ONCE = 16
const REPLAYED_BYTES_MAX = 65_536

/** Reads a log in tables for one feed, which began in the epoch `epoch`. */
export function logReader(
  { log, durable, epoch, handed, head, isReplay = false }: LogReaderOptions,
  startEpoch: string,
): LogReader {
  return after => {
    if (startEpoch !== epoch || after > head()) throw feedFailure('STORE_RESET', startEpoch, after)
    if (after >= durable.sequence) return []
    const next = { epoch, sequence: after + 1 }
    const commit = handed?.take(next.sequence)
    if (commit) return [entryOf(commit, next, log)]
    const batch = isReplay
      ? log.read(after + 1, Math.min(durable.sequence, after + REPLAYED_AT_ONCE), REPLAYED_BYTES_MAX)
      : log.read(after + 1, durable.sequence)
    if (batch[0]?.sequence !== after + 1) throw feedFailure('REVISION_TOO_OLD', startEpoch, after)
    const decode = isReplay ? laterDecoded : decodeEntry
    return batch.map(({ sequence, bytes }) => decode({ epoch, sequence }, bytes))
  }
}

/** Entry of a kept commit. Its rows are read from the log only when they are accessed. */
function entryOf({ id, changes }: HandedCommit, revision: Revision, log: CommitLog): LogEntry {
  let decoded: LogEntry | null = null
  const whole = (): LogEntry => {
    const { epoch, sequence } = revision
    const [logged] = log.read(sequence, sequence)
    if (!logged) throw feedFailure('REVISION_TOO_OLD', epoch, sequence)
    return (decoded ??= decodeEntry(revision, logged.bytes))
  }
  return {
    revision,
    id,
    changes,
    get delete() {
      return whole().delete
    },
    get put() {
      return whole().put
    },
  }
}

/** Creates the error for one of the two reasons for which a feed cannot continue from its position. */
export function feedFailure(
  code: 'STORE_RESET' | 'REVISION_TOO_OLD',
  epoch: string,
  sequence: number,
): AuthzError {
  const what =
    code === 'STORE_RESET'
      ? 'belongs to an epoch of the store that was replaced'
      : 'is older than the oldest entry of the log'
  return new AuthzError(code, `revision ${formatRevision({ epoch, sequence })} ${what}; load all rows again`)
}

export interface LogFeedOptions {
  readonly read: LogReader
  readonly durable: DurableMark
  readonly after: Revision
}

/**
 * The feed documented at `Ledger.feed`. It is a hand-written iterator, because `return` of a generator waits
 * for the pending `next`, which might never resolve. Overlapping calls of `next` are answered in order.
 */
export class LogFeed implements AsyncIterableIterator<LogEntry> {
  readonly #options: LogFeedOptions
  #position: number
  #batch: LogEntry[] = []
  #isEnded = false
  #wake: (() => void) | null = null
  #turn: Promise<unknown> = Promise.resolve()

  constructor(options: LogFeedOptions) {
    this.#options = options
    this.#position = options.after.sequence
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<LogEntry, undefined>> {
    const result = this.#turn.then(() => this.#take())
    this.#turn = result.catch(() => undefined)
    return result
  }

  async return(): Promise<IteratorResult<LogEntry, undefined>> {
    this.#isEnded = true
    this.#wake?.()
    return { done: true, value: undefined }
  }

  async #take(): Promise<IteratorResult<LogEntry, undefined>> {
    const { durable } = this.#options
    while (!this.#isEnded && !durable.isClosed) {
      const entry = this.#batch.shift()
      if (entry) {
        this.#position = entry.revision.sequence
        return { done: false, value: entry }
      }
      const { turns } = durable
      await this.#read()
      if (this.#batch.length === 0) await this.#moved(turns)
    }
    const isFirstEnd = !this.#isEnded
    this.#isEnded = true
    if (isFirstEnd && durable.endReason !== null) throw durable.endReason
    return { done: true, value: undefined }
  }

  async #read(): Promise<void> {
    try {
      this.#batch = [...(await this.#options.read(this.#position))]
    } catch (error) {
      this.#isEnded = true
      throw error
    }
  }

  /**
   * Resolves when there might be more to read than when `turns` was read from the mark, or when the feed has
   * ended.
   */
  async #moved(turns: number): Promise<void> {
    const { durable } = this.#options
    if (this.#isEnded || durable.turns !== turns) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    durable.notify(resolve)
    await promise
    durable.forget(resolve)
    this.#wake = null
  }
}
