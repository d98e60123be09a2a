/**
 * Orders the jobs of a pool: selects the job of the next part, and the size of the part. It is independent of
 * threads and clocks.
 *
 * The oldest job runs first. A search or a read runs as a whole. A bulk is split into parts
 * (`bulk-parts.ts`). Each part is created when a thread is free to take it, so a faster thread takes more
 * parts.
 *
 * If the client of a job disconnects before the job starts, the job is dropped.
 */
import {
  type BulkPart,
  type BulkProgress,
  OWN_PART_CHECKS,
  PARTS_AHEAD,
  poolPartChecks,
} from './bulk-parts.ts'

/**
 * Parts ahead if there is only one job: this thread then parses no other body, and could run the parts
 * itself.
 */
const LONE_PARTS_AHEAD = 2

/** Properties of a job that the schedule needs. */
export interface ScheduledJob {
  readonly waiting: { readonly isGone: boolean }
  /** Null if the job runs as a whole. */
  readonly progress: BulkProgress | null
  /** Whether its response can have the maximum size. The pool has at most one such job per thread. */
  readonly isLarge: boolean
}

export interface BulkJob extends ScheduledJob {
  readonly progress: BulkProgress
}

/** `Bulk` is the type of the jobs that are split into parts. */
export class JobSchedule<Job extends ScheduledJob, Bulk extends Job & BulkJob> {
  readonly #threads: number
  readonly #onDropped: (job: Job) => void
  /** Jobs that have not started, or that have started and have checks left; the oldest first. */
  readonly #queue: Job[] = []
  #largeRunning = 0

  /**
   * `threads` is the number of threads of the pool. `onDropped` receives each job that was dropped because
   * its client has disconnected.
   */
  constructor(threads: number, onDropped: (job: Job) => void) {
    this.#threads = threads
    this.#onDropped = onDropped
  }

  get isEmpty(): boolean {
    return this.#queue.length === 0
  }

  get hasBulk(): boolean {
    return this.#queue.some(isBulk)
  }

  add(job: Job): void {
    this.#queue.push(job)
  }

  /** Removes and returns all jobs. */
  clear(): Job[] {
    return this.#queue.splice(0)
  }

  /**
   * Whether the pool can receive more parts. `running` is the number of its current parts, `jobs` that of
   * jobs without a result.
   */
  hasCapacity(running: number, jobs: number): boolean {
    return running < this.#threads * (jobs > 1 ? PARTS_AHEAD : LONE_PARTS_AHEAD)
  }

  /** The oldest job that the pool can start or continue; null if there is none. */
  next(): Job | null {
    return this.#first(job => !job.isLarge || this.#largeRunning < this.#threads)
  }

  /** The oldest bulk. */
  nextBulk(): Bulk | null {
    return this.#first(isBulk) as Bulk | null
  }

  /** The oldest job that runs as a whole. */
  nextWhole(): Job | null {
    return this.#first(job => !isBulk(job))
  }

  /** Drops all jobs whose clients have disconnected. */
  dropAbandoned(): void {
    this.#first(() => false)
  }

  /** Removes a job that was started as a whole, or that was completed or rejected without being started. */
  remove(job: Job): void {
    const place = this.#queue.indexOf(job)
    if (place >= 0) this.#queue.splice(place, 1)
  }

  /** Splits the next part for the pool off a bulk. `progress.running` counts it. */
  beginPoolPart(bulk: Bulk): BulkPart {
    const part = this.#begin(bulk, poolPartChecks(bulk.progress, this.#threads))
    bulk.progress.running++
    return part
  }

  /** Splits the next part for this thread off a bulk. */
  beginOwnPart(bulk: Bulk): BulkPart {
    return this.#begin(bulk, OWN_PART_CHECKS)
  }

  /** Starts no more parts of the bulk. */
  cutOff(bulk: Bulk): void {
    bulk.progress.next = bulk.progress.count
    this.remove(bulk)
  }

  /** Marks a job that runs as a whole as started in the pool. `endWhole` must follow. */
  beginWhole(job: Job): void {
    this.remove(job)
    if (job.isLarge) this.#largeRunning++
  }

  endWhole(job: Job): void {
    if (job.isLarge) this.#largeRunning--
  }

  /** Takes the next part of a bulk. The bulk leaves the queue with its last part. */
  #begin(bulk: Bulk, checksMax: number): BulkPart {
    const { progress } = bulk
    const from = progress.next
    const count = Math.min(checksMax, progress.count - from)
    progress.next += count
    if (progress.next === progress.count) this.remove(bulk)
    return { from, count }
  }

  /** Returns the oldest job that is accepted. Drops earlier jobs whose clients have disconnected. O(jobs). */
  #first(accepts: (job: Job) => boolean): Job | null {
    for (let place = 0; place < this.#queue.length;) {
      const job = this.#queue[place]!
      if (job.waiting.isGone) this.#drop(job)
      else if (accepts(job)) return job
      else place++
    }
    return null
  }

  #drop(job: Job): void {
    if (isBulk(job)) job.progress.next = job.progress.count
    this.remove(job)
    this.#onDropped(job)
  }
}

function isBulk(job: ScheduledJob): job is BulkJob {
  return job.progress !== null
}
