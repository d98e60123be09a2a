/** Asks engines questions that consist of queries. */
import type { DecisionEngine } from '#engine/engine.ts'
import type { Query } from '#model/decision.ts'
import { TextQuestion } from '#model/question.ts'

export function evaluateAll(
  engine: Pick<DecisionEngine, 'evaluateAll'>,
  queries: readonly Query[],
): boolean[] {
  return Array.from(engine.evaluateAll(new TextQuestion(queries)), verdict => verdict === 1)
}
