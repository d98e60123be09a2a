/** Effects of a stale organization and of stale environments on decisions and reports. */
import { expect, onTestFinished, test } from 'vitest'
import { Staleness, type StalenessState } from '#decisions/questions/staleness.ts'

const BOUNDS = { staleAfterMs: 1_000, maxStaleMs: 10_000 }

/** A node that follows two environments, both caught up, and records the reports. */
function watched({ staleAfterMs, maxStaleMs } = BOUNDS) {
  const ages = { organization: 0, one: 0, other: 0 }
  const decidesForMs: Record<string, number> = {}
  const said: (readonly [name: string, standing: StalenessState])[] = []
  const fresh: boolean[] = []
  let isEmptied = false
  const following = new Set(['one', 'other'] as const)
  const staleness = new Staleness({
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
  onTestFinished(() => staleness.close())
  const lookAt = (changed: Partial<typeof ages>) => {
    Object.assign(ages, changed)
    staleness.look()
  }
  return {
    staleness,
    following,
    lookAt,
    decidesForMs,
    said,
    fresh,
    empty: () => (isEmptied = true),
  }
}

/** Reports of environments wait until the organization was fresh for `staleAfterMs` / 2: here immediately. */
const QUICK = { staleAfterMs: 1e-6, maxStaleMs: 10_000 }

test('each environment decides until its own staleness limit or that of the organization', () => {
  const { lookAt, decidesForMs } = watched()
  lookAt({ organization: 100, one: 7_000, other: 40 })
  expect(decidesForMs).toEqual({ node: 9_900, one: 3_000, other: 9_900 })
  lookAt({ organization: 9_000 })
  expect(decidesForMs).toEqual({ node: 1_000, one: 1_000, other: 1_000 })
})

test('no environment decides after the store has lost all its data', () => {
  const { lookAt, decidesForMs, empty } = watched()
  empty()
  lookAt({})
  expect(decidesForMs).toEqual({ node: 0, one: 0, other: 0 })
})

test('without MAX_STALE_MS, stale environments continue to decide', () => {
  const { lookAt, decidesForMs } = watched({ ...BOUNDS, maxStaleMs: 0 })
  lookAt({ organization: 1e9, one: 1e9 })
  expect(decidesForMs).toEqual({ node: Infinity, one: Infinity, other: Infinity })
})

test('a store that does not respond is reported only once, not once per environment', () => {
  const { lookAt, said, fresh } = watched()
  lookAt({ organization: 2_000, one: 2_000, other: 2_000 })
  lookAt({ organization: 12_000, one: 12_000, other: 12_000 })
  // The organization is fresh again before the environments.
  lookAt({ organization: 1 })
  lookAt({ one: 1, other: 1 })
  expect(said).toEqual(['stale', 'stopped', 'fresh'].map(standing => ['node', standing]))
  expect(fresh).toEqual([false, true])
})

test('a stale environment with a fresh organization is reported individually until it is fresh or removed', () => {
  const { lookAt, said, fresh, following, staleness } = watched(QUICK)
  lookAt({ one: 5_000 })
  lookAt({ one: 11_000 })
  lookAt({ one: 0 })
  expect(said).toEqual(['stale', 'stopped', 'fresh'].map(standing => ['one', standing]))
  expect(fresh).toEqual([false, true])
  lookAt({ other: 5_000 })
  following.delete('other')
  staleness.forget('other')
  lookAt({})
  expect(fresh).toEqual([false, true, false, true])
})
