/** Evaluates condition sets on samples, in slices, on any thread that has an engine. */
import type { DecisionEngine, TriedQuestion, WrittenConditions } from '#engine/engine.ts'
import type { TriedConditions } from '#engine/explanation.ts'
import type { SentAttributes } from '#model/decision.ts'
import { jsonBytes } from '#model/text/json-text.ts'
import { TRIED_TESTS_BYTES_MAX } from '#model/limits.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { explainedTestItem } from '#model/wire/decisions/explained-rule.ts'
import type { ConditionTrial, TriedSample, TriedTest } from '#entities/tried-set.ts'

/** Number of tests that are written between two pauses. */
const TESTS_AT_ONCE = 32

export interface TryJob {
  readonly kind: 'try'
  readonly trial: ConditionTrial
}

export interface TriedSamples {
  readonly samples: TriedSample[]
  /** Indexes of the samples whose conditions exceed the step limit of a query. */
  readonly overBudget: readonly number[]
}

type TriedTree = TriedConditions['trees'][number]

export function* trySamples(engine: DecisionEngine, { trial }: TryJob): Resumable<TriedSamples> {
  const { sets, samples: asked, readAt } = trial
  const samples: TriedSample[] = []
  const overBudget: number[] = []
  let bytesLeft = TRIED_TESTS_BYTES_MAX
  for (const [index, { head, question, sent }] of asked.entries()) {
    // Pauses first, because the thread that receives the request only starts this work.
    yield
    if (question === null) {
      samples.push({ ...head, conditions: [] })
      continue
    }
    const conditions = sets.map(set => set.conditions as WrittenConditions)
    const tried = yield* engine.tryConditions(asQuestion(question, sent, readAt), conditions)
    const bytesMax = Math.floor(bytesLeft / (asked.length - index))
    const { tests, bytes, hasMore } = yield* testsOf(tried.trees, sets, bytesMax)
    bytesLeft -= bytes
    samples.push({ ...head, value: tried.value, conditions: tests, ...(hasMore && { more: true as const }) })
    if (tried.isOverBudget) overBudget.push(index)
  }
  return { samples, overBudget }
}

function asQuestion(
  question: Omit<TriedQuestion, 'queryContext'>,
  sent: SentAttributes,
  readAt: number,
): TriedQuestion {
  return { ...question, queryContext: { readAt, sent: () => sent } }
}

function* testsOf(
  trees: readonly TriedTree[],
  sets: ConditionTrial['sets'],
  bytesMax: number,
): Resumable<{ readonly tests: TriedTest[]; readonly bytes: number; readonly hasMore: boolean }> {
  const tests: TriedTest[] = []
  let bytes = 0
  for (const [index, tree] of trees.entries()) {
    for (const test of testsIn(tree)) {
      const item = { ...explainedTestItem(test), ...(index > 0 && { set: sets[index]!.key }) }
      const added = jsonBytes(item, bytesMax - bytes)
      if (bytes + added > bytesMax) return { tests, bytes, hasMore: true }
      bytes += added
      tests.push(item)
      if (tests.length % TESTS_AT_ONCE === 0) yield
    }
  }
  return { tests, bytes, hasMore: false }
}

/** Returns the tests of a tree, in their written order. */
function* testsIn(tree: TriedTree): Iterable<Exclude<TriedTree, { readonly connective: unknown }>> {
  if (!('connective' in tree)) yield tree
  else for (const item of tree.items) yield* testsIn(item)
}
