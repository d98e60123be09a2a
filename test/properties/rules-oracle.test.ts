/** Rules on random worlds: engines decide like the oracle, which interprets the conditions as JSON. */
import { describe, expect, test } from 'vitest'
import type { Explanation } from '#engine/explanation.ts'
import { evaluate } from '#conditions/evaluate.ts'
import { EvaluationBudget } from '#conditions/values/evaluation-budget.ts'
import { valueAt } from '#conditions/values/paths.ts'
import { isRefused, readCondition } from '#conditions/read-condition.ts'
import { nameOfTruth } from '#conditions/values/truth.ts'
import { runAtOnce } from '#scheduling/resumable.ts'
import { compiledTruth, withTime } from '#testing/engines/compiled-conditions.ts'
import { truthOf } from '#testing/oracle/conditions/conditions.ts'
import { Oracle } from '#testing/oracle/oracle.ts'
import { storedAmong } from '#testing/oracle/random-attributes.ts'
import { type Case, cases } from '#testing/oracle/random-conditions.ts'
import type { History } from '#testing/oracle/random-history.ts'
import { historiesWithRules } from '#testing/oracle/random-rules.ts'
import { ENGINES, STRAINED_ENGINES } from '../engine/engines.ts'
import { holdsFor, onceFor } from './seeded.ts'
import { evaluateAll } from '#testing/engines/packed.ts'

test('a condition has the value that the oracle computes from its JSON', () => {
  const counts = { true: 0, false: 0, unknown: 0 }
  const property = ({ conditions, roots, instances }: Case): void => {
    const condition = readCondition(conditions, [])
    if (isRefused(condition)) throw new Error(JSON.stringify(condition.findings))
    const stored = storedAmong(instances)
    const values = {
      valueOf: ({ root, names }: { root: keyof typeof roots; names: readonly string[] }) =>
        valueAt(roots[root], names),
      attributesOf: (type: string, key: string) => stored(type, key) as Record<string, unknown> | undefined,
    }
    const value = nameOfTruth(evaluate(condition, values, new EvaluationBudget()))
    expect(value).toBe(truthOf(conditions, roots, stored))
    counts[value]++
  }
  holdsFor(cases(), { runs: 5_000, met: counts, least: { true: 50, false: 50, unknown: 50 } }, property)
})

test('a compiled condition has the same value whether attributes are stored, in the request, or both', () => {
  const counts = { true: 0, false: 0, unknown: 0 }
  const property = ({ conditions, roots, instances }: Case): void => {
    const stored = storedAmong(instances)
    const timed = withTime(roots)
    const right = truthOf(conditions, timed.roots, stored)
    for (const place of ['stored', 'sent', 'both'] as const) {
      expect(compiledTruth(conditions, timed, stored, place)).toBe(right)
    }
    counts[right]++
  }
  holdsFor(cases(), { runs: 1_500, met: counts, least: { true: 15, false: 15, unknown: 15 } }, property)
})

/** Few runs suffice, because the engines evaluate rules with the same code. */
const RUNS = 25
const STEPS_MAX = 1_000_000

/** Decision of each query in each state of a history, and the decision by roles alone. */
const judged = onceFor(({ load, commits, queries }: History) => {
  const oracle = new Oracle()
  const withoutRules = new Oracle()
  return [load, ...commits].map(changes => {
    oracle.apply(changes)
    withoutRules.apply(changes.filter(({ kind }) => kind !== 'rule-put'))
    return queries.map(query => ({
      isAllowed: oracle.evaluate(query),
      isByRoles: withoutRules.evaluate(query),
    }))
  })
})

describe.each([...ENGINES, ...STRAINED_ENGINES])('$name', ({ newEngine, share }) => {
  test('decides by roles and rules like the oracle, one by one and in bulk, with consistent explanations', () => {
    const met = { byRules: 0 }
    const run = { runs: RUNS, share, met, least: { byRules: 1 } }
    holdsFor(historiesWithRules({ commits: 4, queries: 12 }), run, history => {
      const { load, commits, queries } = history
      const engine = newEngine()
      for (const [index, changes] of [load, ...commits].entries()) {
        engine.apply(changes)
        const answers = judged(history)[index]!
        const expected = answers.map(({ isAllowed }) => isAllowed)
        expect(queries.map(query => engine.evaluate(query))).toEqual(expected)
        expect(evaluateAll(engine, queries)).toEqual(expected)
        for (const [number, { isAllowed, isByRoles }] of answers.entries()) {
          const explained = runAtOnce(engine.explain(queries[number]!, STEPS_MAX, 'tree'))
          expectExplained(explained, isAllowed)
          expect(explained.isAllowedByRoles).toBe(isAllowed && isByRoles)
          if (isAllowed && !isByRoles) met.byRules++
        }
      }
    })
  })
})

/** Expects that the parts of the explanation are consistent with the decision and with each other. */
function expectExplained({ allow, path, rules }: Explanation, isAllowed: boolean): void {
  expect(allow).toBe(isAllowed)
  expect(rules.allow || path.length > 0).toBe(isAllowed)
  expect(rules.rules.some(({ allows }) => allows)).toBe(rules.allow)
  expect(rules.rules.map(({ allows }) => allows)).toEqual(
    rules.rules.map(({ allows }) => allows).toSorted((one, other) => Number(other) - Number(one)),
  )
  for (const { allows, user, resource } of rules.rules) {
    expect(allows).toBe(user.value === 'true' && resource.value === 'true')
    for (const { value, leaf, trees } of [user, resource]) {
      if (leaf !== null && trees.every(tree => !JSON.stringify(tree).includes('"not"'))) {
        expect(leaf.value).toBe(value)
      }
    }
  }
}
