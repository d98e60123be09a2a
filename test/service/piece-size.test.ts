/** How pieces of a long job get their size: from nothing but what they took. */
import { expect, test } from 'vitest'
import { PieceSize } from '#management/commands/piece-size.ts'

/** Takes `pieces` in which a row costs `rowMs`. Returns what each of them took. */
function work(size: PieceSize, rowMs: number, pieces: number): number[] {
  return Array.from({ length: pieces }, () => {
    const took = size.rows * rowMs
    size.learn(size.rows, took)
    return took
  })
}

test('pieces of cheap rows grow to what fits well into 5 ms, and no further than their ceiling', () => {
  const size = new PieceSize()
  const took = work(size, 0.02, 40)
  expect(took.at(-1)).toBeGreaterThan(1)
  expect(Math.max(...took)).toBeLessThan(2)
  work(size, 0, 100)
  expect(size.rows).toBe(512)
})

test('rows that become ten times as dear make one piece too long, not two', () => {
  const size = new PieceSize()
  work(size, 0.02, 40)
  const took = work(size, 0.2, 5)
  expect(took.filter(ms => ms > 5)).toHaveLength(1)
})

test('pieces grow back slowly after one that was held up', () => {
  const size = new PieceSize()
  work(size, 0.02, 40)
  const before = size.rows
  size.learn(before, 35)
  expect(size.rows).toBeLessThanOrEqual(before / 10)
  work(size, 0.02, 1)
  expect(size.rows).toBeLessThanOrEqual(before / 9)
  work(size, 0.02, 40)
  expect(size.rows).toBeGreaterThan(before * 0.9)
})

test('the dearest rows still go, a few at a time', () => {
  const size = new PieceSize()
  work(size, 100, 20)
  expect(size.rows).toBe(4)
})

test('a piece of few rows, the last of a removal, says nothing about rows', () => {
  const size = new PieceSize()
  work(size, 0.05, 40)
  const before = size.rows
  size.learn(1, 3)
  expect(size.rows).toBe(before)
})
