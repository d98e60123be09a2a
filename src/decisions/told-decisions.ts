/** Decisions with the reasons for them, made in slices by whichever thread has an engine. */
import type { DecisionEngine } from '#engine/engine.ts'
import type { RuleDetail } from '#engine/explanation.ts'
import { AuthzError } from '#model/errors.ts'
import type { Resumable } from '#model/resumable.ts'
import { reasonsOf, type ToldDecision } from './decision-debug.ts'
import { tellRules } from './rules-told.ts'
import { received, type SendableQuery } from './sendable-query.ts'

/** Steps that each of many has, however many were made for those before: enough for what is usual. */
const STEPS_MIN = 64

export interface ExplainJob {
  readonly kind: 'explain'
  readonly queries: readonly SendableQuery[]
  /** For each walk of one of them, and for all of them together. */
  readonly stepsMax: number
  /** Most characters that are told, all together. */
  readonly lengthMax: number
  /** Of rules. With `none`, reasons name those that allow. */
  readonly detail: RuleDetail
}

export interface ToldDecisions {
  readonly decisions: readonly ToldDecision[]
  /** Made for all of them together. */
  readonly steps: number
}

/** Throws `LIMIT_EXCEEDED` where telling them takes too many characters. */
export function* tellDecisions(engine: DecisionEngine, job: ExplainJob): Resumable<ToldDecisions> {
  const decisions: ToldDecision[] = []
  let steps = 0
  let length = 0
  for (const query of job.queries.map(received)) {
    if (decisions.length > 0) yield
    const stepsMax = Math.max(STEPS_MIN, job.stepsMax - steps)
    const explanation = yield* engine.explain(query, stepsMax, job.detail)
    const { allow, tenant, known } = explanation
    const reasons = JSON.stringify(reasonsOf(query, explanation, engine.hasRules())).slice(1, -1)
    steps += explanation.steps
    length += reasons.length
    if (length > job.lengthMax) throw tooMuchToTell()
    const isRuled = job.detail !== 'none' && explanation.rules.count > 0
    const rules = isRuled ? yield* tellRules(explanation.rules, job.lengthMax - length) : null
    length += rules?.length ?? 0
    decisions.push({ allow, tenant, isUserKnown: known.user, reasons, rules })
  }
  return { decisions, steps }
}

function tooMuchToTell(): AuthzError {
  return new AuthzError(
    'LIMIT_EXCEEDED',
    'explaining all of these decisions takes too much text; ask for fewer at once, or without DEBUG_DECISIONS',
    { limit: 'batch' },
  )
}
