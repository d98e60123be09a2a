/**
 * Deadline until which threads can make decisions on their current data: a shared cell that the main thread
 * advances while it receives data from the store. Each thread compares it with the clock itself. Therefore
 * the limit of staleness also holds if the main thread cannot announce it, because it is busy or because the
 * whole process was paused and then serves requests first.
 *
 * Each environment has a deadline, so that an environment that cannot be followed does not end the decisions
 * of others. The node also has one. No deadline of an environment is later than that of the node.
 */
// Imported, because the global of that name is resolved at each use, which would slow down every decision.
import { performance } from 'node:perf_hooks'

/** Form in which the main thread sends a deadline to other threads. */
export interface DeadlineHandle {
  /**
   * Whether a deadline is set, and the deadline: milliseconds of the clock that all threads share, modulo
   * 2³².
   */
  readonly cells: Int32Array
}

const IS_SET = 0
const UNTIL = 1
/** Further in the past than the maximum difference between the clocks of two threads. */
const LONG_AGO_MS = -60_000
/**
 * Number of comparisons of the two clocks. A comparison is wrong if the thread is interrupted during it.
 * It is unlikely that all comparisons are interrupted.
 */
const COMPARISONS = 8

export class StalenessDeadline {
  readonly handle: DeadlineHandle
  /**
   * Offset from this thread's `performance.now()`, which is cheap to read, to the clock that all threads
   * share.
   */
  readonly #offsetMs: number

  constructor(handle = createDeadline(), offsetMs = clockOffsetMs()) {
    this.handle = handle
    this.#offsetMs = offsetMs
  }

  /** Creates another deadline of this thread with the same clock. */
  another(handle = createDeadline()): StalenessDeadline {
    return new StalenessDeadline(handle, this.#offsetMs)
  }

  /**
   * Sets the deadline; called by the main thread. Decisions can be made for `forMs` from now on, at most for
   * a day. `Infinity` means that no changes can be missed, and 0 means that no decisions are allowed.
   */
  set(forMs: number): void {
    const { cells } = this.handle
    if (forMs === Infinity) Atomics.store(cells, IS_SET, 0)
    else this.#setUntil(forMs)
    Atomics.notify(cells, UNTIL)
  }

  #setUntil(forMs: number): void {
    // Relaxed order would be sufficient, because no other data is published with these cells. The clocks of
    // threads differ slightly: a deadline that has passed must be far enough in the past for all threads.
    Atomics.store(this.handle.cells, UNTIL, this.#now() + (forMs > 0 ? forMs : LONG_AGO_MS))
    Atomics.store(this.handle.cells, IS_SET, 1)
  }

  get isOver(): boolean {
    const { cells } = this.handle
    // First read without `Atomics`, because an atomic read is a call and most nodes have no deadline.
    if (cells[IS_SET] === 0 || Atomics.load(cells, IS_SET) === 0) return false
    // Difference of two numbers that wrap around. It is correct if it is less than 24 days.
    return ((Atomics.load(cells, UNTIL) - this.#now()) | 0) <= 0
  }

  /**
   * Blocks this thread until the deadline is advanced, for at most `forMs`. Returns whether the deadline is
   * still over.
   */
  waitWhileOver(forMs: number): boolean {
    const until = performance.now() + forMs
    for (let leftMs = forMs; leftMs > 0 && this.isOver; leftMs = until - performance.now()) {
      const { cells } = this.handle
      Atomics.wait(cells, UNTIL, Atomics.load(cells, UNTIL), leftMs)
    }
    return this.isOver
  }

  #now(): number {
    return (performance.now() + this.#offsetMs) | 0
  }
}

/** Creates a deadline that does not end until it is set. */
export function createDeadline(): DeadlineHandle {
  return { cells: new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)) }
}

/**
 * Difference between the shared clock and this thread's clock, from the comparison in which both were read
 * closest together.
 */
function clockOffsetMs(): number {
  let closest = { tookMs: Infinity, offsetMs: 0 }
  for (let comparison = 0; comparison < COMPARISONS; comparison += 1) {
    const before = performance.now()
    const shared = Number(process.hrtime.bigint()) / 1e6
    const tookMs = performance.now() - before
    if (tookMs < closest.tookMs) closest = { tookMs, offsetMs: shared - before }
  }
  return closest.offsetMs
}
