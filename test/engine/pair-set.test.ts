/** The set of pairs behind assignments and tuples: both directions always agree. */
import { expect, test } from 'vitest'
import { PairSet } from '#testing/reference-engine/pair-set.ts'

function pairs(...entries: readonly [string, number][]): PairSet<string, number> {
  const set = new PairSet<string, number>()
  for (const [left, right] of entries) set.add(left, right)
  return set
}

test('a pair is there from when it is added until it is deleted, however often either happens', () => {
  const set = pairs(['a', 1], ['a', 1])
  expect(set.has('a', 1)).toBe(true)
  expect([...set.leftsOf(1)]).toEqual(['a'])
  set.delete('a', 1)
  set.delete('a', 1)
  expect(set.has('a', 1)).toBe(false)
  expect([...set.leftsOf(1)]).toEqual([])
})

test('deleting a pair leaves those that share a member with it', () => {
  const set = pairs(['a', 1], ['a', 2], ['b', 1])
  set.delete('a', 1)
  expect([set.has('a', 2), set.has('b', 1)]).toEqual([true, true])
  expect([...set.leftsOf(1)]).toEqual(['b'])
})

test('deleting a left member deletes its pairs and no others, in both directions', () => {
  const set = pairs(['a', 1], ['a', 2], ['b', 1])
  set.deleteLeft('a')
  expect([set.has('a', 1), set.has('a', 2), set.has('b', 1)]).toEqual([false, false, true])
  expect([[...set.leftsOf(1)], [...set.leftsOf(2)]]).toEqual([['b'], []])
})

test('deleting a right member deletes its pairs and no others, in both directions', () => {
  const set = pairs(['a', 1], ['a', 2], ['b', 1])
  set.deleteRight(1)
  expect([set.has('a', 1), set.has('a', 2), set.has('b', 1)]).toEqual([false, true, false])
  expect([...set.leftsOf(1)]).toEqual([])
})
