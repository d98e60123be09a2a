/**
 * Decodes the strings of a body that are not plain ASCII. Strings without escapes, in any script, stay in the
 * body, which must be valid UTF-8. Strings with escapes are decoded into a separate buffer. The offsets in
 * this buffer are counted from the end of the body.
 *
 * The decoder is as strict as `JSON.parse`: it rejects control characters, unknown escapes and unpaired
 * surrogates.
 */
import { isUtf8 } from 'node:buffer'
import { LONG_KEY_BYTES_MAX } from '#model/limits.ts'
import { BACKSLASH, QUOTE, REFUSED } from './plain-json.ts'

const LETTER_U = 0x75
/** The character that each escape letter stands for, except `u`. */
const ESCAPES: ReadonlyMap<number, number> = new Map(
  Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }).map(
    ([letter, meant]) => [letter.charCodeAt(0), meant.charCodeAt(0)],
  ),
)
const HIGH_SURROGATE = 0xd800
const LOW_SURROGATE = 0xdc00
const SURROGATES_END = 0xe000
const BEYOND_BMP = 0x10000
/**
 * Initial size in bytes of the buffer for decoded text. The buffer doubles as needed. It is released after
 * the request if it is larger than `KEPT_BYTES_MAX`.
 */
const BYTES_MIN = 256
const KEPT_BYTES_MAX = 64 * 1_024
/**
 * Maximum length of a key in the body, in bytes. Longer keys are left to `JSON.parse`, because clients
 * control the length, and each comparison with a template can read the key again. The longest valid key fits
 * even if each of its letters is escaped with a backslash.
 */
const KEY_TEXT_BYTES_MAX = 2 * LONG_KEY_BYTES_MAX
/** Number of bytes after a key that can be accessed by code that reads whole words. */
const PADDING = 3
/** Maximum length in bytes of a skipped string in a query that is compared with templates. */
const NEAR_BYTES = 1_024
/**
 * Number of skipped strings whose end offsets are cached. It equals the maximum number of gaps in a template.
 */
export const SKIPPED_VALUES_MAX = 16
const NOWHERE = -1

export class BodyTexts {
  /** Whether all strings that were read or skipped so far contain only ASCII. */
  isAscii = true
  /** Offset in the result of `bytes` and length of the key that was read last. */
  keyAt = 0
  keyLength = 0
  #body!: DataView
  /** Length of the body. It is stored because `byteLength` of a view is a function call. */
  #limit = 0
  #decoded = new Uint8Array(BYTES_MIN)
  #end = 0
  /** Start and end offsets of the strings that were skipped last. A new entry replaces the oldest one. */
  readonly #knownFrom = new Int32Array(SKIPPED_VALUES_MAX).fill(NOWHERE)
  readonly #knownEnds = new Int32Array(SKIPPED_VALUES_MAX)
  #oldestKnown = 0
  #hasKnown = false

