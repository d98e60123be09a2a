/** Streams of exported content, and the release of their resources. */
import { expect, test } from 'vitest'
import { ContentStream } from '#management/content/content-stream.ts'

/** An iterator of `count` lines with one chunk each. It records the created lines and an early return. */
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

test('a content stream without reads is ended, and its resources are released once', async () => {
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

test('a content stream that is read to the end releases its resources only at the end', async () => {
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
