/**
 * Manages the threads of a Piscina pool: starts them when there is work, watches them, and replaces a thread
 * that has died. The owner (`job-pool.ts`, `body-pool.ts`) decides which jobs they run, and in which order.
 */
import type { Transferable, Worker } from 'node:worker_threads'
import { Piscina } from 'piscina'
import { AuthzError, errorFromData, errorToData } from '#model/errors.ts'
import { SharedPause } from '#scheduling/shared-pause.ts'
import type { PoolAnswer, ThreadJob } from './pool-jobs.ts'
import { type PoolThreadEvents, workerFlags } from './pool-options.ts'

/** Minimum time between a failed start and the next attempt. */
const WARM_UP_PAUSE_MS = 1_000

export interface PoolThreadsOptions extends PoolThreadEvents {
  /** The module that runs the jobs. */
  readonly entry: URL
  readonly threads: number
  /** Jobs that a thread holds ahead of execution. */
  readonly jobsAhead: number
  /** Data that the threads have from the start. */
  readonly workerData?: object
  /**
   * Limit of a thread's heap. Above it, V8 collects garbage at any cost and then ends the thread. By default,
   * the limit of V8.
   */
  readonly heapMebibytesMax?: number
  /** All threads have started, or a thread has finished a job. */
  onFree(): void
  /** A thread has ended. Piscina does not report whether and when another one starts. */
  onCold(): void
}

export class PoolThreads<Job> {
  readonly #options: PoolThreadsOptions
  readonly #pool: Piscina<Job | ThreadJob, PoolAnswer<unknown>>
  readonly #watched = new WeakSet<object>()
  readonly #pause = new SharedPause()
  /** Jobs in the pool. Never more than its threads hold, so other jobs wait in the queue of the owner. */
  #running = 0
  /** Milliseconds that completed work took in all threads together. */
  #busyMs = 0
  #busyUntil = performance.now()
  #isWarm = false
  /** Aborts the start that is in progress; null if there is none. */
  #warmingUp: AbortController | null = null
  #warmUpNotBefore = 0
  #isClosed = false

