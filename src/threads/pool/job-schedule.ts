/**
 * Orders the jobs of a pool: selects the job of the next part, and the size of the part. It is independent of
 * threads and clocks.
 *
 * The environments are served round-robin, and the oldest job of an environment runs first. A search or a
 * read runs as a whole. A bulk is split into parts (`bulk-parts.ts`). Each part is created when a thread is
 * free to take it, so a faster thread takes more parts.
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
  readonly environmentId: string
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
  /**
   * Jobs of each environment that have not started, or that have started and have checks left; the oldest
   * first. The environment that is served next comes first. No list is empty.
   */
  readonly #lines = new Map<string, Job[]>()
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
    return this.#lines.size === 0
  }

  get hasBulk(): boolean {
    return [...this.#lines.values()].some(line => line.some(isBulk))
  }

  add(job: Job): void {
    const line = this.#lines.get(job.environmentId)
    if (line === undefined) this.#lines.set(job.environmentId, [job])
    else line.push(job)
  }

  /** Removes and returns all jobs. */
  clear(): Job[] {
    const jobs = [...this.#lines.values()].flat()
    this.#lines.clear()
    return jobs
  }

  /**
   * Whether the pool can receive more parts. `running` is the number of its current parts, `jobs` that of
   * jobs without a result.
   */
  hasCapacity(running: number, jobs: number): boolean {
    return running < this.#threads * (jobs > 1 ? PARTS_AHEAD : LONE_PARTS_AHEAD)
  }

  /** The next job that the pool can start or continue; null if there is none. */
  next(): Job | null {
    return this.#first(job => !job.isLarge || this.#largeRunning < this.#threads)
  }

  /** The next bulk. */
  nextBulk(): Bulk | null {
    return this.#first(isBulk) as Bulk | null
  }

  /** The next job that runs as a whole. */
  nextWhole(): Job | null {
    return this.#first(job => !isBulk(job))
  }

  /** Drops all jobs whose clients have disconnected. */
  dropAbandoned(): void {
    this.#first(() => false)
  }

  /** Removes a job that was started as a whole, or that was completed or rejected without being started. */
  remove(job: Job): void {
    const line = this.#lines.get(job.environmentId) ?? []
    const place = line.indexOf(job)
    if (place >= 0) line.splice(place, 1)
    if (line.length === 0) this.#lines.delete(job.environmentId)
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
    this.#noteServed(job)
    this.remove(job)
    if (job.isLarge) this.#largeRunning++
  }

  endWhole(job: Job): void {
    if (job.isLarge) this.#largeRunning--
  }

  /** Takes the next part of a bulk. The bulk leaves the queue with its last part. */
  #begin(bulk: Bulk, checksMax: number): BulkPart {
    this.#noteServed(bulk)
    const { progress } = bulk
    const from = progress.next
    const count = Math.min(checksMax, progress.count - from)
    progress.next += count
    if (progress.next === progress.count) this.remove(bulk)
    return { from, count }
  }

  /** Serves the other environments before this one. */
  #noteServed({ environmentId }: Job): void {
    const line = this.#lines.get(environmentId)
    if (line === undefined) return
    this.#lines.delete(environmentId)
    this.#lines.set(environmentId, line)
  }

  /** Returns the next job that is accepted. Drops earlier jobs whose clients have disconnected. O(jobs). */
  #first(accepts: (job: Job) => boolean): Job | null {
    for (const line of this.#lines.values()) {
      for (let place = 0; place < line.length;) {
        const job = line[place]!
        if (job.waiting.isGone) this.#drop(job)
        else if (accepts(job)) return job
        else place++
      }
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
