/**
 * Measures the delay of a thread's event loop ten times per second, its longest pause, and the size of its
 * heap once per second.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import { PAUSING } from './thread-metrics.ts'
import type { ThreadCounters } from './thread-counters.ts'

const EVERY_MS = 100
const BEATS_PER_HEAP_READING = 10
const BEATS_PER_WINDOW = 100
/** Interval of the native timer that measures pauses. Shorter pauses can be missed. */
const RESOLUTION_MS = 10

/** Longest pauses of a thread, and of the threads that work for it, in two consecutive windows of 10 s. */
export class LongestPauses {
  readonly #counters: ThreadCounters
  readonly #windows = PAUSING.map(() => ({ before: 0, now: 0 }))

  constructor(counters: ThreadCounters) {
    this.#counters = counters
  }

  note(of: (typeof PAUSING)[number], ms: number): void {
    const place = PAUSING.indexOf(of)
    const window = this.#windows[place]!
    window.now = Math.max(window.now, ms)
    this.#counters.set('longestPauseSeconds', Math.max(window.before, window.now) / 1_000, place)
  }

  beginWindow(): void {
    for (const window of this.#windows) {
      window.before = window.now
      window.now = 0
    }
  }
}

export class LoopMeter {
  readonly #counters: ThreadCounters
  readonly #pauses: LongestPauses
  readonly #delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  readonly #timer: NodeJS.Timeout
  #due = performance.now() + EVERY_MS
  #beats = 0
  readonly #onBeat: (pauses: LongestPauses) => void

  /**
   * Measures until `close` is called. Does not keep the thread alive. `onBeat` is called at each measurement
   * of the delay.
   */
  constructor(counters: ThreadCounters, onBeat: (pauses: LongestPauses) => void = () => {}) {
    this.#counters = counters
    this.#pauses = new LongestPauses(counters)
    this.#onBeat = onBeat
    this.#delay.enable()
    this.#readHeap()
    this.#timer = setInterval(() => this.#beat(), EVERY_MS).unref()
  }

  close(): void {
    this.#delay.disable()
    clearInterval(this.#timer)
  }

  #beat(): void {
    const now = performance.now()
    this.#counters.observe('loopDelaySeconds', Math.max(0, now - this.#due) / 1_000)
    this.#due = now + EVERY_MS
    this.#beats += 1
    if (this.#beats % BEATS_PER_WINDOW === 0) this.#pauses.beginWindow()
    this.#pauses.note('own', Math.max(0, this.#delay.max / 1_000_000 - RESOLUTION_MS))
    this.#delay.reset()
    this.#onBeat(this.#pauses)
    if (this.#beats % BEATS_PER_HEAP_READING === 0) this.#readHeap()
  }

  #readHeap(): void {
    this.#counters.set('heapBytes', getHeapStatistics().used_heap_size)
  }
}
