/** The wire under a body in pieces is left alone when its sender has gone: the library ends the process otherwise. */
import { expect, test } from 'vitest'
import { BodyPieces } from '#http/edge/body-pieces.ts'

/** As the library's response: whoever touches one that is over gets an exception. */
function wireOf() {
  const wire = {
    isOver: false,
    pause: () => touch(),
    resume: () => touch(),
  }
  const touch = (): void => {
    if (wire.isOver) throw new Error('the response is over')
  }
  return wire
}

test.each([true, false])('a paused sender goes, all of its body there: %s', async isWhole => {
  const wire = wireOf()
  const pieces = new BodyPieces(wire)
  pieces.take(new ArrayBuffer(2_000_000), false)
  if (isWhole) pieces.take(new ArrayBuffer(1), true)
  wire.isOver = true
  pieces.lose()
  const read = pieces.next().then(
    piece => piece?.length,
    () => 'cut off',
  )
  expect(await read).toBe(isWhole ? 2_000_001 : 'cut off')
  await pieces.passed()
})
