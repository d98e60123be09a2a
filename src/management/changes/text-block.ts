/**
 * Collects texts that are encoded together. Each text is written once and then identified by its offset,
 * however many readers it has.
 */

export class TextBlock {
  #texts: string[] = []
  /** In bytes. */
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Appends the text and returns the offset of its first byte. It ends at the current `length`. */
  write(text: string): number {
    const from = this.#length
    this.#texts.push(text)
    this.#length += Buffer.byteLength(text)
    return from
  }

  /** Returns the bytes of all written texts and clears the block. */
  take(): Uint8Array {
    const bytes = new Uint8Array(this.#length)
    Buffer.from(bytes.buffer).write(this.#texts.join(''))
    this.#texts = []
    this.#length = 0
    return bytes
  }
}
