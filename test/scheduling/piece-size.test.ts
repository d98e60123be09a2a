/** Size of the batches of a long job. It depends only on the duration of earlier batches. */
import { expect, test } from 'vitest'
import { PieceSize } from '#scheduling/piece-size.ts'

/** Processes `pieces` batches in which a row takes `rowMs`. Returns the time of each batch. */
function work(size: PieceSize, rowMs: number, pieces: number): number[] {
  return Array.from({ length: pieces }, () => {
    const took = size.rows * rowMs
    size.learn(size.rows, took)
    return took
  })
}

test('batches of cheap rows grow until they take between 1 and 2 ms or have 512 rows', () => {
  const size = new PieceSize()
  const took = work(size, 0.02, 40)
  expect(took.at(-1)).toBeGreaterThan(1)
  expect(Math.max(...took)).toBeLessThan(2)
  work(size, 0, 100)
  expect(size.rows).toBe(512)
})

test('if rows become ten times as expensive, only one batch takes more than 5 ms', () => {
  const size = new PieceSize()
  work(size, 0.02, 40)
  const took = work(size, 0.2, 5)
  expect(took.filter(ms => ms > 5)).toHaveLength(1)
})

test('batches grow back slowly after one delayed batch', () => {
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

test('batches of very expensive rows shrink to four rows', () => {
  const size = new PieceSize()
  work(size, 100, 20)
  expect(size.rows).toBe(4)
})

test('the last batch of a removal does not change the batch size if it has only one row', () => {
  const size = new PieceSize()
  work(size, 0.05, 40)
  const before = size.rows
  size.learn(1, 3)
  expect(size.rows).toBe(before)
})
