/**
 * The Piscina pool of an HTTP thread: it runs large bulks, searches and long reads, so that they do not block
 * single decisions, and so that several cores work on one large bulk.
 *
 *     bulk ─► copied once into shared memory ─► parts, in order ─► pool threads, some parts ahead
 *                                                             └──► this thread, one small part per iteration
 *
 * `job-schedule.ts` selects the next part. If the client of a job disconnects before the job starts, the job
 * is dropped. A running job is never interrupted, because Piscina would end its thread.
 *
 * If a thread of the pool dies, its jobs fail with an error, its lock on an index is released, and another
 * thread is started for the next job. Until a thread has started, this thread does all work.
 */
import type { Worker } from 'node:worker_threads'
import {
  POOLED_CHECKS_MIN,
  type DecideWithRules,
  type DecisionPool,
  type SearchJob,
  type SlicedAnswer,
  type SlicedJob,
  type SlicedKind,
} from '#decisions/decision-pool.ts'
import type { CancelableClient, WaitingClient } from '#model/caller.ts'
import { searchWith } from '#decisions/search-job.ts'
import { readWith } from '#decisions/sliced-job.ts'
import { abandoned, type Admission, halfPerShare, tooManyReads } from '#scheduling/admission.ts'
import { LongReads } from '#scheduling/thread-scheduler.ts'
import type { KeyPage } from '#engine/engine.ts'
import type { PackedQueries } from '#model/packed-queries.ts'
import type { Verdicts } from '#model/question.ts'
import { BulkProgress, PARTS_AHEAD } from './bulk-parts.ts'
import { JobSchedule } from './job-schedule.ts'
import { MemoryStock } from './memory-stock.ts'
import {
  bodyOf,
  decidePart,
  type JobIndex,
  markOver,
  newOver,
  layoutOf,
  partOf,
  type PoolJob,
  shareBulk,
  verdictsOf,
} from './pool-jobs.ts'
import type { JobPoolOptions } from './pool-options.ts'
import { type PoolFigures, PoolThreads, shuttingDown } from './pool-threads.ts'
import { type Bulk, isLarge, type Job, type JobOutcome, type Read, type QueuedSearch } from './queued-jobs.ts'

export class JobPool implements DecisionPool {
  readonly pooledChecksMin = POOLED_CHECKS_MIN
  readonly #options: JobPoolOptions
  readonly #threads: PoolThreads<PoolJob>
  readonly #memory = new MemoryStock()
  readonly #schedule: JobSchedule<Job, Bulk>
  /** Jobs without a result. Only some are admitted, see `#queued`. */
  #jobCount = 0
  readonly #admission: Admission
  /** Reads that this thread runs while the pool has no threads. */
  readonly #readsHere: LongReads
  #isTurnPlanned = false

