/**
 * The Piscina pool beside an HTTP thread: it takes large bulks, searches and long reads, so that none keeps single decisions waiting,
 * and so that one large bulk is worked on by several cores.
 *
 *     bulk ─► copied once into shared memory ─► parts, in order ─► pool threads, some parts ahead
 *                                                             └──► this thread, a small part each turn
 *
 * `job-schedule.ts` says which part is next. A job whose caller has left is dropped before it is begun; one that runs is never
 * interrupted, since Piscina would end its thread for that.
 *
 * A thread of the pool that dies takes its jobs with it: they are answered with an error, its lock on an index is given
 * free, and another thread is started at the next job. Until a thread has started, everything is done here.
 */
import type { Worker } from 'node:worker_threads'
import type {
  DecisionPool,
  Leaver,
  SearchJob,
  SlicedAnswer,
  SlicedJob,
  SlicedKind,
  Waiting,
} from '#decisions/decision-pool.ts'
import { searchWith } from '#decisions/search-job.ts'
import { readWith } from '#decisions/sliced-job.ts'
import { nobodyWaits, SlicedReads, tooManyReads } from '#decisions/sliced-reads.ts'
import type { KeyPage } from '#engine/engine.ts'
import type { PackedQueries } from '#model/packed-queries.ts'
import { BulkProgress, PARTS_AHEAD, POOLED_CHECKS_MIN } from './bulk-parts.ts'
import { JobSchedule } from './job-schedule.ts'
import { MemoryStock } from './memory-stock.ts'
import {
  decidePart,
  type JobIndex,
  markOver,
  newOver,
  layoutOf,
  type PoolJob,
  shareBulk,
  verdictsOf,
} from './pool-jobs.ts'
import type { JobPoolOptions } from './pool-options.ts'
import { type PoolFigures, PoolThreads, shuttingDown } from './pool-threads.ts'
import { type Bulk, isLarge, type Job, type Outcome, type Read, type Search } from './queued-jobs.ts'

export class JobPool implements DecisionPool {
  readonly pooledChecksMin = POOLED_CHECKS_MIN
  readonly #options: JobPoolOptions
  readonly #threads: PoolThreads<PoolJob>
  readonly #memory = new MemoryStock()
  readonly #schedule: JobSchedule<Job, Bulk>
  /** Jobs that have no answer yet. */
  #jobCount = 0
  /** Reads that this thread does while the pool has no threads. */
  readonly #readsHere: SlicedReads
  #isTurnPlanned = false

