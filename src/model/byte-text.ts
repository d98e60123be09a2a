/** Bytes as texts, one character a byte: the keys of maps and trees. Two texts are equal, and order, exactly as their bytes are. */

// A method of Node's that its types leave out. Without it, each key would need a `Buffer` around it first.
const { latin1Slice } = Buffer.prototype as unknown as {
  readonly latin1Slice: (this: Uint8Array, start: number, end: number) => string
}

export function textOf(bytes: Uint8Array): string {
  return latin1Slice.call(bytes, 0, bytes.length)
}

/** The bytes of such a text, for the receiver to keep. */
export function bytesOf(text: string): Uint8Array {
  return Buffer.from(text, 'latin1')
}
