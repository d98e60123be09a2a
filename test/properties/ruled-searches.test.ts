/** Searches with rules on random worlds list exactly what checks allow, with and without posting lists. */
import { describe, expect, test } from 'vitest'
import type { Engine, KeyPage } from '#engine/engine.ts'
import type { Query } from '#model/decision.ts'
import { runAtOnce } from '#scheduling/resumable.ts'
import { compareUtf8 } from '#model/text/utf8-order.ts'
import { type Page, searchResources, searchUsers } from '#testing/engines/listed.ts'
import { COLLIDING, ListingEngine, SavingListingEngine } from '#testing/engines/shared-engine.ts'
import type { History } from '#testing/oracle/random-history.ts'
import { historiesWithRules } from '#testing/oracle/random-rules.ts'
import { Oracle } from '#testing/oracle/oracle.ts'
import { StateView } from '#testing/oracle/current-state.ts'
import { ENGINES, type EngineUnderTest } from '../engine/engines.ts'
import { holdsFor, onceFor } from './seeded.ts'
import { expectWalk, momentsOf } from './walks.ts'

const LISTING: readonly EngineUnderTest[] = [
  { name: 'with posting lists', newEngine: () => new ListingEngine(Infinity), share: 1 },
  { name: 'building posting lists in small steps', newEngine: () => new ListingEngine(40), share: 1 },
  { name: 'with restored posting lists', newEngine: () => new SavingListingEngine(), share: 0.4 },
  {
    name: 'without space for its posting lists',
    newEngine: () => new ListingEngine(Infinity, { listBytesMax: 1 << 14 }),
    share: 0.4,
  },
  {
    name: 'with posting lists, colliding keys and every read locked',
    newEngine: () => new ListingEngine(Infinity, { secrets: COLLIDING, lockEveryRead: true }),
    share: 0.4,
  },
]

const right = onceFor((history: History) => {
  const withoutRules = new Oracle()
  const applied = [history.load, ...history.commits][Symbol.iterator]()
  const all = new StateView([...history.load, ...history.commits.flat()])
  const candidates = history.queries.map(({ type }) => ({ keys: all.keysOf(type), users: all.users }))
  const moments = Array.from(momentsOf(history), ({ world, oracle }) => {
    withoutRules.apply(applied.next().value!.filter(({ kind }) => kind !== 'rule-put'))
    return history.queries.map(query => {
      const keys = world.keysOf(query.type)
      const isByRules = (each: Partial<Query>): boolean =>
        oracle.evaluate({ ...query, ...each }) && !withoutRules.evaluate({ ...query, ...each })
      return {
        byRules:
          keys.filter(key => isByRules({ key })).length +
          world.users.filter(user => isByRules({ user })).length,
        keys: keys.filter(key => oracle.evaluate({ ...query, key })).toSorted(compareUtf8),
        users: world.users.filter(user => oracle.evaluate({ ...query, user })).toSorted(compareUtf8),
        actions: world
          .actionsOf(query.type)
          .filter(action => oracle.evaluate({ ...query, action }))
          .toSorted(compareUtf8),
      }
    })
  })
  return { candidates, moments }
})

function resourcesOf(engine: Engine, query: Query): (page: Page) => KeyPage {
  const { key: _, ...question } = query
  return page => searchResources(engine, question, page)
}

function usersOf(engine: Engine, query: Query): (page: Page) => KeyPage {
  const { user: _, ...question } = query
  return page => searchUsers(engine, question, page)
}

/** Reads all pages, for every relevant page size and with few and many candidates per page. */
function expectWhole(expected: readonly string[], pageAt: (page: Page) => KeyPage): void {
  const total = expected.length
  for (const limit of new Set([1, 2, 7, total - 1, total, total + 1])) {
    if (limit < 1) continue
    for (const triedMax of [1, 3, 1_000]) {
      const keys: string[] = []
      let last: string | null = null
      for (let hasMore = true; hasMore;) {
        const page: KeyPage = pageAt({ after: last, limit, triedMax })
        expect(page.keys.length).toBeLessThanOrEqual(limit)
        // A page that is followed by more results is not empty.
        if (page.hasMore)
          expect(page.last === null || (last !== null && compareUtf8(page.last, last) <= 0)).toBe(false)
        keys.push(...page.keys)
        ;({ hasMore, last } = page)
      }
      expect(keys).toEqual(expected)
    }
  }
}

// Other property tests check roles, which searches evaluate like decisions.
describe.each([...ENGINES, ...LISTING])('$name', ({ newEngine, share }) => {
  test.each([
    ['', historiesWithRules({ commits: 4, queries: 8 }), 15],
    [' with sets that posting lists can serve', historiesWithRules({ commits: 3, queries: 6 }, true), 25],
  ] as const)(
    'every search lists exactly what the oracle allows, in pages of every size%s',
    (_, worlds, runs) => {
      const met = { found: 0 }
      holdsFor(worlds, { runs, share, met, least: { found: 1 } }, history => {
        const engine = newEngine()
        const { moments } = right(history)
        for (const [moment, changes] of [history.load, ...history.commits].entries()) {
          engine.apply(changes)
          for (const [index, query] of history.queries.entries()) {
            const { keys, users, actions, byRules } = moments[moment]![index]!
            expectWhole(keys, resourcesOf(engine, query))
            expectWhole(users, usersOf(engine, query))
            const { action: _action, ...question } = query
            expect(runAtOnce(engine.searchActions(question))).toEqual(actions)
            met.found += byRules
          }
        }
      })
    },
  )

  test('while facts, sets and attributes change, the pages of a search list permanent results exactly once', () => {
    const met = { walked: 0 }
    const run = { runs: 15, share, met, least: { walked: 20 } }
    holdsFor(historiesWithRules({ commits: 8, queries: 4 }, true), run, history => {
      const { candidates, moments } = right(history)
      for (const [index, query] of history.queries.entries()) {
        for (const limit of [1, 2, 3]) {
          const engine = newEngine()
          engine.apply(history.load)
          let moment = 0
          const next = (): void => {
            if (moment === history.commits.length) return
            engine.apply(history.commits[moment]!)
            moment += 1
          }
          const pagesOf = { keys: resourcesOf(engine, query), users: usersOf(engine, query) }
          for (const what of ['keys', 'users'] as const) {
            met.walked += expectWalk({
              candidates: candidates[index]![what],
              isTrue: each => moments[moment]![index]![what].includes(each),
              pageAt: after => pagesOf[what]({ after, limit, triedMax: 4 }),
              next,
            })
          }
        }
      }
    })
  })
})
