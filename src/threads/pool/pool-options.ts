/** The options that a pool is made with. */
import type { DecisionEngine } from '#engine/engine.ts'
import type { JobIndex } from './pool-jobs.ts'

/** Events of its threads that the owner of a pool is told. */
export interface PoolThreadEvents {
  /** A job found a fault in its index, which has been retired for that. */
  onIndexFault(fault: string): void
  /** A thread of the pool has ended unexpectedly. */
  onThreadEnd(threadId: number, error: Error): void
  /** Not all threads could be started. This thread does everything until a later job starts them. */
  onStartFailure(error: unknown): void
}

export interface JobPoolOptions extends PoolThreadEvents {
  /** The module that does the jobs, see `pool-jobs.ts`. */
  readonly entry: URL
  readonly threads: number
  /** Ceiling of bulks, searches and reads that wait or are under way at once. */
  readonly jobsMax: number
  /**
   * The environment's engine in this thread, and what another thread needs to have the same. Throws what a decision would
   * throw. Called when a job comes, when a part of it is begun, and before it is answered.
   */
  engine(environmentId: string): { readonly engine: DecisionEngine; readonly index: JobIndex }
}

/** The flags of this process that its threads need. Node refuses others for a thread, such as the size of the heap. */
export function workerFlags(): string[] {
  return process.execArgv.filter(flag => flag.startsWith('--disable-warning='))
}
