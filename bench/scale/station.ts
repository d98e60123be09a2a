/**
 * A station: one server with a queue, first come first served. It represents an HTTP thread, the thread of
 * Redis, or a thread that applies the log. It can sleep when it is idle and then takes time to wake. It can
 * be stopped, which delays the current job.
 */
import type { Clock, Happening } from './clock.ts'

export interface Job {
  /** Seconds that the job occupies the station; called when its turn comes. */
  work(): number
  done(): void
}

export class Station implements Happening {
  readonly #clock: Clock
  readonly #wakeSeconds: number
  #line: Job[] = []
  #next = 0
  /** The current job; null if the station sleeps, wakes or is stopped. */
  #serving: Job | null = null
  #isAwake = false
  /** Time by which stops have delayed the current job. */
  #putOff = 0
  /** Time in which it served a job or was stopped. */
  busySeconds = 0

  constructor(clock: Clock, { wakeSeconds = 0 }: { readonly wakeSeconds?: number } = {}) {
    this.#clock = clock
    this.#wakeSeconds = wakeSeconds
  }

  get waiting(): number {
    return this.#line.length - this.#next
  }

  take(job: Job): void {
    this.#line.push(job)
    if (this.#isAwake) return
    this.#isAwake = true
    if (this.#wakeSeconds > 0) this.#clock.after(this.#wakeSeconds, this)
    else this.#serveNext()
  }

  /** Other processes have the processor for this time. */
  stop(seconds: number): void {
    this.busySeconds += seconds
    if (this.#isAwake) {
      this.#putOff += seconds
      return
    }
    this.#isAwake = true
    this.#clock.after(seconds, this)
  }

  /** Handles the end of a job, of waking or of a stop. */
  happen(): void {
    if (this.#putOff > 0) {
      const seconds = this.#putOff
      this.#putOff = 0
      this.#clock.after(seconds, this)
      return
    }
    const done = this.#serving
    this.#serving = null
    done?.done()
    this.#serveNext()
  }

  #serveNext(): void {
    if (this.#next === this.#line.length) {
      this.#line = []
      this.#next = 0
      this.#isAwake = false
      return
    }
    const job = this.#line[this.#next]!
    this.#next += 1
    // Served jobs are removed from the queue in batches.
    if (this.#next === 4_096) {
      this.#line = this.#line.slice(this.#next)
      this.#next = 0
    }
    this.#serving = job
    const seconds = job.work()
    this.busySeconds += seconds
    this.#clock.after(seconds, this)
  }
}
