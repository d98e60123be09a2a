/** Lines of an import that arrives in chunks. */
import { describe, expect, test } from 'vitest'
import { CONTENT_LINE_BYTES_MAX } from '#model/limits.ts'
import { LineSplitter } from '#management/content/line-splitter.ts'

const FIRST = 'first'

function lengthsOf(pieces: readonly string[]): number[] {
  const lines = new LineSplitter()
  const found: number[] = []
  for (const piece of pieces) for (const line of lines.take(Buffer.from(piece))) found.push(line.text.length)
  for (const line of lines.finish()) found.push(line.text.length)
  return found
}

describe.each([
  ['arrives in one chunk', (line: string) => [`${FIRST}\n${line}\n`]],
  ['arrives in one chunk without a newline', (line: string) => [`${FIRST}\n`, line]],
  [
    'arrives in two chunks, the newline within the second',
    (line: string) => [`${FIRST}\n${line.slice(0, -9)}`, `${line.slice(-9)}\n`],
  ],
  [
    'arrives in two chunks, the newline in a third',
    (line: string) => [`${FIRST}\n${line.slice(0, -9)}`, line.slice(-9), '\n'],
  ],
])('an import line that %s', (_, piecesOf) => {
  const longest = 'x'.repeat(CONTENT_LINE_BYTES_MAX)

  test('can have as many bytes as the limit', () => {
    expect(lengthsOf(piecesOf(longest))).toEqual([FIRST.length, CONTENT_LINE_BYTES_MAX])
  })

  test('is refused with its line number if it has one byte more than the limit', () => {
    const message = `line 2: a line has at most ${CONTENT_LINE_BYTES_MAX} bytes`
    const refusal = expect.objectContaining({ code: 'LIMIT_EXCEEDED', message })
    expect(() => lengthsOf(piecesOf(`${longest}x`))).toThrow(refusal)
  })
})

test('an import skips blank lines but counts them, so errors state the line number in the file', () => {
  const lines = new LineSplitter()
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
