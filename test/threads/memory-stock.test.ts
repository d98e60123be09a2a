/** Reuse of shared memory. */
import { expect, test } from 'vitest'
import { MemoryStock } from '#threads/pool/memory-stock.ts'

const MEGABYTE = 1_024 * 1_024

test('the memory stock reuses the last returned memory of the requested size', () => {
  const stock = new MemoryStock()
  const [one, other, larger] = [stock.take(MEGABYTE), stock.take(MEGABYTE), stock.take(2 * MEGABYTE)]
  for (const memory of [one, other, larger]) stock.giveBack(memory)
  expect(stock.take(MEGABYTE - 1)).toBe(other)
  expect(stock.take(MEGABYTE)).toBe(one)
  expect(stock.take(MEGABYTE)).toBe(larger)
  const fresh = stock.take(MEGABYTE)
  expect([one, other, larger]).not.toContain(fresh)
  expect(fresh.byteLength).toBe(MEGABYTE)
})

test('the memory stock keeps all returned memory for reuse', () => {
  const stock = new MemoryStock()
  const takeAll = () => Array.from({ length: 100 }, () => stock.take(2 * MEGABYTE))
  const first = takeAll()
  for (const memory of first) stock.giveBack(memory)
  const taken = new Set(takeAll())
  // A set compares by identity. Two memories of the same size would be equal as values.
  expect(first.filter(memory => !taken.has(memory))).toHaveLength(0)
})
