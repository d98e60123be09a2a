/**
 * The time until which threads may decide by what they know: a shared cell that the main thread moves on while it hears from the
 * store. Each thread compares it with the clock by itself. So the bound on staleness holds also when nobody can announce its
 * end: the main thread is busy, or the whole process was stopped for a while and answers first.
 *
 * Each environment has a deadline, so that one that cannot be followed does not end the decisions of others. The node has one,
 * too. No environment's deadline is later than the node's.
 */
// Imported, since the global of that name is looked up anew at each use, and every decision would pay for that.
import { performance } from 'node:perf_hooks'

/** What the main thread hands to the threads. */
export interface DeadlineHandle {
  /** Whether there is a deadline, and the deadline: milliseconds of the clock that all threads share, modulo 2³². */
  readonly cells: Int32Array
}

const IS_SET = 0
const UNTIL = 1
/** Further in the past than the clocks of two threads can differ. */
const LONG_AGO_MS = -60_000
/** A thread that is stopped in the middle of a comparison gets that comparison wrong. It is hardly stopped in all of them. */
const COMPARISONS = 8

export class StalenessDeadline {
  readonly handle: DeadlineHandle
  /** To be added to this thread's `performance.now()`, which is cheap, to get the clock that all threads share. */
  readonly #offsetMs: number

  constructor(handle = createDeadline(), offsetMs = clockOffsetMs()) {
    this.handle = handle
    this.#offsetMs = offsetMs
  }

  /** Another deadline of this thread, by the same clock. */
  another(handle = createDeadline()): StalenessDeadline {
    return new StalenessDeadline(handle, this.#offsetMs)
  }

  /**
   * Called by the main thread: decisions may be made for this long from now on, a day at most. `Infinity`: nothing can be
   * missed. 0: no decisions at all.
   */
  set(forMs: number): void {
    const { cells } = this.handle
    if (forMs === Infinity) Atomics.store(cells, IS_SET, 0)
    else this.#setUntil(forMs)
    Atomics.notify(cells, UNTIL)
  }

  #setUntil(forMs: number): void {
    // Relaxed order would do: nothing else is published with these cells. The clocks of threads differ a little: a deadline
    // that is over lies far enough in the past for all of them.
    Atomics.store(this.handle.cells, UNTIL, this.#now() + (forMs > 0 ? forMs : LONG_AGO_MS))
    Atomics.store(this.handle.cells, IS_SET, 1)
  }

  get isOver(): boolean {
    const { cells } = this.handle
    // Read without `Atomics` first, since an atomic read is a call and most nodes have no deadline.
    if (cells[IS_SET] === 0 || Atomics.load(cells, IS_SET) === 0) return false
    // The difference of two numbers that have wrapped around. It is right as long as it is less than 24 days.
    return ((Atomics.load(cells, UNTIL) - this.#now()) | 0) <= 0
  }

  /** Waits until it is moved on, this long at most, and keeps the thread from everything else. Returns whether it is still over. */
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

/** A deadline that never ends, until it is set. */
export function createDeadline(): DeadlineHandle {
  return { cells: new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)) }
}

/** The difference of the shared clock and this thread's, from the comparison in which the two were read closest together. */
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
