/**
 * One consumer's way through the log: everything it gets it reads from the log at its own position, the old entries
 * and the newest alike. So there is no seam between catching up and going live at which an entry could be lost or
 * come twice, and a slow consumer costs no memory: one the log is trimmed away from hears `REVISION_TOO_OLD`.
 *
 * `DurableMark` tells consumers how far they may read and wakes them when that moves; nobody polls.
 */
import { AuthzError } from '#model/errors.ts'
import { formatRevision, type Revision } from '#model/revision.ts'
import type { Entry } from '#store/ledger.ts'
import type { CommitLog } from './commit-log.ts'
import { decodeEntry } from './entry-codec.ts'

/**
 * How far a history is readable, and who waits for it to go on. What woke them need not be an entry: whoever is woken looks
 * again, and may find nothing.
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

  /** Why it was closed; null: in the ordinary way, or not yet. */
  get endReason(): AuthzError | null {
    return this.#end?.reason ?? null
  }

  /** Grows whenever those who wait are woken: whoever looked before and after knows whether there was a moment between. */
  get turns(): number {
    return this.#turns
  }

  /** Commits may report in any order: a durable one implies all before it. */
  advance(sequence: number): void {
    if (sequence <= this.#sequence) return
    this.#sequence = sequence
    this.#wakeAll()
  }

  /** Makes everyone look again. */
  nudge(): void {
    this.#wakeAll()
  }

  /** With a reason, whoever reads on hears that; without one they come to a normal end. */
  close(reason: AuthzError | null = null): void {
    this.#end ??= { reason }
    this.#wakeAll()
  }

  /** Calls `wake` once, when the mark has moved or is closed. */
  notify(wake: () => void): void {
    this.#waiting.add(wake)
  }

  /** Takes a `notify` back. */
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
 * The entries behind `after`, as many as one piece holds; none when there are no more just now. Throws what ends a feed.
 */
export type LogReader = (after: number) => readonly Entry[] | Promise<readonly Entry[]>

/** Of so many of the newest large commits; who follows reads each soon after it was made. */
const HANDED_MAX = 4

/**
 * What large commits mean to the engine, as who made them had it: so that it need not be read from the log again, which would keep
 * the thread. Whoever follows from further back reads the log, which says the same.
 */
export class HandedCommits {
  readonly #durable: DurableMark
  readonly #commits = new Map<number, HandedCommit>()

  /** `durable`: of their history. */
  constructor(durable: DurableMark) {
    this.#durable = durable
  }

  /** Before the mark moves there. One that it has passed, with a later commit, was read from the log: it would be kept for nobody. */
  add(sequence: number, { id, changes }: HandedCommit): void {
    if (sequence <= this.#durable.sequence) return
    this.#commits.set(sequence, { id, changes })
    for (const oldest of this.#commits.keys()) {
      if (this.#commits.size <= HANDED_MAX) return
      this.#commits.delete(oldest)
    }
  }

  /** That commit, once. */
  take(sequence: number): HandedCommit | undefined {
    const commit = this.#commits.get(sequence)
    this.#commits.delete(sequence)
    return commit
  }
}

type HandedCommit = Pick<Entry, 'id' | 'changes'>

export interface LogReaderOptions {
  readonly log: CommitLog
  readonly durable: DurableMark
  readonly epoch: string
  /** Where all of a commit is not to be read again. */
  readonly handed?: HandedCommits
  /** Sequence of the newest commit that readers of the view may have met; it may not be durable yet. */
  readonly head: () => number
}

/** Reads a log in tables for one feed, which began in the history `epoch`. */
export function logReader(
  { log, durable, epoch, handed, head }: LogReaderOptions,
  startEpoch: string,
): LogReader {
  return after => {
    if (startEpoch !== epoch || after > head()) throw feedFailure('STORE_RESET', startEpoch, after)
    if (after >= durable.sequence) return []
    const next = { epoch, sequence: after + 1 }
    const commit = handed?.take(next.sequence)
    if (commit) return [entryOf(commit, next, log)]
    const batch = log.read(after + 1, durable.sequence)
    if (batch[0]?.sequence !== after + 1) throw feedFailure('REVISION_TOO_OLD', startEpoch, after)
    return batch.map(({ sequence, bytes }) => decodeEntry({ epoch, sequence }, bytes))
  }
}

/** Its rows are read from the log when somebody asks for them, as the log has them by then. */
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

/** The two ways in which a feed cannot go on from where it is. */
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
 * The feed `Ledger.feed` documents. A hand-written iterator, because a generator's `return` waits for the pending
 * `next`, which may never come. Overlapping calls of `next` are answered in order.
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

  /** Resolves when there may be more to read than there was at that turn, or nothing ever again. */
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
