/** Computes a plan as a job, on any thread that has an engine (filter.md). */
import type { DecisionEngine } from '#engine/engine.ts'
import { StateChanged } from '#engine/plan-reads.ts'
import { received } from '#decisions/questions/sendable-query.ts'
import { AuthzError } from '#model/errors.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import type { PlanAnswer, PlanJob, PlannedQuestion } from './planned-question.ts'
import { Planner } from './planner.ts'

/** Maximum number of attempts. Each state change during an attempt begins a new one. */
const ATTEMPTS_MAX = 30

export function* planInSlices(engine: DecisionEngine, job: PlanJob): Resumable<PlanAnswer> {
  const question = received(job.question) as PlannedQuestion
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    try {
      return yield* new Planner(engine.planReader(), question).plan()
    } catch (error) {
      if (!(error instanceof StateChanged)) throw error
    }
    yield
  }
  throw new AuthzError(
    'OVERLOADED',
    'this environment changes too fast for a plan of this size; try again shortly, or use a search',
    { limit: 'plan' },
  )
}
