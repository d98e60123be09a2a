/** What waits in a pool, or is under way there, for whom, and how far it has come. */
import type { Leaver, SearchJob, SlicedJob, Waiting } from '#decisions/decision-pool.ts'
import type { KeyPage } from '#engine/engine.ts'
import type { SharedBulk } from './pool-jobs.ts'

export interface Outcome<Value> {
  readonly resolve: (value: Value) => void
  readonly reject: (error: unknown) => void
}

export interface Bulk extends Outcome<Uint8Array> {
  readonly kind: 'bulk'
  readonly environmentId: string
  readonly shared: SharedBulk
  /** The next question nobody has begun. */
  next: number
  /** Parts under way in the pool. */
  running: number
  readonly waiting: Waiting
}

export interface Search extends Outcome<KeyPage> {
  readonly kind: 'search'
  readonly environmentId: string
  readonly job: SearchJob
  readonly waiting: Waiting
}

export interface Read extends Outcome<unknown> {
  readonly kind: 'read'
  readonly environmentId: string
  readonly job: SlicedJob
  readonly waiting: Leaver
}

export type Job = Bulk | Search | Read

/** Whether its answer may be as large as a list may be. */
export function isLarge(job: Job): boolean {
  return job.kind === 'read' && (job.job.kind === 'permissions' || job.job.kind === 'authorized-users')
}
