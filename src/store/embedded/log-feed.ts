/**
 * The feed of one consumer. It reads every entry from the log at its own position, old entries and new ones alike. So there
 * is no seam between catching up and going live at which an entry could be lost or come twice. A slow consumer costs no
 * memory: when the log is trimmed away from its position it gets `REVISION_TOO_OLD`.
 *
 * `DurableMark` tells consumers how far they may read and wakes them when that changes. Nobody polls.
 */
import { AuthzError } from '#model/errors.ts'
import { formatRevision, type Revision } from '#model/revision.ts'
import type { Entry } from '#store/ledger.ts'
import type { CommitLog } from './commit-log.ts'
import { decodeEntry, laterDecoded } from './entry-codec.ts'

/**
 * How far a history is readable, and the consumers that wait for more. A consumer may be woken for another reason than an
 * entry: it looks again, and may find nothing.
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

  /** The reason for which it was closed; null: it was closed in the ordinary way, or is open. */
  get endReason(): AuthzError | null {
    return this.#end?.reason ?? null
  }

  /**
   * Grows whenever waiting consumers are woken. A consumer that compares two values knows whether it could have missed a
   * wake.
   */
  get turns(): number {
    return this.#turns
  }

  /** Commits may report in any order: a durable one implies all before it. */
  advance(sequence: number): void {
    if (sequence <= this.#sequence) return
    this.#sequence = sequence
    this.#wakeAll()
  }

  /** Makes every consumer look again. */
  nudge(): void {
    this.#wakeAll()
  }

  /** With a reason, consumers that read on get that error. Without one their feeds end normally. */
  close(reason: AuthzError | null = null): void {
    this.#end ??= { reason }
    this.#wakeAll()
  }

  /** Calls `wake` once, when the mark has moved or is closed. */
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
 * Reads the entries after `after`, as many as one piece holds; none when there are no more at the moment. Throws what ends
 * a feed.
 */
export type LogReader = (after: number) => readonly Entry[] | Promise<readonly Entry[]>

/** How many changes the newest commits that are held may have together. A consumer reads each soon after it was made. */
const HANDED_CHANGES_MAX = 40_000

/**
 * The changes of the newest commits, as their maker had them. A consumer need not read them from the log, which would keep the
 * thread. A consumer that is further behind reads the log, which says the same.
 */
export class HandedCommits {
  readonly #durable: DurableMark
  readonly #logEntriesMax: number
  readonly #commits = new Map<number, HandedCommit>()
  /** The changes of all held commits together, and one more for each. */
  #changes = 0

  /** `durable` is the mark of the same history, whose log keeps so many entries: no more are held. */
  constructor(durable: DurableMark, logEntriesMax: number) {
    this.#durable = durable
    this.#logEntriesMax = logEntriesMax
  }

  /**
   * Called before the mark moves to `sequence`. If the mark has passed it with a later commit, it has been read from the
   * log and nobody would take it from here.
   */
  add(sequence: number, { id, changes }: HandedCommit): void {
    // A commit that was taken back by its tables may have had the same sequence.
    this.take(sequence)
    if (sequence <= this.#durable.sequence) return
    this.#commits.set(sequence, { id, changes })
    this.#changes += changes.length + 1
    for (const oldest of this.#commits.keys()) {
      if (this.#changes <= HANDED_CHANGES_MAX && oldest > sequence - this.#logEntriesMax) return
      this.take(oldest)
    }
  }

  /** Removes and returns that commit. */
  take(sequence: number): HandedCommit | undefined {
    const commit = this.#commits.get(sequence)
    if (this.#commits.delete(sequence)) this.#changes -= commit!.changes.length + 1
    return commit
  }
}

type HandedCommit = Pick<Entry, 'id' | 'changes'>

export interface LogReaderOptions {
  readonly log: CommitLog
  readonly durable: DurableMark
  readonly epoch: string
  /** Commits whose changes need not be read from the log. */
  readonly handed?: HandedCommits
  /** The sequence of the newest commit that readers of the view may have seen. It may not be durable yet. */
  readonly head: () => number
  /** Whether it is for a replay: it reads few bytes at a time, and decodes an entry when its content is read. */
  readonly isReplay?: boolean
}

/** Entries that a replay reads at once, and bytes of them beyond the first: each of many readers may keep as much. */
const REPLAYED_AT_ONCE = 16
const REPLAYED_BYTES_MAX = 65_536

/** Reads a log in tables for one feed, which began in the history `epoch`. */
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

/** The entry of a handed commit. Its rows are read from the log when somebody asks for them. */
function entryOf({ id, changes }: HandedCommit, revision: Revision, log: CommitLog): Entry {
  let decoded: Entry | null = null
  const whole = (): Entry => {
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

/** The two reasons for which a feed cannot go on from its position. */
export function feedFailure(
  code: 'STORE_RESET' | 'REVISION_TOO_OLD',
  epoch: string,
  sequence: number,
): AuthzError {
  const what =
    code === 'STORE_RESET'
      ? 'is not part of the history in this store, which was replaced'
      : 'is further back than the log reaches'
  return new AuthzError(code, `revision ${formatRevision({ epoch, sequence })} ${what}; load all rows again`)
}

export interface LogFeedOptions {
  readonly read: LogReader
  readonly durable: DurableMark
  readonly after: Revision
}

/**
 * The feed that `Ledger.feed` documents. It is a hand-written iterator, because a generator's `return` waits for the
 * pending `next`, which may never come. Overlapping calls of `next` are answered in order.
 */
export class LogFeed implements AsyncIterableIterator<Entry> {
  readonly #options: LogFeedOptions
  #position: number
  #batch: Entry[] = []
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

  next(): Promise<IteratorResult<Entry, undefined>> {
    const result = this.#turn.then(() => this.#take())
    this.#turn = result.catch(() => undefined)
    return result
  }

  async return(): Promise<IteratorResult<Entry, undefined>> {
    this.#isEnded = true
    this.#wake?.()
    return { done: true, value: undefined }
  }

  async #take(): Promise<IteratorResult<Entry, undefined>> {
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

  /** Resolves when there may be more to read than at that turn, or when the feed has ended. */
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
