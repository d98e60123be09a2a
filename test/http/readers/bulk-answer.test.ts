/** Encoding of bulk decisions. The result must be the text that `JSON.stringify` returns. */
import { expect, test } from 'vitest'
import { bulkAnswer } from '#http/routes/decisions/bulk-answer.ts'

const textOf = ({ bytes }: { readonly bytes: Uint8Array }) => Buffer.from(bytes).toString()

test.each([0, 1, 2, 7, 8, 9, 10, 16, 17, 100, 1_000])('%i decisions are encoded as JSON', count => {
  for (const stride of [1, 2, 3, 7]) {
    const decisions = Array.from({ length: count }, (_, index) => (index * index) % (stride + 1) === 0)
    const expected = { allow: decisions.map(allow => ({ allow, result: allow })) }
    expect(textOf(bulkAnswer(Uint8Array.from(decisions, Number)))).toBe(JSON.stringify(expected))
  }
})

test('responses that have not been sent are not overwritten by later ones', () => {
  const verdicts = Array.from({ length: 10 }, (_, index) => index % 3 === 0)
  const answers = verdicts.map(allow => bulkAnswer(Uint8Array.of(Number(allow))))
  expect(answers.map(textOf)).toEqual(
    verdicts.map(allow => `{"allow":[{"allow":${allow},"result":${allow}}]}`),
  )
})

test('the buffer of a sent response is reused by the next response that fits', () => {
  const first = bulkAnswer(new Uint8Array(9_000).fill(1))
  const { buffer } = first.bytes
  first.giveBack()
  const smaller = bulkAnswer(Uint8Array.of(1, 0))
  expect(smaller.bytes.buffer).toBe(buffer)
  expect(textOf(smaller)).toBe('{"allow":[{"allow":true,"result":true},{"allow":false,"result":false}]}')
  const larger = bulkAnswer(new Uint8Array(20_000).fill(1))
  expect(larger.bytes.buffer).not.toBe(buffer)
})
