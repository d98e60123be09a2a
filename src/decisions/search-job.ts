/** A search as a job, done by whichever thread has an engine. */
import type { DecisionEngine, KeyPage } from '#engine/engine.ts'
import type { SearchJob } from './decision-pool.ts'

export function searchWith(engine: DecisionEngine, { kind, question, page }: SearchJob): KeyPage {
  return kind === 'users' ? engine.searchUsers(question, page) : engine.searchResources(question, page)
}
