/**
 * Prepares a key for a lookup. The UTF-8 bytes of the key are packed into words, padded with zeros, and
 * hashed with a secret seed. Each thread uses one buffer for all keys, so a lookup allocates no memory.
 *
 * Invariant: equal words and equal byte lengths mean equal texts. Empty texts, texts longer than 512 bytes
 * and texts without a UTF-8 form (lone surrogates) are not valid keys. For such a text, `read` returns false,
 * and no entity can have it as its name.
 */
import { KEY_BYTES_MAX, WORD_BYTES } from './layout.ts'
import type { HashSecrets } from './index-buffers.ts'

const LENGTH_MIX = 0x85ebca6b | 0

export class Key {
  readonly words = new Int32Array(KEY_BYTES_MAX / WORD_BYTES)
  bytes = 0
  hash = 0
  readonly #bytes = new Uint8Array(this.words.buffer)
  readonly #encoder = new TextEncoder()
  readonly #start: number
  readonly #multiplier: number

  constructor(start: number, multiplier: number) {
    this.#start = start
    this.#multiplier = multiplier
  }

  /**
   * Reads a text as the key of an entity of this type, and computes the hash of both. Returns false if the
   * text is not a valid key. O(length).
   */
  read(text: string, type: number): boolean {
    if (text.length === 0 || text.length > KEY_BYTES_MAX) return false
    return this.readAscii(text, type, this.words, 0) || this.#readUnicode(text, type)
  }

  /**
   * Like `read`, but writes the key to words of the caller, and supports only ASCII. Sets `bytes` and `hash`.
   * Returns false if the text is not ASCII. The text must fit into these words. Use it to read many keys
   * before the first of them is looked up.
   */
  readAscii(text: string, type: number, into: Int32Array, from: number): boolean {
    const length = text.length
    const multiplier = this.#multiplier
    let hash = this.#start ^ Math.imul(type + 1, LENGTH_MIX)
    let at = from
    let any = 0
    const whole = length & ~3
    for (let i = 0; i < whole; i += 4) {
      const a = text.charCodeAt(i)
      const b = text.charCodeAt(i + 1)
      const c = text.charCodeAt(i + 2)
      const d = text.charCodeAt(i + 3)
      any |= a | b | c | d
      const word = a | (b << 8) | (c << 16) | (d << 24)
      into[at++] = word
      hash = Math.imul(hash ^ word, multiplier)
      hash ^= hash >>> 15
    }
    if (whole < length) {
      let word = 0
      for (let i = whole; i < length; i++) {
        const unit = text.charCodeAt(i)
        any |= unit
        word |= unit << ((i & 3) << 3)
      }
      into[at] = word
      hash = Math.imul(hash ^ word, multiplier)
      hash ^= hash >>> 15
    }
    this.bytes = length
    this.hash = finish(hash, length, multiplier)
    return any <= 0x7f
  }

  /**
   * Like `read`, for a key given as UTF-8 bytes. The three bytes after the key must be readable. O(length),
   * word by word.
   */
  readBytes(
    bytes: DataView,
    start: number,
    length: number,
    type: number,
    into: Int32Array,
    from: number,
  ): void {
    const multiplier = this.#multiplier
    const end = start + (length & ~3)
    let hash = this.#start ^ Math.imul(type + 1, LENGTH_MIX)
    let at = from
    for (let i = start; i < end; i += 4) {
      const word = bytes.getInt32(i, true)
      into[at++] = word
      hash = Math.imul(hash ^ word, multiplier)
      hash ^= hash >>> 15
    }
    const rest = length & 3
    if (rest !== 0) {
      const word = bytes.getInt32(end, true) & ((1 << (rest << 3)) - 1)
      into[at] = word
      hash = Math.imul(hash ^ word, multiplier)
      hash ^= hash >>> 15
    }
    this.bytes = length
    this.hash = finish(hash, length, multiplier)
  }

  #readUnicode(text: string, type: number): boolean {
    if (!text.isWellFormed()) return false
    const { read, written } = this.#encoder.encodeInto(text, this.#bytes)
    if (read !== text.length) return false
    const words = (written + 3) >>> 2
    this.#bytes.fill(0, written, words << 2)
    this.bytes = written
    this.hash = this.#hashWords(type)
    return true
  }

  /** Returns the hash of the key in `words`. */
  #hashWords(type: number): number {
    const secrets = { start: this.#start, multiplier: this.#multiplier }
    return hashOf({ words: this.words, from: 0, bytes: this.bytes }, type, secrets)
  }

  /** Reads the key of a record, so that the table can find its slot. */
  readRecord(words: Int32Array, from: number, bytes: number, type: number): void {
    const count = (bytes + 3) >>> 2
    for (let at = 0; at < count; at++) this.words[at] = words[from + at]!
    this.bytes = bytes
    this.hash = this.#hashWords(type)
  }
}

/**
 * Returns the hash of a key in words, padded with zeros. It equals the hash that `Key.read` computes.
 * O(length).
 */
export function hashOf(
  { words, from, bytes }: { readonly words: Int32Array; readonly from: number; readonly bytes: number },
  type: number,
  { start, multiplier }: HashSecrets,
): number {
  const end = from + ((bytes + 3) >>> 2)
  let hash = start ^ Math.imul(type + 1, LENGTH_MIX)
  for (let at = from; at < end; at++) {
    hash = Math.imul(hash ^ words[at]!, multiplier)
    hash ^= hash >>> 15
  }
  return finish(hash, bytes, multiplier)
}

/** Mixes all bits of the hash into its top bits, which select the partition and the slot. */
function finish(hash: number, length: number, multiplier: number): number {
  const mixed = Math.imul(hash ^ Math.imul(length, LENGTH_MIX), multiplier)
  return Math.imul(mixed ^ (mixed >>> 16), multiplier)
}
