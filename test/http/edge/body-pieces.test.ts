/** Bodies in pieces do not touch the response of a disconnected client, which would terminate the process. */
import { expect, test } from 'vitest'
import { BodyPieces } from '#http/edge/body-pieces.ts'

/** Throws if it is used after the end of the response, like the HTTP library. */
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

test.each([true, false])('a paused client can disconnect; body complete: %s', async isWhole => {
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
