/** The engine decides like the oracle over random histories, regardless of the order of changes. */
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { Change } from '#model/change.ts'
import { ENGINES, STRAINED_ENGINES } from '../engine/engines.ts'
import { answersOf } from '#testing/engines/packed.ts'
import { Oracle } from '#testing/oracle/oracle.ts'
import { type History, histories } from '#testing/oracle/random-history.ts'
import { MANY_ROLES, SHORT_AND_LONG_KEYS } from '#testing/oracle/random-model.ts'
import { Coverage } from '#testing/oracle/coverage.ts'
import { fixedValues, holdsFor, onceFor } from './seeded.ts'

const usual = histories({ commits: 8, queries: 40 })
const longer = histories({ commits: 10, queries: 60 })
const USUAL_RUNS = 150

/** Decisions of the oracle at each moment of a history. */
const rightAnswers = onceFor(({ load, commits, queries }: History) => {
  const oracle = new Oracle()
  return [load, ...commits].map(changes => {
    oracle.apply(changes)
    return queries.map(query => oracle.evaluate(query))
  })
})
const standingAtTheEnd = onceFor(({ load, commits }: History) => {
  const oracle = new Oracle()
  oracle.apply([load, ...commits].flat())
  return oracle.currentFacts()
})
const lawfulHistory = onceFor(({ load, commits }: History) => lawful([load, ...commits]))

test('random histories exercise every rule of the engine often', () => {
  const coverage = new Coverage()
  for (const history of fixedValues(usual, 20)) {
    const right = rightAnswers(history)
    const counting = coverage.follow()
    for (const [moment, changes] of [history.load, ...history.commits].entries()) {
      counting.apply(changes)
      for (const [index, query] of history.queries.entries()) counting.count(query, right[moment]![index]!)
    }
  }
  expect(coverage.allowedShare()).toBeGreaterThan(0.15)
  expect(coverage.allowedShare()).toBeLessThan(0.6)
  expect(coverage.deniedByTenant).toBeGreaterThan(300)
  expect(coverage.decidedBy.derivation).toBeGreaterThan(200)
  expect(coverage.decidedBy.extension).toBeGreaterThan(60)
  expect(coverage.decidedBy.guard).toBeGreaterThan(8)
})

describe.each([...ENGINES, ...STRAINED_ENGINES])('$name', ({ newEngine, share }) => {
  test.each([
    ['usual models', usual, USUAL_RUNS],
    ['models with many roles', histories({ commits: 8, queries: 40 }, MANY_ROLES), 25],
    ['models with short and long keys', histories({ commits: 8, queries: 40 }, SHORT_AND_LONG_KEYS), 25],
  ] as const)('decides as the oracle does, throughout random histories of %s', (_, model, runs) => {
    holdsFor(model, { runs, share }, history => {
      const engine = newEngine()
      const right = rightAnswers(history)
      for (const [moment, changes] of [history.load, ...history.commits].entries()) {
        engine.apply(changes)
        expect(answersOf(engine, history.queries)).toEqual(right[moment])
      }
    })
  })

  test('an engine with only the facts that remain decides like an engine that applied the whole history', () => {
    holdsFor(longer, { runs: 60, share }, history => {
      const { load, commits, queries } = history
      const incremental = newEngine()
      incremental.apply([load, ...commits].flat())
      const rebuilt = newEngine()
      rebuilt.apply(standingAtTheEnd(history))
      expect(answersOf(rebuilt, queries)).toEqual(answersOf(incremental, queries))
    })
  })

  test('applying a commit twice has the same effect as applying it once', () => {
    holdsFor(longer, { runs: 60, share }, history => {
      const { queries } = history
      const once = newEngine()
      const twice = newEngine()
      for (const changes of lawfulHistory(history)) {
        once.apply(changes)
        twice.apply(changes)
        twice.apply(changes)
        expect(answersOf(twice, queries)).toEqual(answersOf(once, queries))
      }
    })
  })

  /** The first load scans rows during commits. It then applies commits that these rows already include. */
  test('applying the last commits of a history again changes no decision', () => {
    holdsFor(longer, { runs: 60, share }, history => {
      const { queries } = history
      const commits = lawfulHistory(history)
      const engine = newEngine()
      engine.apply(commits.flat())
      const answers = answersOf(engine, queries)
      for (let from = 1; from < commits.length; from++) {
        engine.apply(commits.slice(from).flat())
        expect(answersOf(engine, queries)).toEqual(answers)
      }
    })
  })
})

/**
 * Returns the history as a ledger stores it: without changes that name absent entities, and with a removal of
 * each instance that is put in another tenant. Otherwise, a replay could differ. A change that was ignored
 * the first time could take effect. An instance that is already in its last tenant would not move again, and
 * so would regain roles.
 */
function lawful(history: readonly (readonly Change[])[]): Change[][] {
  const oracle = new Oracle()
  return history.map(commit =>
    commit.flatMap(change => {
      const before = oracle.currentFacts()
      oracle.apply([change])
      if (change.kind.endsWith('-removed')) return [change]
      const standing = oracle.currentFacts().filter(fact => isWhatStandsOf(change, fact))
      const moved = standing.length > 0 ? before.flatMap(fact => removalBeforeMove(fact, change)) : []
      return [...moved, ...standing]
    }),
  )
}

/** A stored role lacks references to absent entities. Other changes are stored unchanged or not at all. */
function isWhatStandsOf(change: Change, fact: Change): boolean {
  if (change.kind !== 'role-put' || fact.kind !== 'role-put') return isDeepStrictEqual(fact, change)
  return fact.type === change.type && fact.role === change.role
}

function removalBeforeMove(fact: Change, change: Change): Change[] {
  if (fact.kind !== 'instance-put' || change.kind !== 'instance-put') return []
  if (!isDeepStrictEqual(fact.instance, change.instance) || fact.tenant === change.tenant) return []
  return [{ kind: 'instance-removed', instance: fact.instance }]
}
