/** Lines of an import: put together from pieces that end anywhere, and no longer than a line may be. */
import { describe, expect, test } from 'vitest'
import { CONTENT_LINE_BYTES_MAX } from '#model/limits.ts'
import { ContentLines } from '#management/content/content-lines.ts'

const FIRST = 'first'

/** The lengths of the lines in these pieces. */
function lengthsOf(pieces: readonly string[]): number[] {
  const lines = new ContentLines()
  const found: number[] = []
  for (const piece of pieces) for (const line of lines.take(Buffer.from(piece))) found.push(line.text.length)
  for (const line of lines.finish()) found.push(line.text.length)
  return found
}

describe.each([
  ['comes whole', (line: string) => [`${FIRST}\n${line}\n`]],
  ['comes whole, without an end', (line: string) => [`${FIRST}\n`, line]],
  [
    'comes in two pieces, the end with the second',
    (line: string) => [`${FIRST}\n${line.slice(0, -9)}`, `${line.slice(-9)}\n`],
  ],
  [
    'comes in two pieces, the end behind both',
    (line: string) => [`${FIRST}\n${line.slice(0, -9)}`, line.slice(-9), '\n'],
  ],
])('a line that %s', (_, piecesOf) => {
  const longest = 'x'.repeat(CONTENT_LINE_BYTES_MAX)

  test('has as many bytes as a line may have', () => {
    expect(lengthsOf(piecesOf(longest))).toEqual([FIRST.length, CONTENT_LINE_BYTES_MAX])
  })

  test('is refused with its number when it has one more', () => {
    const message = `line 2: a line has at most ${CONTENT_LINE_BYTES_MAX} bytes`
    const refusal = expect.objectContaining({ code: 'LIMIT_EXCEEDED', message })
    expect(() => lengthsOf(piecesOf(`${longest}x`))).toThrow(refusal)
  })
})

test('blank lines say nothing and count: a line goes by its number in the file', () => {
  const lines = new ContentLines()
  const taken = [
    ...lines.take(Buffer.from('first\n\n  \r\nsec')),
    ...lines.take(Buffer.from('ond\n\nlast')),
    ...lines.finish(),
  ]
  expect(taken).toEqual([
    { number: 1, text: 'first' },
    { number: 4, text: 'second' },
    { number: 6, text: 'last' },
  ])
  expect(() => [...lines.take(Buffer.from([0x0a, 0xff, 0x0a]))]).toThrow('line 8: expected UTF-8')
})