  /** Starts to read another body. Returns its length in bytes. */
  begin(body: DataView): number {
    this.#body = body
    this.#limit = body.byteLength
    this.isAscii = true
    this.#end = 0
    if (this.#decoded.length > KEPT_BYTES_MAX) this.#decoded = new Uint8Array(BYTES_MIN)
    if (this.#hasKnown) this.#knownFrom.fill(NOWHERE)
    this.#hasKnown = false
    return this.#limit
  }

  /** Whether the strings that were read are valid UTF-8. O(bytes) if any of them is not ASCII. */
  get isValid(): boolean {
    if (this.isAscii) return true
    const { buffer, byteOffset } = this.#body
    return isUtf8(new Uint8Array(buffer, byteOffset, this.#limit))
  }

  /** The body, followed by the decoded strings. The result is valid until the next body begins. */
  get bytes(): DataView {
    if (this.#end === 0) return this.#body
    const { buffer, byteOffset } = this.#body
    const limit = this.#limit
    const all = new Uint8Array(limit + this.#end + PADDING)
    all.set(new Uint8Array(buffer, byteOffset, limit))
    all.set(this.#decoded.subarray(0, this.#end), limit)
    return new DataView(all.buffer)
  }

  /** Number of decoded bytes so far. Pass it to `forget` to drop what is decoded later. */
  get mark(): number {
    return this.#end
  }

  /** Drops the text that was decoded since `mark` was read. */
  forget(mark: number): void {
    this.#end = mark
  }

  /**
   * Reads a nonempty string with its quotes as a key. Returns the offset after the string, or `REFUSED`.
   * O(length); the length is limited.
   */
  keyEnd(at: number): number {
    const limit = Math.min(this.#limit, at + KEY_TEXT_BYTES_MAX)
    let end = this.unescapedEnd(at, limit)
    if (end !== REFUSED) {
      this.keyAt = at + 1
      this.keyLength = end - at - 2
    } else {
      const { mark } = this
      end = this.#decode(at, limit)
      this.keyAt = this.#limit + mark
      this.keyLength = this.mark - mark
    }
    return this.keyLength === 0 ? REFUSED : end
  }

  /**
   * Reads a string without escapes, in any script, with its quotes. Returns the offset after the string, or
   * `REFUSED`.
   */
  unescapedEnd(at: number, limit = this.#limit): number {
    const body = this.#body
    if (at >= limit || body.getUint8(at) !== QUOTE) return REFUSED
    let any = 0
    for (let next = at + 1; next < limit; next++) {
      const byte = body.getUint8(next)
      if (byte === QUOTE) {
        if (any >= 0x80) this.isAscii = false
        return next + 1
      }
      if (byte < 0x20 || byte === BACKSLASH) return REFUSED
      any |= byte
    }
    return REFUSED
  }

  /** Skips any string. Returns the offset after it, or `REFUSED`. */
  skippedEnd(at: number, limit = this.#limit): number {
    const end = this.unescapedEnd(at, limit)
    if (end !== REFUSED) return end
    const { mark } = this
    const escapedEnd = this.#decode(at, limit)
    this.forget(mark)
    return escapedEnd
  }

  /**
   * Like `skippedEnd`, but accepts only strings that end within `NEAR_BYTES`. The end offset is cached,
   * because every template that is compared with a query needs it. Without the cache, a client could send
   * long strings that make every template fail only after them. Each string would then be read once per
   * template.
   */
  nearSkippedEnd(at: number): number {
    const known = this.#knownFrom.indexOf(at)
    if (known !== -1) return this.#knownEnds[known]!
    const end = this.skippedEnd(at, Math.min(this.#limit, at + NEAR_BYTES))
    const place = this.#oldestKnown
    this.#knownFrom[place] = at
    this.#knownEnds[place] = end
    this.#oldestKnown = (place + 1) % SKIPPED_VALUES_MAX
    this.#hasKnown = true
    return end
  }

  #decode(at: number, limit: number): number {
    const body = this.#body
    if (at >= limit || body.getUint8(at) !== QUOTE) return REFUSED
    for (let next = at + 1; next !== REFUSED && next < limit;) {
      const byte = body.getUint8(next)
      if (byte === QUOTE) return next + 1
      if (byte < 0x20) return REFUSED
      if (byte === BACKSLASH) next = this.#escape(next + 1)
      else {
        if (byte >= 0x80) this.isAscii = false
        this.#put(byte)
        next++
      }
    }
    return REFUSED
  }

  /** Decodes the escape whose letter is at offset `at`. Returns the offset after the escape, or `REFUSED`. */
  #escape(at: number): number {
    const body = this.#body
    if (at >= this.#limit) return REFUSED
    const letter = body.getUint8(at)
    if (letter !== LETTER_U) {
      const meant = ESCAPES.get(letter)
      if (meant === undefined) return REFUSED
      this.#put(meant)
      return at + 1
    }
    const unit = this.#unit(at + 1)
    if (unit === REFUSED) return REFUSED
    if (unit < HIGH_SURROGATE || unit >= SURROGATES_END) {
      this.#putCodePoint(unit)
      return at + 5
    }
    const isFollowed =
      at + 6 < this.#limit && body.getUint8(at + 5) === BACKSLASH && body.getUint8(at + 6) === LETTER_U
    const low = isFollowed ? this.#unit(at + 7) : REFUSED
    if (unit >= LOW_SURROGATE || low < LOW_SURROGATE || low >= SURROGATES_END) return REFUSED
    this.#putCodePoint(BEYOND_BMP + ((unit - HIGH_SURROGATE) << 10) + (low - LOW_SURROGATE))
    return at + 11
  }

  /** Value of the four hexadecimal digits at `at`, or `REFUSED`. */
  #unit(at: number): number {
    const body = this.#body
    if (at + 4 > this.#limit) return REFUSED
    let unit = 0
    for (let next = at; next < at + 4; next++) {
      const digit = hexDigit(body.getUint8(next))
      if (digit === REFUSED) return REFUSED
      unit = (unit << 4) | digit
    }
    return unit
  }

  #putCodePoint(point: number): void {
    if (point < 0x80) {
      this.#put(point)
      return
    }
    if (point < 0x800) this.#put(0xc0 | (point >> 6))
    else {
      if (point < BEYOND_BMP) this.#put(0xe0 | (point >> 12))
      else {
        this.#put(0xf0 | (point >> 18))
        this.#put(0x80 | ((point >> 12) & 0x3f))
      }
      this.#put(0x80 | ((point >> 6) & 0x3f))
    }
    this.#put(0x80 | (point & 0x3f))
  }

  #put(byte: number): void {
    if (this.#end === this.#decoded.length) {
      const larger = new Uint8Array(2 * this.#end)
      larger.set(this.#decoded)
      this.#decoded = larger
    }
    this.#decoded[this.#end++] = byte
  }
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : REFUSED
}
