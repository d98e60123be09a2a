/** The answer to a bulk decision is what `JSON.stringify` would write. */
import { expect, test } from 'vitest'
import { bulkAnswer } from '#http/routes/bulk-answer.ts'

test.each([0, 1, 2, 7, 8, 9, 10, 16, 17, 100, 1_000])('with %i decisions', count => {
  for (const stride of [1, 2, 3, 7]) {
    const decisions = Array.from({ length: count }, (_, index) => (index * index) % (stride + 1) === 0)
    const expected = { allow: decisions.map(allow => ({ allow, result: allow })) }
    expect(bulkAnswer(decisions).text).toBe(JSON.stringify(expected))
  }
})
