/**
 * One consumer's way through the log: everything it gets it reads from the log at its own position, the old entries
 * and the newest alike. So there is no seam between catching up and going live at which an entry could be lost or
 * come twice, and a slow consumer costs no memory: one the log is trimmed away from hears `REVISION_TOO_OLD`.
 *
 * `DurableMark` tells consumers how far they may read and wakes them when that moves; nobody polls.
 */
import { AuthzError } from '#model/errors.ts'
import { formatRevision, type Revision } from '#model/revision.ts'
import type { CommitLog, LoggedEntry } from './commit-log.ts'
import { decodeEntry } from './entry-codec.ts'
import type { Entry } from './ledger.ts'

/** How far the history is on disk, and who waits for it to go on. */
export class DurableMark {
  #sequence: number
  #isClosed = false
  readonly #waiting = new Set<() => void>()

  constructor(sequence: number) {
    this.#sequence = sequence
  }

  /** Sequence of the newest durable commit. */
  get sequence(): number {
    return this.#sequence
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Commits may report in any order: a durable one implies all before it. */
  advance(sequence: number): void {
    if (sequence <= this.#sequence) return
    this.#sequence = sequence
    this.#wakeAll()
  }

  close(): void {
    this.#isClosed = true
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
    const woken = [...this.#waiting]
    this.#waiting.clear()
    for (const wake of woken) wake()
  }
}

export interface LogFeedOptions {
  readonly log: CommitLog
  readonly durable: DurableMark
  readonly epoch: string
  /** Sequence of the newest commit that readers of the view may have met; it may not be durable yet. */
  readonly head: () => number
  readonly after: Revision
}

/**
 * The feed `Ledger.feed` documents. A hand-written iterator, because a generator's `return` waits for the pending
 * `next`, which may never come. Overlapping calls of `next` are answered in order.
 */
export class LogFeed implements AsyncIterableIterator<Entry> {
  readonly #options: LogFeedOptions
  #position: number
  #batch: LoggedEntry[] = []
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
    const { durable, epoch } = this.#options
    while (!this.#isEnded && !durable.isClosed) {
      const entry = this.#batch.shift()
      if (entry) {
        this.#position = entry.sequence
        return { done: false, value: decodeEntry({ epoch, sequence: entry.sequence }, entry.bytes) }
      }
      this.#batch = this.#read()
      if (this.#batch.length === 0) await this.#moved()
    }
    this.#isEnded = true
    return { done: true, value: undefined }
  }

  /** The next entries behind the position; none when the consumer has caught up. Throws what ends a feed. */
  #read(): LoggedEntry[] {
    const { log, durable, epoch, head, after } = this.#options
    if (after.epoch !== epoch || this.#position > head()) {
      throw this.#failure('STORE_RESET', 'is not part of the history in this store, which was replaced')
    }
    if (this.#position >= durable.sequence) return []
    const batch = log.read(this.#position + 1, durable.sequence)
    if (batch[0]?.sequence !== this.#position + 1) {
      throw this.#failure('REVISION_TOO_OLD', 'is further back than the log reaches')
    }
    return batch
  }

  #failure(code: 'STORE_RESET' | 'REVISION_TOO_OLD', what: string): AuthzError {
    this.#isEnded = true
    const position = formatRevision({ epoch: this.#options.after.epoch, sequence: this.#position })
    return new AuthzError(code, `revision ${position} ${what}; load all rows again`)
  }

  /** Resolves when there may be more to read, or nothing ever again. */
  async #moved(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    this.#options.durable.notify(resolve)
    await promise
    this.#options.durable.forget(resolve)
    this.#wake = null
  }
}
