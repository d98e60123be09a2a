/** Answers in pieces: kept for whoever reads on, and for nobody else. */
import { expect, test } from 'vitest'
import { ContentStream } from '#management/content/content-stream.ts'

/** So many lines, of a piece each; tells how many were made, and whether somebody gave the rest up. */
function linesOf(count: number) {
  const made = { lines: 0, isGivenUp: false }
  function* lines(): Iterable<string> {
    try {
      for (; made.lines < count; made.lines += 1) yield 'x'.repeat(100_000)
    } finally {
      made.isGivenUp = made.lines < count
    }
  }
  return { made, lines: lines() }
}

test('one that nobody reads on is ended and what it holds is released, once', async () => {
  const { made, lines } = linesOf(3)
  let releases = 0
  const released = Promise.withResolvers<void>()
  const stream = new ContentStream(
    lines,
    () => {
      releases += 1
      released.resolve()
    },
    { idleMsMax: 20 },
  )
  expect((await stream.next())?.length).toBe(100_000)
  await released.promise
  expect(made).toEqual({ lines: 0, isGivenUp: true })
  await expect(stream.next()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  stream.cancel()
  expect(releases).toBe(1)
})

test('one that is read to its end is released at the end, and not before', async () => {
  const { made, lines } = linesOf(3)
  let releases = 0
  const stream = new ContentStream(lines, () => (releases += 1))
  const lengths: (number | undefined)[] = []
  for (let piece = await stream.next(); piece !== null; piece = await stream.next()) {
    lengths.push(piece.length)
    expect(releases).toBe(0)
  }
  expect(lengths).toEqual([100_000, 100_000, 100_000])
  expect([releases, made.isGivenUp]).toEqual([1, false])
})
