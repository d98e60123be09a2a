/** The set of pairs that walks have visited. It numbers the pairs, and takes the same time in any order. */
import { expect, test } from 'vitest'
import { ID_HASH } from '#engine/shared-index/memory/layout.ts'
import { VisitedPairs } from '#engine/shared-index/memory/visited-pairs.ts'

test('pairs are numbered in order of insertion, including after growth and clearing', () => {
  const pairs = new VisitedPairs()
  for (const round of [0, 1]) {
    pairs.clear()
    for (let n = 0; n < 1_000; n++) {
      expect(pairs.numberIfThere(n, round)).toBe(-1)
      expect(pairs.add(n, round)).toBe(true)
      expect(pairs.add(n, round)).toBe(false)
    }
    for (let n = 0; n < 1_000; n++) {
      expect([
        pairs.numberOf(n, round),
        pairs.numberIfThere(n, round),
        pairs.numberIfThere(n, 1 - round),
      ]).toEqual([n, n, -1])
    }
  }
})

test('a million pairs can be added in the order in which slabs contain them', () => {
  const lines = Int32Array.from({ length: 1_000_000 }, (_, n) => n + 1)
  const inSlab = lines.toSorted((a, b) => (Math.imul(a, ID_HASH) >>> 0) - (Math.imul(b, ID_HASH) >>> 0))
  for (const second of [0, 7]) {
    const pairs = new VisitedPairs()
    let added = 0
    for (const line of inSlab) if (pairs.add(line, second)) added += 1
    expect(added).toBe(lines.length)
  }
})
