/** Jobs of a pool: the query of each job, the caller that waits for the result, and its progress. */
import type { DecideWithRules, SearchJob, SlicedJob } from '#decisions/decision-pool.ts'
import type { CancelableClient, WaitingClient } from '#model/caller.ts'
import type { KeyPage } from '#engine/engine.ts'
import type { PackedContext } from '#model/packed-queries.ts'
import type { Verdicts } from '#model/question.ts'
import type { BulkProgress } from './bulk-parts.ts'
import type { ScheduledJob } from './job-schedule.ts'
import type { SharedBulk } from './pool-jobs.ts'

export interface JobOutcome<Value> {
  readonly resolve: (value: Value) => void
  readonly reject: (error: unknown) => void
}

export interface Bulk extends JobOutcome<Verdicts | Promise<Verdicts>>, ScheduledJob {
  readonly kind: 'bulk'
  readonly shared: SharedBulk
  /** The data for conditions, in the shared memory. Null if the queries have none. */
  readonly context: PackedContext | null
  readonly progress: BulkProgress
  readonly waiting: WaitingClient
  readonly decideWithRules: DecideWithRules
  /** `by-roles`, until a part finds rules or fails. Then no further part is started. */
  state: 'by-roles' | 'has-rules' | 'failed'
}

export interface QueuedSearch extends JobOutcome<KeyPage>, ScheduledJob {
  readonly kind: 'search'
  readonly job: SearchJob
  readonly progress: null
  readonly waiting: WaitingClient
}

export interface Read extends JobOutcome<unknown>, ScheduledJob {
  readonly kind: 'read'
  readonly job: SlicedJob
  readonly progress: null
  readonly waiting: CancelableClient
}

export type Job = Bulk | QueuedSearch | Read

/** Whether the result of a read can have the maximum size of a list. */
export function isLarge({ kind }: SlicedJob): boolean {
  return kind !== 'actions' && kind !== 'decide' && kind !== 'explain' && kind !== 'search'
}
