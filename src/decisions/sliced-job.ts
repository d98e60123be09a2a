/** Runs a sliced read as a job, on any thread that has an engine. */
import type { DecisionEngine } from '#engine/engine.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import type { SlicedAnswer, SlicedJob, SlicedJobs, SlicedKind } from './decision-pool.ts'
import { listAuthorizedUsers, listPermissions } from '#decisions/lists/listing.ts'
import { listPermissionEntries } from '#decisions/lists/permission-entries.ts'
import { listAllowedTenants, listUserTenants } from '#decisions/lists/tenant-lists.ts'
import { planInSlices } from '#decisions/plan/plan-job.ts'
import { decideInSlices } from '#decisions/rules/ruled-bulk.ts'
import { searchInSlices } from './search-job.ts'
import { received } from '#decisions/questions/sendable-query.ts'
import { explainDecisions } from '#decisions/rules/explained-decisions.ts'
import { trySamples } from '#decisions/rules/tried-conditions.ts'

type Doers = {
  readonly [Kind in SlicedKind]: (
    engine: DecisionEngine,
    job: SlicedJobs[Kind]['job'],
  ) => Resumable<SlicedJobs[Kind]['answer']>
}

const DOERS: Doers = {
  actions: (engine, { question }) => engine.searchActions(received(question)),
  decide: (engine, { question }) => decideInSlices(() => engine, received(question)),
  search: (engine, { search }) => searchInSlices(engine, search),
  plan: planInSlices,
  try: trySamples,
  explain: explainDecisions,
  permissions: (engine, job) =>
    job.page === null && job.requestAttributes === null
      ? listPermissions(engine, job)
      : listPermissionEntries(engine, job),
  'authorized-users': listAuthorizedUsers,
  'allowed-tenants': listAllowedTenants,
  'user-tenants': listUserTenants,
}

export function readWith<Kind extends SlicedKind>(
  engine: DecisionEngine,
  job: SlicedJob<Kind>,
): Resumable<SlicedAnswer<Kind>> {
  // The function in `DOERS` belongs to the kind of the job, but the compiler cannot infer that.
  const does = DOERS[job.kind] as (of: DecisionEngine, what: SlicedJob) => Resumable<SlicedAnswer<Kind>>
  return does(engine, job)
}
