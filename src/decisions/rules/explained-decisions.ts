/** Explains decisions in slices, on any thread that has an engine. */
import type { DecisionEngine } from '#engine/engine.ts'
import type { RuleDetail } from '#engine/explanation.ts'
import { AuthzError } from '#model/errors.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { reasonsOf, type ExplainedDecision } from './decision-debug.ts'
import { explainRules } from './rule-explanations.ts'
import { received, type SendableQuery } from '#decisions/questions/sendable-query.ts'

/**
 * Minimum number of steps for each of several explanations, even if earlier ones have used all steps. It is
 * sufficient for typical models.
 */
const STEPS_MIN = 64

export interface ExplainJob {
  readonly kind: 'explain'
  readonly queries: readonly SendableQuery[]
  /** Maximum number of steps: per graph search, and for all explanations together. */
  readonly stepsMax: number
  /** Maximum number of characters for all explanations together. */
  readonly lengthMax: number
  /** Detail for rules. With `none`, the reasons contain only rules that allow. */
  readonly detail: RuleDetail
}

export interface ExplainedDecisions {
  readonly decisions: readonly ExplainedDecision[]
  /** Number of steps that all explanations together have used. */
  readonly steps: number
}

/** Explains the decisions of a job. Throws `LIMIT_EXCEEDED` if the explanations have too many characters. */
export function* explainDecisions(engine: DecisionEngine, job: ExplainJob): Resumable<ExplainedDecisions> {
  const decisions: ExplainedDecision[] = []
  let steps = 0
  let length = 0
  for (const query of job.queries.map(received)) {
    if (decisions.length > 0) yield
    const stepsMax = Math.max(STEPS_MIN, job.stepsMax - steps)
    const explanation = yield* engine.explain(query, stepsMax, job.detail)
    const { allow, tenant, known } = explanation
    const reasons = JSON.stringify(reasonsOf(query, explanation)).slice(1, -1)
    steps += explanation.steps
    length += reasons.length
    if (length > job.lengthMax) throw explanationTooLong()
    const isRuled = job.detail !== 'none' && explanation.rules.count
    const rules = isRuled ? yield* explainRules(explanation.rules, job.lengthMax - length) : null
    length += rules?.length ?? 0
    decisions.push({ allow, tenant, isUserKnown: known.user, reasons, rules })
  }
  return { decisions, steps }
}

function explanationTooLong(): AuthzError {
  return new AuthzError(
    'LIMIT_EXCEEDED',
    'the explanations of these decisions are too large; send fewer checks per request, or disable DEBUG_DECISIONS',
    { limit: 'batch' },
  )
}
