/** What follows from how long nothing was heard: of the organization for everybody, of one environment for that one. */
import { expect, onTestFinished, test } from 'vitest'
import { Freshness, type FreshnessState } from '#decisions/freshness.ts'

const BOUNDS = { staleAfterMs: 1_000, maxStaleMs: 10_000 }

/** A node that follows two environments; all has been heard of just now, and what is told is kept. */
function watched({ staleAfterMs, maxStaleMs } = BOUNDS) {
  const ages = { organization: 0, one: 0, other: 0 }
  const decidesForMs: Record<string, number> = {}
  const said: (readonly [name: string, standing: FreshnessState])[] = []
  const fresh: boolean[] = []
  let isEmptied = false
  const following = new Set(['one', 'other'] as const)
  const freshness = new Freshness({
    stalenessMs: () => ages.organization,
    isEmptied: () => isEmptied,
    environmentIds: () => following,
    stalenessMsOf: id => ages[id as 'one' | 'other'],
    staleAfterMs,
    maxStaleMs,
    onLook: forMs => (decidesForMs['node'] = forMs),
    onLookAt: (id, forMs) => (decidesForMs[id] = forMs),
    onFresh: isFresh => fresh.push(isFresh),
    onChange: standing => said.push(['node', standing]),
    onChangeOf: (id, standing) => said.push([id, standing]),
  })
  onTestFinished(() => freshness.close())
  const lookAt = (changed: Partial<typeof ages>) => {
    Object.assign(ages, changed)
    freshness.look()
  }
  return {
    freshness,
    following,
    lookAt,
    decidesForMs,
    said,
    fresh,
    empty: () => (isEmptied = true),
  }
}

/** An environment is told of when the organization has been heard of for half of `STALE_AFTER_MS`: here at once. */
const QUICK = { staleAfterMs: 1e-6, maxStaleMs: 10_000 }

test('decisions of each environment end by its own time, and never behind that of the organization', () => {
  const { lookAt, decidesForMs } = watched()
  lookAt({ organization: 100, one: 7_000, other: 40 })
  expect(decidesForMs).toEqual({ node: 9_900, one: 3_000, other: 9_900 })
  lookAt({ organization: 9_000 })
  expect(decidesForMs).toEqual({ node: 1_000, one: 1_000, other: 1_000 })
})

test('a store that has lost everything ends the decisions of all', () => {
  const { lookAt, decidesForMs, empty } = watched()
  empty()
  lookAt({})
  expect(decidesForMs).toEqual({ node: 0, one: 0, other: 0 })
})

test('without MAX_STALE_MS nobody stops deciding', () => {
  const { lookAt, decidesForMs } = watched({ ...BOUNDS, maxStaleMs: 0 })
  lookAt({ organization: 1e9, one: 1e9 })
  expect(decidesForMs).toEqual({ node: Infinity, one: Infinity, other: Infinity })
})

test('what comes of a store that is silent is said once, for all', () => {
  const { lookAt, said, fresh } = watched()
  lookAt({ organization: 2_000, one: 2_000, other: 2_000 })
  lookAt({ organization: 12_000, one: 12_000, other: 12_000 })
  // The organization has been heard of again, the others are about to be.
  lookAt({ organization: 1 })
  lookAt({ one: 1, other: 1 })
  expect(said).toEqual(['stale', 'stopped', 'fresh'].map(standing => ['node', standing]))
  expect(fresh).toEqual([false, true])
})

test('an environment that cannot be followed while the organization is, is said by itself, until it is heard of or nobody decides on it', () => {
  const { lookAt, said, fresh, following, freshness } = watched(QUICK)
  lookAt({ one: 5_000 })
  lookAt({ one: 11_000 })
  lookAt({ one: 0 })
  expect(said).toEqual(['stale', 'stopped', 'fresh'].map(standing => ['one', standing]))
  expect(fresh).toEqual([false, true])
  lookAt({ other: 5_000 })
  following.delete('other')
  freshness.forget('other')
  lookAt({})
  expect(fresh).toEqual([false, true, false, true])
})