  constructor(options: PoolThreadsOptions) {
    this.#options = options
    this.#pool = new Piscina({
      filename: options.entry.href,
      // Piscina tries `require` before `import`. If a thread is ended while it requires a module, the process
      // ends: V8 aborts ("IsGraphAsync") when Node queries modules that were not instantiated.
      execArgv: [...workerFlags(), '--no-experimental-require-module'],
      workerData: { ...options.workerData, pauseCell: this.#pause.cell },
      ...(options.heapMebibytesMax === undefined
        ? {}
        : { resourceLimits: { maxOldGenerationSizeMb: options.heapMebibytesMax } }),
      minThreads: 0,
      maxThreads: options.threads,
      idleTimeout: Number.POSITIVE_INFINITY,
      concurrentTasksPerWorker: options.jobsAhead,
      // An idle thread sleeps in `Atomics.wait` and runs no event loop, which is the fastest to wake. It
      // needs no messages between jobs, because each job contains its index (and `letGo` is a job).
      atomics: 'sync',
    })
    this.#pool.on('error', error => {
      // The code below notices the end of a thread that had started. A job for a thread that could not start
      // would wait forever.
      this.#warmingUp?.abort(error)
    })
    this.#pool.on('workerCreate', () => this.#watchThreads())
  }

  /** Whether all threads have started. Until then, no thread receives a job. */
  get isWarm(): boolean {
    return this.#isWarm
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Jobs that the threads have received and not finished. */
  get running(): number {
    return this.#running
  }

  /** Threads that have not ended; some might still be starting. */
  get list(): readonly Worker[] {
    return this.#pool.threads
  }

  /** Longest time since the last call for which a thread processed no other job, in milliseconds. */
  takeLongestPauseMs(): number {
    return this.#pause.takeMs()
  }

  /** Milliseconds that all threads have worked until now, together. */
  busyMs(): number {
    this.#changeRunning(0)
    return this.#busyMs
  }

  /**
   * Resolves with the result of the job. Rejects with the `AuthzError` that the job threw, with `OVERLOADED`
   * if its thread died or the pool was closed, and with a fault, already reported, if the index is broken.
   * The pool thread owns transferred memory afterwards.
   */
  async run(job: Job, transferList: Transferable[] = []): Promise<unknown> {
    this.#changeRunning(1)
    try {
      const answer = await this.#pool.run(job, { transferList: transferList as never })
      if ('error' in answer) throw errorFromData(answer.error)
      if ('indexFault' in answer) {
        this.#options.onIndexFault(answer.indexFault)
        throw errorFromData({ ...errorToData(null), isReported: true })
      }
      return answer.value
    } catch (error) {
      // An `AuthzError` comes from the job itself. Any other error comes from its thread, which died or was
      // ended.
      if (error instanceof AuthzError) throw error
      throw this.#isClosed ? shuttingDown() : new AuthzError('OVERLOADED', THREAD_ENDED)
    } finally {
      this.#changeRunning(-1)
      queueMicrotask(() => this.#options.onFree())
    }
  }

  /**
   * Makes the threads release an index that was replaced or removed. Otherwise they would release it only at
   * their next job.
   */
  letGo(): void {
    if (this.#pool.threads.length === 0 || this.#isClosed) return
    // Only with this number of jobs is it certain that every thread receives one, however busy each is.
    const jobs = Array.from({ length: this.#options.threads * this.#options.jobsAhead }, () => {
      return this.#pool.run({ kind: 'let-go' })
    })
    void Promise.allSettled(jobs)
  }

  /**
   * Starts the threads that have not started. Returns false if a start failed a moment ago or the pool is
   * closed.
   */
  warmUp(): boolean {
    if (this.#warmingUp !== null) return true
    if (this.#isClosed || performance.now() < this.#warmUpNotBefore) return false
    const warmingUp = new AbortController()
    this.#warmingUp = warmingUp
    const { signal } = warmingUp
    // If the system refuses to create a thread, this throws immediately. It is not a defect of the request
    // that needed the thread.
    const starts = Array.from({ length: this.#options.threads }, async () =>
      this.#pool.run({ kind: 'warm-up' }, { signal }),
    )
    for (const thread of this.#pool.threads) {
      if (this.#watched.has(thread)) continue
      // Piscina does not report a thread that ends by itself before it has started.
      thread.once('exit', code => {
        if (this.#warmingUp !== warmingUp) return
        warmingUp.abort(new Error(`a thread of the pool exited with code ${code} before all had started`))
      })
    }
    Promise.all(starts)
      .then(
        () => {
          this.#isWarm = true
        },
        (error: unknown) => {
          // A later job tries again.
          this.#warmUpNotBefore = performance.now() + WARM_UP_PAUSE_MS
          if (!this.#isClosed) this.#options.onStartFailure(signal.aborted ? signal.reason : error)
        },
      )
      .finally(() => {
        this.#warmingUp = null
        if (this.#isWarm) this.#options.onFree()
      })
    return true
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#pool.destroy()
  }

  #changeRunning(change: 1 | 0 | -1): void {
    const now = performance.now()
    this.#busyMs += this.#running * (now - this.#busyUntil)
    this.#busyUntil = now
    this.#running += change
  }

  #watchThreads(): void {
    for (const thread of this.#pool.threads) {
      if (this.#watched.has(thread)) continue
      this.#watched.add(thread)
      // The `Worker` no longer has the id after the thread has ended.
      const { threadId } = thread
      let reason: Error = new Error('a thread of the pool exited unexpectedly')
      thread.once('error', error => {
        reason = error as Error
      })
      thread.once('exit', () => {
        if (this.#isClosed) return
        this.#isWarm = false
        this.#options.onThreadEnd(threadId, reason)
        setImmediate(() => this.#options.onCold())
      })
    }
  }
}

/** Figures of queued and completed work of pools. */
export interface PoolFigures {
  readonly jobs: number
  readonly threads: number
  readonly busySeconds: number
}

export function sumOf(one: PoolFigures, other: PoolFigures): PoolFigures {
  return {
    jobs: one.jobs + other.jobs,
    threads: one.threads + other.threads,
    busySeconds: one.busySeconds + other.busySeconds,
  }
}

const THREAD_ENDED = 'the thread that processed this request exited; try again'

export function shuttingDown(): AuthzError {
  return new AuthzError('OVERLOADED', 'this node is stopping; try another node')
}
