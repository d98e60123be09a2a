/** Measures how late a thread's event loop is, and how large its heap, ten times a second. */
import { getHeapStatistics } from 'node:v8'
import type { ThreadCounters } from './thread-counters.ts'

const EVERY_MS = 100
const BEATS_PER_HEAP_READING = 10

export class LoopMeter {
  readonly #counters: ThreadCounters
  readonly #timer: NodeJS.Timeout
  #due = performance.now() + EVERY_MS
  #beats = 0

  /** Runs until it is closed; does not keep a thread alive. */
  constructor(counters: ThreadCounters) {
    this.#counters = counters
    this.#readHeap()
    this.#timer = setInterval(() => this.#beat(), EVERY_MS).unref()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #beat(): void {
    const now = performance.now()
    this.#counters.loopDelayed(Math.max(0, now - this.#due))
    this.#due = now + EVERY_MS
    this.#beats += 1
    if (this.#beats % BEATS_PER_HEAP_READING === 0) this.#readHeap()
  }

  #readHeap(): void {
    this.#counters.heapUsed(getHeapStatistics().used_heap_size)
  }
}
