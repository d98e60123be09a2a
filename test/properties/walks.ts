/** Walks through the pages of searches while facts change, compared with the expected results. */
import { expect } from 'vitest'
import type { KeyPage } from '#engine/engine.ts'
import { Oracle } from '#testing/oracle/oracle.ts'
import type { History } from '#testing/oracle/random-history.ts'
import { StateView } from '#testing/oracle/current-state.ts'

/** Yields the states of a history. The oracle is valid until the next state is requested. */
export function* momentsOf({ load, commits }: History): Generator<{ world: StateView; oracle: Oracle }> {
  const oracle = new Oracle()
  for (const changes of [load, ...commits]) {
    oracle.apply(changes)
    yield { world: new StateView(oracle.currentFacts()), oracle }
  }
}

export interface Walk {
  readonly candidates: readonly string[]
  readonly isTrue: (key: string) => boolean
  readonly pageAt: (after: string | null) => KeyPage
  /** Applies the next changes. */
  readonly next: () => void
}

export function expectWalk({ candidates, isTrue, pageAt, next }: Walk): number {
  const always = new Set(candidates)
  const never = new Set(candidates)
  const seen: string[] = []
  let pages = 0
  for (let after: string | null = null; ;) {
    for (const key of candidates) (isTrue(key) ? never : always).delete(key)
    const page: KeyPage = pageAt(after)
    seen.push(...page.keys)
    after = page.last
    pages += 1
    if (!page.hasMore) break
    next()
  }
  expect(new Set(seen).size).toBe(seen.length)
  expect(seen.filter(key => never.has(key))).toEqual([])
  expect([...always].filter(key => !seen.includes(key))).toEqual([])
  return pages
}
