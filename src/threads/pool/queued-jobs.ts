/** Jobs of a pool: the query of each job, the caller that waits for the result, and its progress. */
import type { Leaver, SearchJob, SlicedJob, Waiting } from '#decisions/decision-pool.ts'
import type { KeyPage } from '#engine/engine.ts'
import type { BulkProgress } from './bulk-parts.ts'
import type { ScheduledJob } from './job-schedule.ts'
import type { SharedBulk } from './pool-jobs.ts'

export interface Outcome<Value> {
  readonly resolve: (value: Value) => void
  readonly reject: (error: unknown) => void
}

export interface Bulk extends Outcome<Uint8Array>, ScheduledJob {
  readonly kind: 'bulk'
  readonly environmentId: string
  readonly shared: SharedBulk
  readonly progress: BulkProgress
  readonly waiting: Waiting
}

export interface Search extends Outcome<KeyPage>, ScheduledJob {
  readonly kind: 'search'
  readonly environmentId: string
  readonly job: SearchJob
  readonly progress: null
  readonly waiting: Waiting
}

export interface Read extends Outcome<unknown>, ScheduledJob {
  readonly kind: 'read'
  readonly environmentId: string
  readonly job: SlicedJob
  readonly progress: null
  readonly waiting: Leaver
}

export type Job = Bulk | Search | Read

/** Whether the result of a read can have the maximum size of a list. */
export function isLarge({ kind }: SlicedJob): boolean {
  return kind !== 'actions' && kind !== 'decide' && kind !== 'explain' && kind !== 'search'
}