  constructor(options: JobPoolOptions) {
    this.#options = options
    this.#schedule = new JobSchedule(options.threads, job => this.#dropped(job))
    this.#admission = halfPerShare(options.jobsMax)
    this.#readsHere = new LongReads(options.sliced, options.jobsMax)
    this.#threads = new PoolThreads({
      ...options,
      jobsAhead: PARTS_AHEAD,
      onFree: () => this.#giveOut(),
      onCold: () => this.#searchHere(),
    })
  }

  /** Whether the threads of the pool have started. Until then, this thread does all work. */
  get isWarm(): boolean {
    return this.#threads.isWarm
  }

  /** See `PoolThreads`. */
  takeLongestPauseMs(): number {
    return this.#threads.takeLongestPauseMs()
  }

  /** Figures of queued and completed work. */
  figures(): PoolFigures {
    const { list } = this.#threads
    return { jobs: this.#jobCount, threads: list.length, busySeconds: this.#threads.busyMs() / 1_000 }
  }

  /** Threads that have not ended; some might still be starting. */
  get threads(): readonly Worker[] {
    return this.#threads.list
  }

  evaluate(
    environmentId: string,
    packed: PackedQueries,
    waiting: WaitingClient,
    decideWithRules: DecideWithRules,
  ): Promise<Verdicts> {
    this.#options.engine(environmentId)
    this.#requireRoom(environmentId)
    const memory = this.#memory.take(layoutOf(packed.count, packed.bytes.byteLength).end)
    const shared = shareBulk(packed, memory)
    return this.#queued<Verdicts>(outcome => ({
      kind: 'bulk',
      environmentId,
      shared,
      context: packed.contextIn(bodyOf(shared)),
      progress: new BulkProgress(shared.count),
      isLarge: false,
      waiting,
      decideWithRules,
      state: 'by-roles',
      ...outcome,
    }))
  }

  search(environmentId: string, job: SearchJob, waiting: WaitingClient): Promise<KeyPage> {
    const { engine } = this.#options.engine(environmentId)
    if (!this.isWarm) {
      this.#threads.warmUp()
      return Promise.resolve(searchWith(engine, job))
    }
    this.#requireRoom(environmentId)
    return this.#queued<KeyPage>(outcome => {
      return { kind: 'search', environmentId, job, progress: null, isLarge: false, waiting, ...outcome }
    })
  }

  read<Kind extends SlicedKind>(
    environmentId: string,
    job: SlicedJob<Kind>,
    waiting: CancelableClient,
  ): Promise<SlicedAnswer<Kind>> {
    this.#options.engine(environmentId)
    if (!this.isWarm) {
      this.#threads.warmUp()
      return this.#readHere<Kind>(environmentId, job, waiting)
    }
    // A decision is always admitted and waits for its turn: an environment has at most one here at a time
    // (`LongDecisions`).
    if (job.kind === 'decide') this.#requireOpen()
    else this.#requireRoom(environmentId)
    return this.#queued<SlicedAnswer<Kind>>(({ resolve, reject }) => ({
      kind: 'read',
      environmentId,
      job,
      progress: null,
      isLarge: isLarge(job),
      waiting,
      // The result of a job always has the kind of the job.
      resolve: answer => resolve(answer as SlicedAnswer<Kind>),
      reject,
    }))
  }

  #readHere<Kind extends SlicedKind>(
    environmentId: string,
    job: SlicedJob<Kind>,
    waiting: CancelableClient,
  ): Promise<SlicedAnswer<Kind>> {
    const engineNow = () => this.#options.engine(environmentId)
    const read = { work: readWith<Kind>(engineNow().engine, job), waiting, check: engineNow }
    // A decision takes one slice, so it does not wait for long reads.
    if (job.kind === 'decide') return this.#options.sliced.run(environmentId, read)
    return this.#readsHere.run(environmentId, read)
  }

  /**
   * Makes the threads release an index that was replaced or removed. Otherwise they would release it only at
   * their next job.
   */
  letGo(): void {
    this.#threads.letGo()
  }

  /** Ends the threads. Rejects queued jobs. */
  async close(): Promise<void> {
    const closed = this.#threads.close()
    for (const job of this.#schedule.clear()) job.reject(shuttingDown())
    await closed
  }

  #requireOpen(): void {
    if (this.#threads.isClosed) throw shuttingDown()
  }

  #requireRoom(environmentId: string): void {
    this.#requireOpen()
    if (!this.#admission.hasRoom(environmentId)) this.#schedule.dropAbandoned()
    if (!this.#admission.hasRoom(environmentId)) throw tooManyReads()
  }

  /** Queues a job. It is counted until it has its first outcome. Decisions do not count against the limit. */
  #queued<Value>(jobWith: (outcome: JobOutcome<Value | Promise<Value>>) => Job): Promise<Value> {
    return new Promise((resolve, reject) => {
      let isOver = false
      let leave = (): void => {}
      const end = (settle: () => void): void => {
        if (isOver) return
        isOver = true
        this.#jobCount--
        leave()
        settle()
      }
      const job = jobWith({
        resolve: value => end(() => resolve(value)),
        reject: error => end(() => reject(error as Error)),
      })
      // The job is counted only here, because its creation can fail for lack of memory.
      this.#jobCount++
      const isDecision = job.kind === 'read' && job.job.kind === 'decide'
      if (!isDecision) leave = this.#admission.acquire(job.environmentId)
      this.#schedule.add(job)
      this.#giveOut()
    })
  }

  /** Handles a job whose client has disconnected before its result. */
  #dropped(job: Job): void {
    if (job.kind === 'bulk') this.#endIfDone(job)
    else job.reject(abandoned())
  }

  /**
   * Gives the next parts of the queue to the threads of the pool. This thread runs the rest, one part per
   * event-loop iteration.
   */
  #giveOut(): void {
    if (!this.#schedule.isEmpty && !this.isWarm) this.#threads.warmUp()
    while (this.isWarm && this.#schedule.hasCapacity(this.#threads.running, this.#jobCount)) {
      const job = this.#schedule.next()
      if (job === null) break
      if (job.kind === 'search') this.#runSearch(job)
      else if (job.kind === 'read') this.#runRead(job)
      else this.#runPart(job)
    }
    if (!this.#isTurnPlanned && this.#schedule.hasBulk) {
      this.#isTurnPlanned = true
      // The event loop runs between two parts, so that single decisions that have arrived have priority.
      setImmediate(() => this.#takeTurn())
    }
  }

  #takeTurn(): void {
    this.#isTurnPlanned = false
    const bulk = this.#schedule.nextBulk()
    if (bulk !== null) {
      const part = this.#schedule.beginOwnPart(bulk)
      try {
        // The engine is requested again: an index that was removed in the meantime must make no more
        // decisions.
        const { engine } = this.#options.engine(bulk.environmentId)
        this.#endPart(bulk, decidePart(engine, bulk.shared, part))
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
      isWithoutRules => {
        bulk.progress.running--
        this.#endPart(bulk, isWithoutRules === true)
      },
      (error: unknown) => {
        bulk.progress.running--
        this.#fail(bulk, error)
      },
    )
  }

  #runSearch(search: QueuedSearch): void {
    const index = this.#indexNow(search)
    if (index === null) return
    this.#schedule.beginWhole(search)
    this.#threads
      .run({ kind: 'search', index, search: search.job })
      .finally(() => this.#schedule.endWhole(search))
      .then(page => {
        // As before the response of a bulk, this checks that the state is not too old now.
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
        // After this result, the next large job can start.
        this.#giveOut()
      })
      .then(answer => {
        this.#options.engine(read.environmentId)
        read.resolve(answer)
      })
      .catch(read.reject)
  }

  /**
   * Returns the index for a job that might have waited long. Returns null if the job must not run any more;
   * it has then been rejected with the reason.
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

  #endPart(bulk: Bulk, isWithoutRules: boolean): void {
    if (!isWithoutRules) {
      if (bulk.state !== 'failed') bulk.state = 'has-rules'
      this.#schedule.cutOff(bulk)
    }
    this.#endIfDone(bulk)
  }

  #endIfDone(bulk: Bulk): void {
    if (!bulk.progress.isDone) return
    if (bulk.waiting.isGone) bulk.reject(abandoned())
    else if (bulk.state !== 'failed') this.#resolve(bulk)
    this.#memory.giveBack(bulk.shared.memory)
  }

  #resolve(bulk: Bulk): void {
    try {
      // The process might have been paused since the parts were started: the state of their decisions might
      // be too old for a response.
      this.#options.engine(bulk.environmentId)
      bulk.resolve(bulk.state === 'has-rules' ? decidedWithRules(bulk) : verdictsOf(bulk.shared).slice())
    } catch (error) {
      bulk.reject(error)
    }
  }

  /** If one part fails, the whole bulk fails. Its memory is reused when no thread writes to it any more. */
  #fail(bulk: Bulk, error: unknown): void {
    bulk.reject(error)
    bulk.state = 'failed'
    this.#schedule.cutOff(bulk)
    this.#endIfDone(bulk)
  }

  /**
   * Runs one of the queued searches and reads in this thread per event-loop iteration while the pool has no
   * threads.
   */
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

/** Decides all queries of the bulk with the rules that its environment has got, on a copy of the queries. */
function decidedWithRules({ shared, context, decideWithRules }: Bulk): Verdicts | Promise<Verdicts> {
  const packed = partOf(shared, { from: 0, count: shared.count })
  return decideWithRules((context === null ? packed : packed.in(context)).detached())
}
