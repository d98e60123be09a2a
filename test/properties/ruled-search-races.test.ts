/** Searches with rules while facts, sets and attributes change between any two reads of the index. */
import { expect, test, vi } from 'vitest'
import type { KeyPage } from '#engine/engine.ts'
import { ConsistentReads } from '#engine/shared-index/schema/consistent-reads.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { type Page, searchResources, searchUsers } from '#testing/engines/listed.ts'
import { ListingEngine, SharedEngine } from '#testing/engines/shared-engine.ts'
import type { History } from '#testing/oracle/random-history.ts'
import { historiesWithRules } from '#testing/oracle/random-rules.ts'
import { StateView } from '#testing/oracle/current-state.ts'
import { holdsFor, onceFor } from './seeded.ts'
import { momentsOf } from './walks.ts'

/** For each query: all keys and users of the history, and those that the oracle allows at each moment. */
const right = onceFor((history: History) => {
  const all = new StateView([...history.load, ...history.commits.flat()])
  const moments = Array.from(momentsOf(history), ({ world, oracle }) =>
    history.queries.map(query => ({
      keys: world.keysOf(query.type).filter(key => oracle.evaluate({ ...query, key })),
      users: world.users.filter(user => oracle.evaluate({ ...query, user })),
    })),
  )
  return {
    candidates: history.queries.map(({ type }) => ({ keys: all.keysOf(type), users: all.users })),
    moments,
  }
})

/** Runs `change` before every n-th read of the index, except for reads with the lock, which block changes. */
function changingEvery<Answer>(looks: number, change: () => void, work: () => Answer): Answer {
  const { begin } = ConsistentReads.prototype
  let count = 0
  const spy = vi.spyOn(ConsistentReads.prototype, 'begin').mockImplementation(function (
    this: ConsistentReads,
  ) {
    count += 1
    if (count % looks === 0 && this.regions.header[L.H_LOCK] === 0) change()
    begin.call(this)
  })
  try {
    return work()
  } finally {
    spy.mockRestore()
  }
}

test.each([
  ['with posting lists', () => new ListingEngine(Infinity)],
  ['while posting lists are built in small steps', () => new ListingEngine(40)],
  ['without posting lists', () => new SharedEngine()],
] as const)('%s, a search lists permanent results once and impossible results never', (_, newEngine) => {
  const met = { changes: 0, found: 0 }
  const property = (history: History): void => {
    const { candidates, moments } = right(history)
    for (const [index, query] of history.queries.entries()) {
      for (const what of ['keys', 'users'] as const) {
        for (const looks of [1, 2, 3, 5]) {
          const engine = newEngine()
          engine.apply(history.load)
          const always = new Set(candidates[index]![what])
          const never = new Set(always)
          let moment = 0
          const note = (): void => {
            const isTrue = new Set(moments[moment]![index]![what])
            for (const key of candidates[index]![what]) (isTrue.has(key) ? never : always).delete(key)
          }
          const change = (): void => {
            if (moment === history.commits.length) return
            engine.apply(history.commits[moment]!)
            moment += 1
            met.changes += 1
            note()
          }
          const seen: string[] = []
          note()
          changingEvery(looks, change, () => {
            for (let after: string | null = null, hasMore = true; hasMore;) {
              const page: Page = { after, limit: 2, triedMax: 5 }
              const { keys, ...rest }: KeyPage =
                what === 'keys' ? searchResources(engine, query, page) : searchUsers(engine, query, page)
              seen.push(...keys)
              ;({ hasMore, last: after } = rest)
            }
          })
          met.found += always.size
          expect({
            looks,
            what,
            twice: seen.length - new Set(seen).size,
            wrong: seen.filter(key => never.has(key)),
            missed: [...always].filter(key => !seen.includes(key)),
          }).toEqual({ looks, what, twice: 0, wrong: [], missed: [] })
        }
      }
    }
  }
  const coverage = { met, least: { changes: 20, found: 1 } }
  holdsFor(historiesWithRules({ commits: 4, queries: 3 }, true), { runs: 15, ...coverage }, property)
})
