/**
 * The order in which a pool does its jobs: which part of which job is next, and how large it is. Pure: it knows no threads and no clock.
 *
 * The oldest job goes first. A search or a read is done whole. A bulk is cut into parts, each of them cut when somebody is free to
 * take it: the faster of two threads takes more parts. The threads of the pool take parts that shrink towards the end of a bulk, so
 * that none is left with a large one; the thread that received the bulk takes small ones, between which it answers others.
 *
 * A job whose caller has left is dropped before it is begun. The figures behind the sizes are in docs/decision-cost.md.
 */

/** A bulk of at least this many checks is given to the pool. */
export const POOLED_CHECKS_MIN = 2_000
/** Most checks of a part for the pool. */
const POOL_PART_CHECKS_MAX = 2_048
/** Fewest checks of a part for the pool, in a bulk that is large enough. */
const POOL_PART_CHECKS_MIN = 512
/** Checks of a part for this thread: about 60 µs, for which single decisions have to wait. Parts for the pool are multiples of it. */
export const OWN_PART_CHECKS = 128
/** Parts or jobs that a thread of the pool has at once, so that it never waits while this thread reads a large body. */
export const PARTS_AHEAD = 8
/** The same for a job that is alone: this thread reads no other body then, and could do itself what it gives away. */
const LONE_PARTS_AHEAD = 2

/** Neighbouring checks of a bulk. */
export interface BulkPart {
  readonly from: number
  readonly count: number
}

/** How far a bulk has come. */
export class BulkProgress {
  /** The number of all its checks. */
  readonly count: number
  /** The first check that is in no part yet. */
  next = 0
  /** Parts that the pool has been given and has not finished. */
  running = 0

  constructor(count: number) {
    this.count = count
  }

  /** Whether all parts that were begun are done, and no more will be begun. */
  get isDone(): boolean {
    return this.next === this.count && this.running === 0
  }
}

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

/**
 * The checks of the next part for the pool: half of what is left, divided by the number of threads. At least so many that
 * as many parts as the pool takes ahead make up half of the bulk.
 */
function poolPartChecks({ count, next }: BulkProgress, threads: number): number {
  const fewest = Math.min(POOL_PART_CHECKS_MIN, count / (2 * PARTS_AHEAD * threads))
  const share = (count - next) / (2 * (threads + 1))
  // The engine decides this many at a time, so parts are multiples of it.
  const checks = Math.ceil(Math.max(share, fewest) / OWN_PART_CHECKS) * OWN_PART_CHECKS
  return Math.min(POOL_PART_CHECKS_MAX, checks)
}
