/**
 * Measures the delay of a thread's event loop ten times per second, and the size of its heap once per second.
 */
import { getHeapStatistics } from 'node:v8'
import type { ThreadCounters } from './thread-counters.ts'

const EVERY_MS = 100
const BEATS_PER_HEAP_READING = 10

export class LoopMeter {
  readonly #counters: ThreadCounters
  readonly #timer: NodeJS.Timeout
  #due = performance.now() + EVERY_MS
  #beats = 0
  readonly #onBeat: () => void

  /**
   * Measures until `close` is called. Does not keep the thread alive. `onBeat` is called at each measurement
   * of the delay.
   */
  constructor(counters: ThreadCounters, onBeat: () => void = () => {}) {
    this.#counters = counters
    this.#onBeat = onBeat
    this.#readHeap()
    this.#timer = setInterval(() => this.#beat(), EVERY_MS).unref()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #beat(): void {
    const now = performance.now()
    this.#counters.observe('loopDelaySeconds', Math.max(0, now - this.#due) / 1_000)
    this.#due = now + EVERY_MS
    this.#beats += 1
    this.#onBeat()
    if (this.#beats % BEATS_PER_HEAP_READING === 0) this.#readHeap()
  }

  #readHeap(): void {
    this.#counters.set('heapBytes', getHeapStatistics().used_heap_size)
  }
}
