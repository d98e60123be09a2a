/** Texts that become bytes together. Each is written once, and known by its place from then on, however many readers it has. */

export class TextBlock {
  #texts: string[] = []
  /** In bytes. */
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Returns where the text begins. It ends where the block ends now. */
  write(text: string): number {
    const from = this.#length
    this.#texts.push(text)
    this.#length += Buffer.byteLength(text)
    return from
  }

  /** The bytes of all that was written. The block is empty afterwards. */
  take(): Uint8Array {
    const bytes = new Uint8Array(this.#length)
    Buffer.from(bytes.buffer).write(this.#texts.join(''))
    this.#texts = []
    this.#length = 0
    return bytes
  }
}
