/** Creates checks whose decisions are confirmed by plain Maps, and evaluates them in passes. */
import type { DecisionEngine } from '#engine/engine.ts'
import type { Query } from '#model/decision.ts'
import type { Dataset } from '#testing/data/dataset.ts'
import { Random } from '#testing/data/random.ts'
import { TextQuestion } from '#model/question.ts'

/** An engine, or plain Maps. */
export type Evaluator = Pick<DecisionEngine, 'evaluate' | 'evaluateAll'>

export const BATCH = 1_000

/** Returns `count` allowed and `count` denied checks. The baseline determines the decisions. */
export function questionsOf(
  dataset: Dataset,
  baseline: Evaluator,
  count: number,
): { allowed: Query[]; denied: Query[]; mixed: Query[] } {
  const allowed = dataset
    .candidates(count * 2, 'allowed')
    .filter(q => baseline.evaluate(q))
    .slice(0, count)
  const denied = dataset
    .candidates(count * 2, 'denied')
    .filter(q => !baseline.evaluate(q))
    .slice(0, count)
  if (allowed.length < count || denied.length < count)
    throw new Error(`${dataset.name} has too few questions`)
  return { allowed, denied, mixed: shuffled([...allowed, ...denied]) }
}

/** Copies the checks with new strings, as if they were received in a request. */
export function fresh(queries: readonly Query[]): Query[] {
  return JSON.parse(JSON.stringify(queries)) as Query[]
}

/** Evaluates the checks one by one. Returns nanoseconds per check. */
export function timeSingle(engine: Evaluator, queries: readonly Query[]): number {
  let allowed = 0
  const start = performance.now()
  for (const query of queries) if (engine.evaluate(query)) allowed++
  const elapsed = performance.now() - start
  if (allowed < 0) throw new Error('unreachable: keeps the answers in use')
  return (elapsed * 1e6) / queries.length
}

/** Evaluates the checks in batches of 1,000. Returns nanoseconds per check. */
export function timeStaged(engine: Evaluator, queries: readonly Query[]): number {
  const batches: Query[][] = []
  for (let from = 0; from < queries.length; from += BATCH) batches.push(queries.slice(from, from + BATCH))
  let answers = 0
  const start = performance.now()
  for (const batch of batches) answers += engine.evaluateAll(new TextQuestion(batch)).length
  const elapsed = performance.now() - start
  if (answers !== queries.length) throw new Error('every question is answered')
  return (elapsed * 1e6) / queries.length
}

/** Evaluates each check alone and in a batch. Throws if the engines disagree. */
export function verifyAnswers(engine: Evaluator, baseline: Evaluator, queries: readonly Query[]): void {
  const together = engine.evaluateAll(new TextQuestion(queries))
  for (const [index, query] of queries.entries()) {
    const right = baseline.evaluate(query)
    if (engine.evaluate(query) !== right || (together[index] === 1) !== right) {
      throw new Error(`wrong answer, right is ${right}: ${JSON.stringify(query)}`)
    }
  }
}

function shuffled<T>(items: T[]): T[] {
  new Random(99).shuffle(items)
  return items
}
