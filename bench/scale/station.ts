/**
 * A station: one server with a queue that processes jobs in the order of their arrival. It represents an HTTP
 * thread, the thread of Redis, or a thread that applies the log. When it is idle, it can sleep, and it then
 * takes time to wake up. If it is stopped, its current job is delayed.
 */
import type { Clock, Happening } from './clock.ts'

export interface Job {
  /**
   * Returns the number of seconds for which the job occupies the station. Called when the station begins the
   * job.
   */
  work(): number
  done(): void
}

export class Station implements Happening {
  readonly #clock: Clock
  readonly #wakeSeconds: number
  #line: Job[] = []
  #next = 0
  /** The current job. Null if the station sleeps, wakes up or is stopped. */
  #serving: Job | null = null
  #isAwake = false
  /** Seconds by which stops have delayed the current job. */
  #putOff = 0
  /** Seconds in which the station processed jobs or was stopped. */
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

  /** Stops the station for this number of seconds, because other processes use the processor. */
  stop(seconds: number): void {
    this.busySeconds += seconds
    if (this.#isAwake) {
      this.#putOff += seconds
      return
    }
    this.#isAwake = true
    this.#clock.after(seconds, this)
  }

  /** Handles an event: the end of a job, the end of waking up, or the end of a stop. */
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
    // Processed jobs are removed from the queue in batches, because each removal copies the queue.
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
