/** UUIDs as 16 bytes and back. Lower-case text on both sides; a text that is no UUID is a broken invariant. */
import { assert } from '#model/assert.ts'

export const UUID_BYTES = 16

export function writeUuid(bytes: Uint8Array, offset: number, uuid: string): void {
  assert(uuid.length === 36, `an id is a UUID of 36 characters, not ${JSON.stringify(uuid)}`)
  let at = offset
  for (let index = 0; index < 36; index += 2) {
    if (uuid.charCodeAt(index) === HYPHEN) index += 1
    bytes[at] = (NIBBLES[uuid.charCodeAt(index)]! << 4) | NIBBLES[uuid.charCodeAt(index + 1)]!
    at += 1
  }
}

export function readUuid(bytes: Uint8Array, offset: number): string {
  let text = ''
  for (let index = 0; index < UUID_BYTES; index += 1) {
    if (index === 4 || index === 6 || index === 8 || index === 10) text += '-'
    text += HEX[bytes[offset + index]!]
  }
  return text
}

export function uuidToBytes(uuid: string): Uint8Array {
  const bytes = new Uint8Array(UUID_BYTES)
  writeUuid(bytes, 0, uuid)
  return bytes
}

/** A byte that says what follows, ids, zeros for one that is null, and at most one text, last. */
export function joinIds(head: number, ids: readonly (string | null)[], text = ''): Uint8Array {
  const textBytes = text === '' ? NO_BYTES : encoder.encode(text)
  const bytes = new Uint8Array(1 + ids.length * UUID_BYTES + textBytes.length)
  bytes[0] = head
  let offset = 1
  for (const id of ids) {
    writeUuid(bytes, offset, id ?? NO_ID)
    offset += UUID_BYTES
  }
  bytes.set(textBytes, offset)
  return bytes
}

const NO_ID = '00000000-0000-0000-0000-000000000000'
const encoder = new TextEncoder()
const NO_BYTES = new Uint8Array(0)
const HYPHEN = 45
/** The value of a hexadecimal digit, by its character code. */
const NIBBLES = new Uint8Array(128)
for (let value = 0; value < 16; value += 1) NIBBLES[value.toString(16).charCodeAt(0)] = value
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
