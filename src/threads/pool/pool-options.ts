/** What a pool is made with. */
import type { DecisionEngine } from '#engine/engine.ts'
import type { JobIndex } from './pool-jobs.ts'

/** What the owner of a pool is told of its threads. */
export interface PoolThreadEvents {
  /** A job came upon what cannot be in its index, which has ended with that. */
  onIndexFault(fault: string): void
  /** A thread of the pool has ended that should not have. */
  onThreadEnd(threadId: number, error: Error): void
  /** Not all threads could be started: everything is done here until they are, at some later job. */
  onStartFailure(error: unknown): void
}

export interface JobPoolOptions extends PoolThreadEvents {
  /** The module that does the jobs, see `pool-jobs.ts`. */
  readonly entry: URL
  readonly threads: number
  /** Bulks, searches and reads that may wait or be under way at once. */
  readonly jobsMax: number
  /**
   * The environment's engine in this thread, and what another needs to have the same. Throws what a decision would: asked
   * when a job comes, when a part of it is begun, and before it is answered.
   */
  engine(environmentId: string): { readonly engine: DecisionEngine; readonly index: JobIndex }
}

/** The flags of this process that its threads need. Others, such as the size of the heap, are refused for a thread. */
export function workerFlags(): string[] {
  return process.execArgv.filter(flag => flag.startsWith('--disable-warning='))
}
