/** Runs a search as a job, on any thread that has an engine. */
import type { DecisionEngine, KeyPage } from '#engine/engine.ts'
import { type Resumable, runAtOnce } from '#scheduling/resumable.ts'
import type { SearchJob } from './decision-pool.ts'
import { received } from '#decisions/questions/sendable-query.ts'

/** Computes a page without pauses. Only for searches to which no rule applies. */
export function searchWith(engine: DecisionEngine, job: SearchJob): KeyPage {
  return runAtOnce(searchInSlices(engine, job))
}

export function searchInSlices(engine: DecisionEngine, job: SearchJob): Resumable<KeyPage> {
  const { page } = job
  if (job.kind === 'users') return engine.searchUsers(received(job.question), page)
  return engine.searchResources(received(job.question), page)
}
