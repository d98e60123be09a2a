/**
 * Rules on random worlds, from a fixed seed, a million comparisons and more: the shared index, which compiles conditions, and the
 * reference engine, which walks their trees, against the oracle, which reads them as they are written.
 *
 *   node bench/engine/rules-differential.ts [comparisons = 1,000,000] [seed = 1]
 *
 * A comparison is one question at one state, asked of one engine singly or in a batch. The first wrong answer ends the run with all that
 * is needed to see it again. The short form is `test/properties/rules-oracle.test.ts`.
 */
import * as fc from 'fast-check'
import { historiesWithRules } from '#testing/oracle/random-rules.ts'
import { Oracle } from '#testing/oracle/oracle.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'
import { MapEngine } from '#testing/reference-engine/map-engine.ts'

const COMMITS = 4
const QUESTIONS = 120
const WORLDS_AT_ONCE = 10

const wanted = Number(process.argv[2] ?? 1_000_000)
const seed = Number(process.argv[3] ?? 1)
const worlds = historiesWithRules({ commits: COMMITS, queries: QUESTIONS })
const counts = { worlds: 0, comparisons: 0, allowed: 0, allowedByRules: 0 }
const start = performance.now()
for (let round = 0; counts.comparisons < wanted; round++) {
  for (const { load, commits, queries } of fc.sample(worlds, {
    numRuns: WORLDS_AT_ONCE,
    seed: seed * 100_000 + round,
  })) {
    const oracle = new Oracle()
    const withoutRules = new MapEngine()
    const engines = { 'the shared index': new SharedEngine(), 'the reference engine': new MapEngine() }
    for (const [state, changes] of [load, ...commits].entries()) {
      oracle.apply(changes)
      withoutRules.apply(changes.filter(({ kind }) => kind !== 'rule-put'))
      for (const engine of Object.values(engines)) engine.apply(changes)
      const right = queries.map(query => oracle.evaluate(query))
      for (const [name, engine] of Object.entries(engines)) {
        const together = engine.evaluateAll(queries)
        for (const [index, query] of queries.entries()) {
          if (engine.evaluate(query) === right[index] && together[index] === right[index]) continue
          const about = JSON.stringify({ load, commits: commits.slice(0, state), query })
          throw new Error(
            `${name} is wrong, right is ${right[index]}, round ${round}, seed ${seed}: ${about}`,
          )
        }
        counts.comparisons += 2 * queries.length
      }
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
  `${counts.comparisons} comparisons in ${seconds} s, seed ${seed}: 0 wrong\n${JSON.stringify(counts)}\n`,
)
if (counts.allowedByRules === 0) throw new Error('no rule ever allowed anything')
