/**
 * One server with a line before it, first come first served: an HTTP thread, the thread of Redis, a thread that applies the log. It may
 * sleep when it has nothing to do, and then takes a while to wake. It may be stopped by others: work that is under way goes on behind that.
 */
import type { Clock, Happening } from './clock.ts'

export interface Job {
  /** Seconds that it keeps the station; asked when its turn comes. */
  work(): number
  done(): void
}

export class Station implements Happening {
  readonly #clock: Clock
  readonly #wakeSeconds: number
  #line: Job[] = []
  #next = 0
  /** What is being served; null: it sleeps, wakes, or is stopped. */
  #serving: Job | null = null
  #isAwake = false
  /** By how much stops have put off what is under way. */
  #putOff = 0
  /** Time in which it served, or was stopped. */
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

  /** Others have the processor for so long. */
  stop(seconds: number): void {
    this.busySeconds += seconds
    if (this.#isAwake) {
      this.#putOff += seconds
      return
    }
    this.#isAwake = true
    this.#clock.after(seconds, this)
  }

  /** The end of a service, of waking, or of a stop. */
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
    // The line is shortened from time to time, not at each job.
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
