/** A key has the same words and hash whether it is read from a string, from a body, or from a record. */
import { expect, test } from 'vitest'
import { Key } from '#engine/shared-index/memory/key.ts'
import { KEY_BYTES_MAX } from '#engine/shared-index/memory/layout.ts'
import { COLLIDING, SECRETS } from '#testing/engines/shared-engine.ts'

const ALPHABET = Array.from({ length: 0x80 }, (_, unit) => String.fromCharCode(unit)).join('')

test.each([SECRETS, COLLIDING])('bytes and text of any length have the same words and hash', secrets => {
  const text = new Key(secrets.start, secrets.multiplier)
  const bytes = new Key(secrets.start, secrets.multiplier)
  for (let length = 1; length <= KEY_BYTES_MAX; length++) {
    for (const type of [0, 1, 65_535]) {
      const from = length % 7
      const around = ALPHABET.repeat(5)
      const key = around.slice(from, from + length)
      expect(text.read(key, type)).toBe(true)
      text.words.fill(0, (length + 3) >>> 2)
      bytes.words.fill(0)
      bytes.readBytes(viewOf(Buffer.from(around)), from, length, type, bytes.words, 0)
      expect(bytes.hash).toBe(text.hash)
      expect(bytes.bytes).toBe(length)
      expect(bytes.words).toEqual(text.words)
    }
  }
})

test('words are written only to the requested position', () => {
  const key = new Key(SECRETS.start, SECRETS.multiplier)
  const into = new Int32Array(4).fill(-1)
  key.readBytes(viewOf(Buffer.from('"alice"}}')), 1, 5, 7, into, 1)
  expect(into).toEqual(Int32Array.of(-1, 0x63696c61, 0x65, -1))
})

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}

test('keys that were chosen to collide with one secret do not collide with another', () => {
  const [known, secret] = [new Key(SECRETS.start, SECRETS.multiplier), new Key(0x51ed270b, 0x27d4eb2f)]
  const slotOf = (key: Key, text: string): number => {
    expect(key.read(text, 1)).toBe(true)
    return key.hash >>> 20
  }
  const chosen = Array.from({ length: 200_000 }, (_, index) => `key-${index}`).filter(
    text => slotOf(known, text) === 7,
  )
  expect(chosen.length).toBeGreaterThan(20)
  const groups = Map.groupBy(chosen, text => slotOf(secret, text))
  const most = Math.max(...Array.from(groups.values(), ({ length }) => length))
  expect(most).toBeLessThan(chosen.length / 4)
})
