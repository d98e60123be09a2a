/** Options for the creation of a pool. */
import type { DecisionEngine } from '#engine/engine.ts'
import type { ThreadScheduler } from '#scheduling/thread-scheduler.ts'
import type { JobIndex } from './pool-jobs.ts'

/** Events of its threads that the owner of a pool receives. */
export interface PoolThreadEvents {
  /** A job found a fault in its index, which has been retired for that reason. */
  onIndexFault(fault: string): void
  /** A thread of the pool has ended unexpectedly. */
  onThreadEnd(threadId: number, error: Error): void
  /** Not all threads could be started. This thread does all work until a later job starts them. */
  onStartFailure(error: unknown): void
}

export interface JobPoolOptions extends PoolThreadEvents {
  /** The module that runs the jobs, see `pool-jobs.ts`. */
  readonly entry: URL
  readonly threads: number
  /** Limit of bulks, searches and reads that are queued or in progress. */
  readonly jobsMax: number
  /** Runs reads in this thread while the pool has no threads. */
  readonly sliced: ThreadScheduler
  /**
   * Returns the engine of the environment in this thread, and the data that another thread needs to use the
   * same index. Throws the same errors as a decision. Called when a job arrives, when a part of it starts,
   * and before its response.
   */
  engine(environmentId: string): { readonly engine: DecisionEngine; readonly index: JobIndex }
}

/**
 * Flags of this process that its threads need. Node rejects other flags for a thread, such as the heap size.
 */
export function workerFlags(): string[] {
  return process.execArgv.filter(flag => flag.startsWith('--disable-warning='))
}
