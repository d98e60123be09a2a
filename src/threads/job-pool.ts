/**
 * The Piscina pool beside an HTTP thread: it takes large bulks, searches and long reads, so that none keeps single decisions waiting,
 * and so that one large bulk is worked on by several cores.
 *
 *     bulk ─► copied once into shared memory ─► parts, in order ─► pool threads, some parts ahead
 *                                                             └──► this thread, a small part each turn
 *
 * Parts are given out as they are done, so whoever is faster does more, and what nobody waits for any
 * more is dropped before it is begun: a job that runs is never interrupted, since Piscina would end its thread for that.
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
import { MemoryStock } from './memory-stock.ts'
import {
  LONE_PARTS_AHEAD,
  OWN_PART_CHECKS,
  PARTS_AHEAD,
  POOLED_CHECKS_MIN,
  POOL_PART_CHECKS_MAX,
  POOL_PART_CHECKS_MIN,
} from './part-sizes.ts'
import {
  type BulkPart,
  decidePart,
  type JobIndex,
  markOver,
  newOver,
  placesOf,
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
  /** Not begun, or begun and with parts left, the oldest first. */
  readonly #queue: Job[] = []
  #jobCount = 0
  /** Reads whose answers may be large, in the pool: one a thread, for what they keep while they are made. */
  #largeRunning = 0
  /** What is read here while the pool has no threads. */
  readonly #readsHere: SlicedReads
  #isTurnPlanned = false

  constructor(options: JobPoolOptions) {
    this.#options = options
    this.#readsHere = new SlicedReads(options.jobsMax)
    this.#threads = new PoolThreads({
      ...options,
      jobsAhead: PARTS_AHEAD,
      onFree: () => this.#giveOut(),
      onCold: () => this.#searchHere(),
    })
  }

  /** Whether its threads have started; until then this thread does everything. */
  get isWarm(): boolean {
    return this.#threads.isWarm
  }

  /** How much it has to do, and has done. */
  figures(): PoolFigures {
    const { list } = this.#threads
    return { jobs: this.#jobCount, threads: list.length, busySeconds: this.#threads.busyMs() / 1_000 }
  }

  /** Those that have not ended; some may still be starting. */
  get threads(): readonly Worker[] {
    return this.#threads.list
  }

  evaluate(environmentId: string, packed: PackedQueries, waiting: Waiting): Promise<Uint8Array> {
    this.#options.engine(environmentId)
    this.#admit()
    const memory = this.#memory.take(placesOf(packed.count, packed.bytes.byteLength).end)
    const shared = shareBulk(packed, memory)
    return this.#queued<Uint8Array>(outcome => {
      const job = { environmentId, shared, next: 0, running: 0, waiting, ...outcome }
      return { kind: 'bulk', ...job }
    })
  }

  search(environmentId: string, job: SearchJob, waiting: Waiting): Promise<KeyPage> {
    const { engine } = this.#options.engine(environmentId)
    if (!this.isWarm) {
      this.#threads.warmUp()
      return Promise.resolve(searchWith(engine, job))
    }
    this.#admit()
    return this.#queued<KeyPage>(outcome => ({ kind: 'search', environmentId, job, waiting, ...outcome }))
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
      waiting,
      // Whoever did the job has answered it.
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

  /** An index was replaced or taken back: has the threads let go of it, which they would only at their next job. */
  letGo(): void {
    this.#threads.letGo()
  }

  /** Ends the threads; what waits is refused. */
  async close(): Promise<void> {
    const closed = this.#threads.close()
    for (const job of this.#queue.splice(0)) job.reject(shuttingDown())
    await closed
  }

  #admit(): void {
    if (this.#threads.isClosed) throw shuttingDown()
    if (this.#jobCount >= this.#options.jobsMax) this.#dropAbandoned()
    if (this.#jobCount >= this.#options.jobsMax) {
      throw tooManyReads()
    }
  }

  /** Queues a job; it counts until it has its first outcome. */
  #queued<Value>(jobWith: (outcome: Outcome<Value>) => Job): Promise<Value> {
    // Only here: there may have been no memory for what was admitted.
    this.#jobCount++
    return new Promise((resolve, reject) => {
      let isOver = false
      const end = (settle: () => void): void => {
        if (isOver) return
        isOver = true
        this.#jobCount--
        settle()
      }
      this.#queue.push(
        jobWith({
          resolve: value => end(() => resolve(value)),
          reject: error => end(() => reject(error as Error)),
        }),
      )
      this.#giveOut()
    })
  }

  /** Forgets what nobody waits for and nobody has begun. */
  #dropAbandoned(): void {
    for (const job of this.#queue.filter(({ waiting }) => waiting.isGone)) this.#drop(job)
  }

  #drop(job: Job): void {
    this.#remove(job)
    if (job.kind !== 'bulk') job.reject(nobodyWaits())
    else {
      job.next = job.shared.count
      this.#endIfDone(job)
    }
  }

  /** Gives the threads of the pool the next parts of what waits; the rest is done here, turn by turn. */
  #giveOut(): void {
    if (this.#queue.length > 0 && !this.isWarm) this.#threads.warmUp()
    const partsAhead = this.#jobCount > 1 ? PARTS_AHEAD : LONE_PARTS_AHEAD
    while (this.isWarm && this.#threads.running < this.#options.threads * partsAhead) {
      const job = this.#nextJob()
      if (job === null) break
      if (job.kind === 'search') this.#runSearch(job)
      else if (job.kind === 'read') this.#runRead(job)
      else this.#runPart(job)
    }
    if (!this.#isTurnPlanned && this.#queue.some(({ kind }) => kind === 'bulk')) {
      this.#isTurnPlanned = true
      // Between two parts the event loop turns: single decisions that have come meanwhile go first.
      setImmediate(() => this.#takeTurn())
    }
  }

  /** The oldest that somebody waits for and that may begin. */
  #nextJob(): Job | null {
    for (let place = 0; place < this.#queue.length;) {
      const job = this.#queue[place]!
      if (job.waiting.isGone) this.#drop(job)
      else if (isLarge(job) && this.#largeRunning >= this.#options.threads) place += 1
      else return job
    }
    return null
  }

  #takeTurn(): void {
    this.#isTurnPlanned = false
    this.#nextJob()
    const bulk = this.#queue.find(({ kind }) => kind === 'bulk') as Bulk | undefined
    if (bulk !== undefined) {
      const part = this.#begin(bulk, OWN_PART_CHECKS)
      try {
        // The engine as it is now: one that was taken back meanwhile decides nothing any more.
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
    const part = this.#begin(bulk, this.#partChecks(bulk))
    bulk.running++
    this.#threads.run({ kind: 'checks', index, bulk: bulk.shared, part }).then(
      () => {
        bulk.running--
        this.#endIfDone(bulk)
      },
      (error: unknown) => {
        bulk.running--
        this.#fail(bulk, error)
      },
    )
  }

  /** Smaller towards the end, so that nobody has a large part left; those ahead at the end are half of the bulk at most. */
  #partChecks({ shared, next }: Bulk): number {
    const { threads } = this.#options
    const fewest = Math.min(POOL_PART_CHECKS_MIN, shared.count / (2 * PARTS_AHEAD * threads))
    const share = (shared.count - next) / (2 * (threads + 1))
    // The engine decides so many at a time.
    const checks = Math.ceil(Math.max(share, fewest) / OWN_PART_CHECKS) * OWN_PART_CHECKS
    return Math.min(POOL_PART_CHECKS_MAX, checks)
  }

  #runSearch(search: Search): void {
    const index = this.#indexNow(search)
    if (index === null) return
    this.#remove(search)
    this.#threads
      .run({ kind: 'search', index, search: search.job })
      .then(page => {
        // As for a bulk: it may be too old by now.
        this.#options.engine(search.environmentId)
        search.resolve(page as KeyPage)
      })
      .catch(search.reject)
  }

  #runRead(read: Read): void {
    const index = this.#indexNow(read)
    if (index === null) return
    this.#remove(read)
    const over = newOver()
    read.waiting.whenOver(() => markOver(over))
    const count = isLarge(read) ? 1 : 0
    this.#largeRunning += count
    this.#threads
      .run({ kind: 'read', index, read: read.job, over })
      .finally(() => {
        this.#largeRunning -= count
        // Behind that the next large one may begin.
        this.#giveOut()
      })
      .then(answer => {
        this.#options.engine(read.environmentId)
        read.resolve(answer)
      })
      .catch(read.reject)
  }

  /** What a job is to be decided on that may have waited for long; null if by now it must not be: it is answered so. */
  #indexNow(job: Job): JobIndex | null {
    try {
      return this.#options.engine(job.environmentId).index
    } catch (error) {
      if (job.kind === 'bulk') this.#fail(job, error)
      else {
        this.#remove(job)
        job.reject(error)
      }
      return null
    }
  }

  /** Takes the next questions of a bulk, which leaves the queue with its last ones. */
  #begin(bulk: Bulk, checksMax: number): BulkPart {
    const from = bulk.next
    const count = Math.min(checksMax, bulk.shared.count - from)
    bulk.next += count
    if (bulk.next === bulk.shared.count) this.#remove(bulk)
    return { from, count }
  }

  #endIfDone(bulk: Bulk): void {
    if (bulk.next < bulk.shared.count || bulk.running > 0) return
    if (bulk.waiting.isGone) bulk.reject(nobodyWaits())
    else this.#resolve(bulk)
    this.#memory.giveBack(bulk.shared.memory)
  }

  #resolve(bulk: Bulk): void {
    try {
      // The process may have been stopped since its parts were begun: what it knew then may be too old to be told.
      this.#options.engine(bulk.environmentId)
      bulk.resolve(verdictsOf(bulk.shared).slice())
    } catch (error) {
      bulk.reject(error)
    }
  }

  /** One bad part is the answer to the whole; its memory is used again when no thread writes into it any more. */
  #fail(bulk: Bulk, error: unknown): void {
    bulk.reject(error)
    this.#remove(bulk)
    bulk.next = bulk.shared.count
    this.#endIfDone(bulk)
  }

  #remove(job: Job): void {
    const place = this.#queue.indexOf(job)
    if (place >= 0) this.#queue.splice(place, 1)
  }

  /** Does the searches and reads that wait as one that came now would be done, one a turn, as long as the pool has no threads. */
  #searchHere(): void {
    this.#nextJob()
    const job = this.#queue.find(({ kind }) => kind !== 'bulk') as Search | Read | undefined
    if (job === undefined || this.isWarm) return
    this.#remove(job)
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
