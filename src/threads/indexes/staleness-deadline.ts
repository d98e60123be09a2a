/**
 * Until when the threads may decide by what they know: a shared cell, which main moves on while it hears from the store, and
 * which each thread goes by alone. There is one an environment, so that one that cannot be followed ends no other's decisions, and one
 * of the node, which none of those is behind. So the bound holds, too, where nobody has the time to say that it is over: main is
 * busy, or the whole process was stopped for a while and the first thing it does is to answer.
 */
// The global of that name is looked up anew each time, which every decision would pay for.
import { performance } from 'node:perf_hooks'

/** What goes from main to the threads. */
export interface DeadlineHandle {
  /** Whether there is a deadline, and the deadline: milliseconds of the clock that all threads share, modulo 2³². */
  readonly cells: Int32Array
}

const IS_SET = 0
const UNTIL = 1
/** Further back than the clocks of two threads can differ. */
const LONG_AGO_MS = -60_000
/** A thread that is stopped in the middle of a comparison of its clocks gets that one wrong, and hardly all of them. */
const COMPARISONS = 8

export class StalenessDeadline {
  readonly handle: DeadlineHandle
  /** From this thread's `performance.now()`, which is cheap to ask, to the clock that all share. */
  readonly #offsetMs: number

  constructor(handle = createDeadline(), offsetMs = clockOffsetMs()) {
    this.handle = handle
    this.#offsetMs = offsetMs
  }

  /** Another one of this thread, by the same clock. */
  another(handle = createDeadline()): StalenessDeadline {
    return new StalenessDeadline(handle, this.#offsetMs)
  }

  /**
   * Main: decisions may be made for so long from now on, a day at most; infinite where nothing can be missed, 0 for not
   * at all.
   */
  set(forMs: number): void {
    if (forMs === Infinity) {
      Atomics.store(this.handle.cells, IS_SET, 0)
      return
    }
    // Relaxed would do: nothing else is published with them.
    // Clocks of threads are not quite the same: what is over is so by any of them.
    Atomics.store(this.handle.cells, UNTIL, this.#now() + (forMs > 0 ? forMs : LONG_AGO_MS))
    Atomics.store(this.handle.cells, IS_SET, 1)
  }

  get isOver(): boolean {
    const { cells } = this.handle
    // First as any word is read, since to read it atomically is a call, and most nodes have no deadline.
    if (cells[IS_SET] === 0 || Atomics.load(cells, IS_SET) === 0) return false
    // The difference of two numbers that have wrapped, right as long as it is less than 24 days.
    return ((Atomics.load(cells, UNTIL) - this.#now()) | 0) <= 0
  }

  #now(): number {
    return (performance.now() + this.#offsetMs) | 0
  }
}

/** None, until it is set. */
export function createDeadline(): DeadlineHandle {
  return { cells: new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)) }
}

/** Of the shared clock from this thread's: as the two stood when they were read closest to each other. */
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
