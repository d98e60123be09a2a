/** Long responses are serialized in slices, into the same bytes as by `JSON.stringify`. */
import { expect, test } from 'vitest'
import { answerText } from '#threads/channel/answer-text.ts'

const items = Array.from({ length: 40 }, (_, n) => ({ key: `é"${n}`, long: 'ü'.repeat(10_000), none: null }))

test.each([
  ['a long list', items],
  ['a long envelope', { data: items, total_count: 40, page_count: 1 }],
  ['an envelope with undefined and other fields', { a: undefined, b: [1], data: items, c: 'x' }],
  ['a list that ends with a slice', items.slice(0, 14)],
])('%s is serialized into bytes in slices that yield', async (_, told) => {
  let turns = 0
  let isOver = false
  const turn = (): void => {
    turns += 1
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  const text = await answerText(told)
  isOver = true
  expect(text).toBeInstanceOf(Uint8Array)
  expect(Buffer.from(text as Uint8Array).toString()).toBe(JSON.stringify(told))
  expect(turns).toBeGreaterThan(0)
})

test.each([
  [items.slice(0, 3)],
  [[]],
  [{ data: [], total_count: 0 }],
  [{ data: 'no list' }],
  ['text'],
  [null],
  [{ key: 'x'.repeat(200_000) }],
])('a short response, or one without a list, is serialized into text', async told => {
  expect(await answerText(told)).toBe(JSON.stringify(told))
})