  constructor(options: JobPoolOptions) {
    this.#options = options
    this.#schedule = new JobSchedule(options.threads, job => this.#dropped(job))
    this.#readsHere = new SlicedReads(options.jobsMax)
    this.#threads = new PoolThreads({
      ...options,
      jobsAhead: PARTS_AHEAD,
      onFree: () => this.#giveOut(),
      onCold: () => this.#searchHere(),
    })
  }

  /** Whether the threads of the pool have started. Until then this thread does everything. */
  get isWarm(): boolean {
    return this.#threads.isWarm
  }

  /** Figures of the work that waits and that was done. */
  figures(): PoolFigures {
    const { list } = this.#threads
    return { jobs: this.#jobCount, threads: list.length, busySeconds: this.#threads.busyMs() / 1_000 }
  }

  /** Threads that have not ended; some may still be starting. */
  get threads(): readonly Worker[] {
    return this.#threads.list
  }

  evaluate(environmentId: string, packed: PackedQueries, waiting: Waiting): Promise<Uint8Array> {
    this.#options.engine(environmentId)
    this.#admit()
    const memory = this.#memory.take(layoutOf(packed.count, packed.bytes.byteLength).end)
    const shared = shareBulk(packed, memory)
    return this.#queued<Uint8Array>(outcome => {
      const progress = new BulkProgress(shared.count)
      return { kind: 'bulk', environmentId, shared, progress, isLarge: false, waiting, ...outcome }
    })
  }

  search(environmentId: string, job: SearchJob, waiting: Waiting): Promise<KeyPage> {
    const { engine } = this.#options.engine(environmentId)
    if (!this.isWarm) {
      this.#threads.warmUp()
      return Promise.resolve(searchWith(engine, job))
    }
    this.#admit()
    return this.#queued<KeyPage>(outcome => {
      return { kind: 'search', environmentId, job, progress: null, isLarge: false, waiting, ...outcome }
    })
  }

  read<Kind extends SlicedKind>(
    environmentId: string,
    job: SlicedJob<Kind>,
    waiting: Leaver,
  ): Promise<SlicedAnswer<Kind>> {
    this.#options.engine(environmentId)
    if (!this.isWarm) {
      this.#threads.warmUp()
      return this.#readHere<Kind>(environmentId, job, waiting)
    }
    this.#admit()
    return this.#queued<SlicedAnswer<Kind>>(({ resolve, reject }) => ({
      kind: 'read',
      environmentId,
      job,
      progress: null,
      isLarge: isLarge(job),
      waiting,
      // The pool answers a job of a kind with an answer of that kind.
      resolve: answer => resolve(answer as SlicedAnswer<Kind>),
      reject,
    }))
  }

  #readHere<Kind extends SlicedKind>(
    environmentId: string,
    job: SlicedJob<Kind>,
    waiting: Leaver,
  ): Promise<SlicedAnswer<Kind>> {
    const engineNow = () => this.#options.engine(environmentId)
    return this.#readsHere.run({ work: readWith<Kind>(engineNow().engine, job), waiting, check: engineNow })
  }

  /**
   * An index was replaced or taken back: has the threads release it now. By themselves they would do so only at their next
   * job.
   */
  letGo(): void {
    this.#threads.letGo()
  }

  /** Ends the threads. Jobs that wait are refused. */
  async close(): Promise<void> {
    const closed = this.#threads.close()
    for (const job of this.#schedule.clear()) job.reject(shuttingDown())
    await closed
  }

  #admit(): void {
    if (this.#threads.isClosed) throw shuttingDown()
    if (this.#jobCount >= this.#options.jobsMax) this.#schedule.dropAbandoned()
    if (this.#jobCount >= this.#options.jobsMax) {
      throw tooManyReads()
    }
  }

  /** Queues a job. It counts until it has its first outcome. */
  #queued<Value>(jobWith: (outcome: Outcome<Value>) => Job): Promise<Value> {
    // Counted only here: making the job may have failed for lack of memory.
    this.#jobCount++
    return new Promise((resolve, reject) => {
      let isOver = false
      const end = (settle: () => void): void => {
        if (isOver) return
        isOver = true
        this.#jobCount--
        settle()
      }
      this.#schedule.add(
        jobWith({
          resolve: value => end(() => resolve(value)),
          reject: error => end(() => reject(error as Error)),
        }),
      )
      this.#giveOut()
    })
  }

  /** The caller of a job has left. */
  #dropped(job: Job): void {
    if (job.kind === 'bulk') this.#endIfDone(job)
    else job.reject(nobodyWaits())
  }

  /** Gives the threads of the pool the next parts of the queue. This thread does the rest, turn by turn. */
  #giveOut(): void {
    if (!this.#schedule.isEmpty && !this.isWarm) this.#threads.warmUp()
    while (this.isWarm && this.#schedule.hasRoom(this.#threads.running, this.#jobCount)) {
      const job = this.#schedule.next()
      if (job === null) break
      if (job.kind === 'search') this.#runSearch(job)
      else if (job.kind === 'read') this.#runRead(job)
      else this.#runPart(job)
    }
    if (!this.#isTurnPlanned && this.#schedule.hasBulk) {
      this.#isTurnPlanned = true
      // Between two parts the event loop turns, so single decisions that have come meanwhile go first.
      setImmediate(() => this.#takeTurn())
    }
  }

  #takeTurn(): void {
    this.#isTurnPlanned = false
    const bulk = this.#schedule.nextBulk()
    if (bulk !== null) {
      const part = this.#schedule.beginOwnPart(bulk)
      try {
        // The engine is asked for anew: an index that was taken back meanwhile decides nothing any more.
        const { engine } = this.#options.engine(bulk.environmentId)
        decidePart(engine, bulk.shared, part)
        this.#endIfDone(bulk)
      } catch (error) {
        this.#fail(bulk, error)
      }
    }
    this.#giveOut()
  }

  #runPart(bulk: Bulk): void {
    const index = this.#indexNow(bulk)
    if (index === null) return
    const part = this.#schedule.beginPoolPart(bulk)
    this.#threads.run({ kind: 'checks', index, bulk: bulk.shared, part }).then(
      () => {
        bulk.progress.running--
        this.#endIfDone(bulk)
      },
      (error: unknown) => {
        bulk.progress.running--
        this.#fail(bulk, error)
      },
    )
  }

  #runSearch(search: Search): void {
    const index = this.#indexNow(search)
    if (index === null) return
    this.#schedule.beginWhole(search)
    this.#threads
      .run({ kind: 'search', index, search: search.job })
      .finally(() => this.#schedule.endWhole(search))
      .then(page => {
        // As for a bulk: the state may be too old by now.
        this.#options.engine(search.environmentId)
        search.resolve(page as KeyPage)
      })
      .catch(search.reject)
  }

  #runRead(read: Read): void {
    const index = this.#indexNow(read)
    if (index === null) return
    this.#schedule.beginWhole(read)
    const over = newOver()
    read.waiting.whenOver(() => markOver(over))
    this.#threads
      .run({ kind: 'read', index, read: read.job, over })
      .finally(() => {
        this.#schedule.endWhole(read)
        // After this answer the next large job may begin.
        this.#giveOut()
      })
      .then(answer => {
        this.#options.engine(read.environmentId)
        read.resolve(answer)
      })
      .catch(read.reject)
  }

  /**
   * The index for a job that may have waited long. Null if the job must not be decided any more: then it has been answered
   * with the reason.
   */
  #indexNow(job: Job): JobIndex | null {
    try {
      return this.#options.engine(job.environmentId).index
    } catch (error) {
      if (job.kind === 'bulk') this.#fail(job, error)
      else {
        this.#schedule.remove(job)
        job.reject(error)
      }
      return null
    }
  }

  #endIfDone(bulk: Bulk): void {
    if (!bulk.progress.isDone) return
    if (bulk.waiting.isGone) bulk.reject(nobodyWaits())
    else this.#resolve(bulk)
    this.#memory.giveBack(bulk.shared.memory)
  }

  #resolve(bulk: Bulk): void {
    try {
      // The process may have been stopped since the parts were begun: the state they were decided by may be too old to be
      // answered.
      this.#options.engine(bulk.environmentId)
      bulk.resolve(verdictsOf(bulk.shared).slice())
    } catch (error) {
      bulk.reject(error)
    }
  }

  /** One failed part is the answer to the whole bulk. Its memory is used again when no thread writes into it any more. */
  #fail(bulk: Bulk, error: unknown): void {
    bulk.reject(error)
    this.#schedule.cutOff(bulk)
    this.#endIfDone(bulk)
  }

  /** Does one of the waiting searches and reads in this thread each turn, as long as the pool has no threads. */
  #searchHere(): void {
    const job = this.#schedule.nextWhole()
    if (job === null || job.kind === 'bulk' || this.isWarm) return
    this.#schedule.remove(job)
    try {
      const { environmentId } = job
      if (job.kind === 'read')
        this.#readHere(environmentId, job.job, job.waiting).then(job.resolve, job.reject)
      else job.resolve(searchWith(this.#options.engine(environmentId).engine, job.job))
    } catch (error) {
      job.reject(error)
    }
    setImmediate(() => this.#searchHere())
  }
}
