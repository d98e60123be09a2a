/** The answer to a bulk decision is what `JSON.stringify` would write. */
import { expect, test } from 'vitest'
import { bulkAnswer } from '#http/routes/decisions/bulk-answer.ts'

const textOf = ({ bytes }: { readonly bytes: Uint8Array }) => Buffer.from(bytes).toString()

test.each([0, 1, 2, 7, 8, 9, 10, 16, 17, 100, 1_000])('with %i decisions', count => {
  for (const stride of [1, 2, 3, 7]) {
    const decisions = Array.from({ length: count }, (_, index) => (index * index) % (stride + 1) === 0)
    const expected = { allow: decisions.map(allow => ({ allow, result: allow })) }
    expect(textOf(bulkAnswer(decisions))).toBe(JSON.stringify(expected))
  }
})

test('answers that are not sent yet are not written over by the next ones', () => {
  const verdicts = Array.from({ length: 10 }, (_, index) => index % 3 === 0)
  const answers = verdicts.map(allow => bulkAnswer([allow]))
  expect(answers.map(textOf)).toEqual(
    verdicts.map(allow => `{"allow":[{"allow":${allow},"result":${allow}}]}`),
  )
})

test('the memory of an answer that was sent serves the next one that fits', () => {
  const first = bulkAnswer(Array<boolean>(9_000).fill(true))
  const { buffer } = first.bytes
  first.giveBack()
  const smaller = bulkAnswer([true, false])
  expect(smaller.bytes.buffer).toBe(buffer)
  expect(textOf(smaller)).toBe('{"allow":[{"allow":true,"result":true},{"allow":false,"result":false}]}')
  const larger = bulkAnswer(Array<boolean>(20_000).fill(true))
  expect(larger.bytes.buffer).not.toBe(buffer)
})
