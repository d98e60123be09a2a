/** Ids that begin with their creation time. */
import { expect, test } from 'vitest'
import { TimeOrderedIds } from '../../src/composition/process/time-ordered-ids.ts'

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

test('ids are UUIDs of version 4 that begin with the time', () => {
  const id = new TimeOrderedIds(() => Date.UTC(2026, 0, 1)).next()
  expect(id).toMatch(UUID_V4)
  expect(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toBe(Date.UTC(2026, 0, 1))
})

test('ids ascend and are unique, even if the clock stops or goes back', () => {
  const clock = [5, 5, 6, 3, 3, 7]
  let reading = 0
  const ids = new TimeOrderedIds(() => clock[Math.floor(reading++ / 10_000)]!)
  const made = Array.from({ length: 60_000 }, () => ids.next())
  expect(made.every(id => UUID_V4.test(id))).toBe(true)
  for (let at = 1; at < made.length; at += 1) expect(made[at]! > made[at - 1]!, `id ${at}`).toBe(true)
})

test('two processes that create ids at the same moment create different ids', () => {
  const [one, other] = [new TimeOrderedIds(() => 1), new TimeOrderedIds(() => 1)]
  expect(one.next()).not.toBe(other.next())
})
