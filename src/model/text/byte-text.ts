/**
 * Represents bytes as text with one character per byte, for keys of maps and trees. Texts compare and sort
 * exactly like their bytes.
 */

// A method of Node.js that its type declarations omit. Without this method, each key would need a `Buffer`.
const { latin1Slice } = Buffer.prototype as unknown as {
  readonly latin1Slice: (this: Uint8Array, start: number, end: number) => string
}

export function textOf(bytes: Uint8Array): string {
  return latin1Slice.call(bytes, 0, bytes.length)
}

/** Returns the bytes of such a text. The caller may modify them. */
export function bytesOf(text: string): Uint8Array {
  return Buffer.from(text, 'latin1')
}
