/**
 * The order in which a pool does its jobs: which part of which job is next, and how large it is. Pure: it knows no threads and no clock.
 *
 * The oldest job goes first. A search or a read is done whole. A bulk is cut into parts (`bulk-parts.ts`), each of them cut when
 * somebody is free to take it: the faster of two threads takes more parts.
 *
 * A job whose caller has left is dropped before it is begun.
 */
import {
  type BulkPart,
  type BulkProgress,
  OWN_PART_CHECKS,
  PARTS_AHEAD,
  poolPartChecks,
} from './bulk-parts.ts'

/** The same for a job that is alone: this thread reads no other body then, and could do itself what it gives away. */
const LONE_PARTS_AHEAD = 2

/** What the schedule asks of a job. */
export interface ScheduledJob {
  readonly waiting: { readonly isGone: boolean }
  /** Null: the job is done whole. */
  readonly progress: BulkProgress | null
  /** Whether its answer may be as large as an answer may be: the pool has at most one such job a thread. */
  readonly isLarge: boolean
}

export interface BulkJob extends ScheduledJob {
  readonly progress: BulkProgress
}

/** `Bulk` is the type of those jobs that are cut into parts. */
export class JobSchedule<Job extends ScheduledJob, Bulk extends Job & BulkJob> {
  readonly #threads: number
  readonly #onDropped: (job: Job) => void
  /** Jobs that are not begun, or begun and with checks left; the oldest first. */
  readonly #queue: Job[] = []
  #largeRunning = 0

  /**
   * `threads` is the number of threads of the pool. `onDropped` is told of each job that was dropped because its caller has
   * left.
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
   * Whether the pool may be given more. `running` is the number of parts it has now, `jobs` that of jobs without an answer.
   */
  hasRoom(running: number, jobs: number): boolean {
    return running < this.#threads * (jobs > 1 ? PARTS_AHEAD : LONE_PARTS_AHEAD)
  }

  /** The oldest job that the pool may begin or go on with; null: none. */
  next(): Job | null {
    return this.#first(job => !job.isLarge || this.#largeRunning < this.#threads)
  }

  /** The oldest bulk. */
  nextBulk(): Bulk | null {
    return this.#first(isBulk) as Bulk | null
  }

  /** The oldest job that is done whole. */
  nextWhole(): Job | null {
    return this.#first(job => !isBulk(job))
  }

  /** Drops all jobs whose callers have left. */
  dropAbandoned(): void {
    this.#first(() => false)
  }

  /** Removes a job that was begun as a whole, or answered without being begun. */
  remove(job: Job): void {
    const place = this.#queue.indexOf(job)
    if (place >= 0) this.#queue.splice(place, 1)
  }

  /** Cuts the next part for the pool off a bulk. `progress.running` counts it. */
  beginPoolPart(bulk: Bulk): BulkPart {
    const part = this.#begin(bulk, poolPartChecks(bulk.progress, this.#threads))
    bulk.progress.running++
    return part
  }

  /** Cuts the next part for this thread off a bulk. */
  beginOwnPart(bulk: Bulk): BulkPart {
    return this.#begin(bulk, OWN_PART_CHECKS)
  }

  /** No more parts of the bulk will be begun. */
  cutOff(bulk: Bulk): void {
    bulk.progress.next = bulk.progress.count
    this.remove(bulk)
  }

  /** The pool begins a job that is done whole. `endWhole` must follow. */
  beginWhole(job: Job): void {
    this.remove(job)
    if (job.isLarge) this.#largeRunning++
  }

  endWhole(job: Job): void {
    if (job.isLarge) this.#largeRunning--
  }

  /** A bulk leaves the queue with its last part. */
  #begin(bulk: Bulk, checksMax: number): BulkPart {
    const { progress } = bulk
    const from = progress.next
    const count = Math.min(checksMax, progress.count - from)
    progress.next += count
    if (progress.next === progress.count) this.remove(bulk)
    return { from, count }
  }

  /** The oldest job that is accepted. Jobs before it whose callers have left are dropped. O(jobs). */
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
