/**
 * Removes expired facts from one index, on the thread that writes the index. An expired fact leaves the index
 * before its removal is reported, so decisions do not wait for the store, which removes the rows later.
 *
 * This thread can be late if it is busy or if the whole process was paused. Therefore the threads that make
 * decisions have a deadline, shortly after the next expiration time. When the deadline has passed, they wait
 * for this thread (`engine-readers.ts`).
 */
import type { Change } from '#model/change.ts'
import { StalenessDeadline, type DeadlineHandle } from './staleness-deadline.ts'

/** The part of the index writer that this module uses. See `SharedIndexWriter`. */
export interface ExpiringIndex {
  expireDue(now: number, limit: number): Change[]
  readonly wakeAt: number
  readonly expiresFrom: number
}

/** Facts removed in one critical section: half a millisecond. */
const EXPIRED_AT_ONCE = 128
/**
 * Number of critical sections per event-loop iteration. One section would be too few: an iteration can take
 * many milliseconds when thousands of facts expire together, because the removal of their rows then starts.
 */
const SECTIONS_AT_ONCE = 8
/**
 * Time from an expiration time to its deadline. An expired grant must allow nothing after 50 ms, and the
 * decision itself takes some time.
 */
const GRACE_MS = 30
/**
 * Maximum interval between two reads of the clock while any fact can expire, because the clock can be set.
 */
const LOOK_MS_MAX = 1_000
const DEADLINE_MS_MAX = 3_600_000

export interface ExpiringFactsOptions {
  readonly index: ExpiringIndex
  /** A clock of this thread, in which deadlines are expressed. */
  readonly clock: StalenessDeadline
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Receives the removals that the store has not applied yet. */
  readonly onExpired: (removals: readonly Change[]) => void
  readonly onFault: (error: unknown) => void
}

export class ExpiringFacts {
  readonly #options: ExpiringFactsOptions
  readonly #deadline: StalenessDeadline
  #timer: NodeJS.Timeout | undefined
  #pending: NodeJS.Immediate | undefined
  #isOver = false
  /** The fault that stopped the removal; null if there was none. */
  #fault: Error | null = null

  constructor(options: ExpiringFactsOptions) {
    this.#options = options
    this.#deadline = options.clock.another()
  }

  /** Deadline for threads that make decisions on the index. */
  get deadline(): DeadlineHandle {
    return this.#deadline.handle
  }

  /**
   * Removes all facts that have expired by now, before the index is used for decisions. Throws if that fails;
   * the index must then not be used.
   */
  async catchUp(): Promise<void> {
    while (!this.look()) await new Promise(resolve => setImmediate(resolve))
    if (this.#fault !== null) throw this.#fault
  }

  /**
   * Removes some of the expired facts, and schedules the next call. Must be called after each commit. Returns
   * true if the index contains no more expired facts.
   */
  look(): boolean {
    if (this.#isOver) return true
    try {
      for (let section = 1; !this.#endSome(); section++) if (section === SECTIONS_AT_ONCE) return false
      return true
    } catch (error) {
      this.stop()
      this.#fault = error instanceof Error ? error : new Error(String(error))
      this.#options.onFault(error)
      return true
    }
  }

  /** Runs one critical section. Returns whether no expired facts remain. */
  #endSome(): boolean {
    const { index, now, onExpired } = this.#options
    // Read before the clock: if the process is paused in between, expiration times are taken to be earlier
    // and not later.
    const startedAt = performance.now()
    const at = now()
    const removals = index.expireDue(at, EXPIRED_AT_ONCE)
    const isDone = index.wakeAt > at
    const nowAt = at + performance.now() - startedAt
    this.#deadline.set(this.#deadlineIn(index.expiresFrom - nowAt))
    this.#plan(index.wakeAt - nowAt)
    if (removals.length > 0) onExpired(removals)
    return isDone
  }

  /** Called when the index is no longer used. */
  stop(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    clearImmediate(this.#pending)
  }

  #deadlineIn(endsInMs: number): number {
    return endsInMs === Infinity ? Infinity : Math.min(endsInMs + GRACE_MS, DEADLINE_MS_MAX)
  }

  #plan(wakeInMs: number): void {
    clearTimeout(this.#timer)
    clearImmediate(this.#pending)
    if (this.#isOver || wakeInMs === Infinity) return
    const look = (): void => void this.look()
    if (wakeInMs <= 0) {
      this.#pending = setImmediate(look)
      return
    }
    this.#timer = setTimeout(look, Math.min(Math.ceil(wakeInMs), LOOK_MS_MAX))
    this.#timer.unref()
  }
}
