/**
 * Converts UUIDs to 16 bytes and back. The text is in lower case. A text that is not a UUID is a defect of
 * the caller.
 */
import { assert } from '#model/assert.ts'
import { textOf } from '#model/text/byte-text.ts'

export const UUID_BYTES = 16

export function writeUuid(bytes: Uint8Array, offset: number, uuid: string): void {
  assert(uuid.length === 36, () => `an id is a UUID of 36 characters, not ${JSON.stringify(uuid)}`)
  let at = offset
  for (let index = 0; index < 36; index += 2) {
    if (uuid.charCodeAt(index) === HYPHEN) index += 1
    bytes[at] = (NIBBLES[uuid.charCodeAt(index)]! << 4) | NIBBLES[uuid.charCodeAt(index + 1)]!
    at += 1
  }
}

export function readUuid(bytes: Uint8Array, offset: number): string {
  let at = 0
  for (let index = 0; index < UUID_BYTES; index += 1) {
    if (index === 4 || index === 6 || index === 8 || index === 10) at += 1
    const byte = bytes[offset + index]!
    CHARACTERS[at] = DIGITS[byte >>> 4]!
    CHARACTERS[at + 1] = DIGITS[byte & 15]!
    at += 2
  }
  return textOf(CHARACTERS)
}

export function uuidToBytes(uuid: string): Uint8Array {
  const bytes = new Uint8Array(UUID_BYTES)
  writeUuid(bytes, 0, uuid)
  return bytes
}

/** Concatenates a byte that determines the layout, ids (zeros for null), and an optional text at the end. */
export function joinIds(head: number, ids: readonly (string | null)[], text = ''): Uint8Array {
  const textAt = 1 + ids.length * UUID_BYTES
  const bytes = new Uint8Array(textAt + text.length)
  bytes[0] = head
  let offset = 1
  for (const id of ids) {
    if (id !== null) writeUuid(bytes, offset, id)
    offset += UUID_BYTES
  }
  // Most keys are ASCII, so each character is one byte and can be copied. Calling the encoder would cost more
  // than the rest of this function.
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code > ASCII_MAX) return withText(bytes.subarray(0, textAt), text)
    bytes[textAt + index] = code
  }
  return bytes
}

function withText(head: Uint8Array, text: string): Uint8Array {
  const textBytes = encoder.encode(text)
  const bytes = new Uint8Array(head.length + textBytes.length)
  bytes.set(head)
  bytes.set(textBytes, head.length)
  return bytes
}

const encoder = new TextEncoder()
const ASCII_MAX = 127
const HYPHEN = 45
/** Value of a hexadecimal digit, by its character code. */
const NIBBLES = new Uint8Array(128)
for (let value = 0; value < 16; value += 1) NIBBLES[value.toString(16).charCodeAt(0)] = value
/** Character codes of the hexadecimal digits. */
const DIGITS = Uint8Array.from('0123456789abcdef', digit => digit.charCodeAt(0))
/** Buffer in which the text of a UUID is assembled. It already contains the hyphens. */
const CHARACTERS = Uint8Array.from('00000000-0000-0000-0000-000000000000', character =>
  character.charCodeAt(0),
)
