/** Lines of an import: put together from pieces that end anywhere, and no longer than a line may be. */
import { describe, expect, test } from 'vitest'
import { CONTENT_LINE_BYTES_MAX } from '#model/limits.ts'
import { ContentLines } from '#services/content-lines.ts'

const FIRST = 'first'

/** The lengths of the lines in these pieces. */
function lengthsOf(pieces: readonly string[]): number[] {
  const lines = new ContentLines()
  const found: number[] = []
  for (const piece of pieces) for (const line of lines.take(Buffer.from(piece))) found.push(line.length)
  for (const line of lines.finish()) found.push(line.length)
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
