/**
 * Compares three evaluations of rules, from a fixed seed, in at least one million comparisons. The shared
 * index compiles conditions, explanations walk the trees of conditions, and the oracle interprets conditions
 * directly. Random trees are evaluated first, and then random models with sets, rules, attributes and roles.
 *
 *     node bench/engine/rules-differential.ts [comparisons = 1,000,000] [seed = 1]
 *
 * A comparison is one of two things: the value of one tree, walked or compiled, whose attributes are stored,
 * sent or both; or the decision of one engine about one check at one state, alone or in a batch. The first
 * wrong result ends the run and prints all data that is needed to reproduce it. The short version is
 * `test/properties/rules-oracle.test.ts`.
 */
import * as fc from 'fast-check'
import { evaluate } from '#conditions/evaluate.ts'
import { EvaluationBudget } from '#conditions/values/evaluation-budget.ts'
import { type Path, valueAt } from '#conditions/values/paths.ts'
import { isRefused, readCondition } from '#conditions/read-condition.ts'
import { nameOfTruth, type TruthName } from '#conditions/values/truth.ts'
import { compiledTruth, withTime } from '#testing/engines/compiled-conditions.ts'
import { type StoredInstances, truthOf } from '#testing/oracle/conditions/conditions.ts'
import { storedAmong } from '#testing/oracle/random-attributes.ts'
import { type Case, cases } from '#testing/oracle/random-conditions.ts'
import { historiesWithRules } from '#testing/oracle/random-rules.ts'
import { Oracle } from '#testing/oracle/oracle.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'
import { TextQuestion } from '#model/question.ts'

const COMMITS = 4
const QUESTIONS = 120
const WORLDS_AT_ONCE = 10
const TREES_AT_ONCE = 500
/** A run with fewer comparisons need not cover rare features. */
const ENOUGH = 500_000

function walkedTruth(
  conditions: Case['conditions'],
  roots: Case['roots'],
  stored: StoredInstances,
): TruthName {
  const condition = readCondition(conditions, [])
  if (isRefused(condition)) throw new Error(JSON.stringify(condition.findings))
  const values = {
    valueOf: ({ root, names }: Path) => valueAt(roots[root], names),
    attributesOf: (type: string, key: string) => stored(type, key) as Record<string, unknown> | undefined,
  }
  return nameOfTruth(evaluate(condition, values, new EvaluationBudget()))
}

const wanted = Number(process.argv[2] ?? 1_000_000)
const seed = Number(process.argv[3] ?? 1)
const worlds = historiesWithRules({ commits: COMMITS, queries: QUESTIONS })
const counts = { trees: 0, ofTrees: 0, worlds: 0, comparisons: 0, allowed: 0, allowedByRules: 0 }
const start = performance.now()
for (let round = 0; counts.ofTrees < wanted / 2; round++) {
  const sample = { numRuns: TREES_AT_ONCE, seed: seed * 100_000 + round }
  for (const { conditions, roots, instances } of fc.sample(cases(), sample)) {
    const timed = withTime(roots)
    const stored = storedAmong(instances)
    const right = truthOf(conditions, timed.roots, stored)
    const got = [walkedTruth(conditions, timed.roots, stored)]
    for (const place of ['stored', 'sent', 'both'] as const) {
      got.push(compiledTruth(conditions, timed, stored, place))
    }
    if (got.some(value => value !== right)) {
      const about = JSON.stringify({ conditions, roots: timed.roots, instances })
      throw new Error(`right is ${right}, got ${got.join()}, round ${round}, seed ${seed}: ${about}`)
    }
    counts.trees++
    counts.ofTrees += got.length
  }
}
for (let round = 0; counts.comparisons < wanted / 2; round++) {
  for (const { load, commits, queries } of fc.sample(worlds, {
    numRuns: WORLDS_AT_ONCE,
    seed: seed * 100_000 + round,
  })) {
    const oracle = new Oracle()
    const withoutRules = new SharedEngine()
    const engine = new SharedEngine()
    for (const [state, changes] of [load, ...commits].entries()) {
      oracle.apply(changes)
      withoutRules.apply(changes.filter(({ kind }) => kind !== 'rule-put'))
      engine.apply(changes)
      const right = queries.map(query => oracle.evaluate(query))
      const together = engine.evaluateAll(new TextQuestion(queries))
      for (const [index, query] of queries.entries()) {
        if (engine.evaluate(query) === right[index] && (together[index] === 1) === right[index]) continue
        const about = JSON.stringify({ load, commits: commits.slice(0, state), query })
        throw new Error(
          `the shared index is wrong, right is ${right[index]}, round ${round}, seed ${seed}: ${about}`,
        )
      }
      counts.comparisons += 2 * queries.length
      for (const [index, isAllowed] of right.entries()) {
        if (!isAllowed) continue
        counts.allowed++
        if (!withoutRules.evaluate(queries[index]!)) counts.allowedByRules++
      }
    }
    counts.worlds++
  }
}
const seconds = Math.round((performance.now() - start) / 1000)
process.stdout.write(
  `${counts.comparisons + counts.ofTrees} comparisons in ${seconds} s, seed ${seed}: 0 wrong\n${JSON.stringify(counts)}\n`,
)
if (wanted >= ENOUGH && counts.allowedByRules === 0) throw new Error('no rule ever allowed anything')
