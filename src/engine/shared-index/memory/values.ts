/**
 * Encodes values of attributes in words. A value is a *head*, which contains its kind and a payload, followed
 * by words, if the kind has any:
 *
 *   null, false, true    –
 *   small                –                      a whole number of 16 bits: the payload
 *   whole                1 word                 a whole number of 32 bits
 *   double               2 words
 *   text                 UTF-8, zero-padded     payload: bytes
 *   list                 words of the list · heads · their words   payload: elements (no list, no json)
 *   json                 bytes · UTF-8, zero-padded   all others: objects, nested lists, integers > 2^53
 *
 * Invariant: every scalar (all kinds before *list*) has exactly one encoding. Two scalars are therefore equal
 * if and only if their heads and words are.
 */

import { exactDouble, parsedJson } from '#model/text/json-numbers.ts'

export const NULL = 1
export const FALSE = 2
export const TRUE = 3
export const SMALL = 4
export const WHOLE = 5
export const DOUBLE = 6
export const TEXT = 7
export const LIST = 8
export const JSON_TEXT = 9

export const KIND_SHIFT = 16
export const PAYLOAD_MASK = 0xffff
/** Number of bits of the kind and the payload together. */
export const HEAD_BITS = 20
export const HEAD_MASK = (1 << HEAD_BITS) - 1

/**
 * Result for a value that has no encoding as a scalar. Such a value is not a scalar, or is a text that is too
 * long or contains half of a surrogate pair, or is a number that no double can represent.
 */
export const NO_FORM = -1

const WORD_BYTES = 4
const WORDS_MIN = 256
const ASCII_MAX = 0x7f
const HASH_MULTIPLIER = 0x2c1b3c6d
const encoder = new TextEncoder()
/** Without `ignoreBOM`, the decoder would remove U+FEFF from the beginning of a text. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const double = new Float64Array(1)
const doubleWords = new Int32Array(double.buffer)

/** A growable array of words into which values are written. */
export class ValueWords {
  words: Int32Array<ArrayBuffer> = new Int32Array(WORDS_MIN)
  length = 0

  /** Ensures capacity for this many more words. */
  reserve(more: number): void {
    if (this.length + more <= this.words.length) return
    const grown = new Int32Array(Math.max(this.length + more, 2 * this.words.length))
    grown.set(this.words.subarray(0, this.length))
    this.words = grown
  }

  push(word: number): void {
    this.reserve(1)
    this.words[this.length++] = word
  }

  /** Copies words from shared memory to the end. Returns the position of the copy. */
  copy(from: Int32Array, at: number, count: number): number {
    this.reserve(count)
    const { words, length } = this
    if (count > 64) words.set(from.subarray(at, at + count), length)
    else for (let word = 0; word < count; word++) words[length + word] = from[at + word]!
    this.length = length + count
    return length
  }

  /** Appends the words of a scalar and returns its head. If the result is `NO_FORM`, nothing was appended. */
  scalar(value: unknown): number {
    switch (typeof value) {
      case 'string':
        return this.#text(value)
      case 'number':
        return this.#number(value)
      case 'boolean':
        return (value ? TRUE : FALSE) << KIND_SHIFT
      case 'bigint': {
        const exact = exactDouble(value)
        return exact === null ? NO_FORM : this.#number(exact)
      }
      default:
        return value === null ? NULL << KIND_SHIFT : NO_FORM
    }
  }

  /** Appends JSON text, which can represent any value, and returns its head. */
  json(text: string): number {
    const bytes = encoder.encode(text)
    const words = (bytes.length + 3) >>> 2
    this.reserve(1 + words)
    this.words[this.length] = bytes.length
    this.#bytes(this.length + 1, bytes, words)
    this.length += 1 + words
    return JSON_TEXT << KIND_SHIFT
  }

  #number(value: number): number {
    if ((value << 16) >> 16 === value) return (SMALL << KIND_SHIFT) | (value & PAYLOAD_MASK)
    if ((value | 0) === value) {
      this.push(value)
      return WHOLE << KIND_SHIFT
    }
    if (!Number.isFinite(value)) return NO_FORM
    double[0] = value
    this.push(doubleWords[0]!)
    this.push(doubleWords[1]!)
    return DOUBLE << KIND_SHIFT
  }

  #text(text: string): number {
    const { length } = text
    if (length > PAYLOAD_MASK) return NO_FORM
    this.reserve((length + 3) >>> 2)
    const { words } = this
    let at = this.length
    let any = 0
    let word = 0
    for (let i = 0; i < length; i++) {
      const unit = text.charCodeAt(i)
      any |= unit
      word |= unit << ((i & 3) << 3)
      if ((i & 3) === 3) {
        words[at++] = word
        word = 0
      }
    }
    if (any > ASCII_MAX) return this.#unicode(text)
    if ((length & 3) !== 0) words[at++] = word
    this.length = at
    return (TEXT << KIND_SHIFT) | length
  }

  #unicode(text: string): number {
    if (!text.isWellFormed()) return NO_FORM
    const bytes = encoder.encode(text)
    if (bytes.length > PAYLOAD_MASK) return NO_FORM
    const words = (bytes.length + 3) >>> 2
    this.reserve(words)
    this.#bytes(this.length, bytes, words)
    this.length += words
    return (TEXT << KIND_SHIFT) | bytes.length
  }

  #bytes(at: number, bytes: Uint8Array, words: number): void {
    if (words > 0) this.words[at + words - 1] = 0
    new Uint8Array(this.words.buffer, at * WORD_BYTES, bytes.length).set(bytes)
  }
}

export function kindOf(head: number): number {
  return (head & HEAD_MASK) >>> KIND_SHIFT
}

/** Returns the number of words that belong to a value and follow its head. */
export function wordsBehind(head: number, words: Int32Array, at: number): number {
  switch (kindOf(head)) {
    case WHOLE:
      return 1
    case DOUBLE:
      return 2
    case TEXT:
      return ((head & PAYLOAD_MASK) + 3) >>> 2
    case LIST:
      return words[at]!
    case JSON_TEXT:
      return 1 + ((words[at]! + 3) >>> 2)
    default:
      return 0
  }
}

/** Returns whether two scalars are equal. O(words). */
export function isSameScalar(
  head: number,
  words: Int32Array,
  at: number,
  otherHead: number,
  otherWords: Int32Array,
  otherAt: number,
): boolean {
  if (((head ^ otherHead) & HEAD_MASK) !== 0) return false
  const count = wordsBehind(head, words, at)
  for (let word = 0; word < count; word++) if (words[at + word] !== otherWords[otherAt + word]) return false
  return true
}

/** Returns a hash of a scalar. Equal scalars have equal hashes. O(words). */
export function hashOfScalar(head: number, words: Int32Array, at: number): number {
  const count = wordsBehind(head, words, at)
  let hash = Math.imul(head & HEAD_MASK, HASH_MULTIPLIER)
  hash ^= hash >>> 15
  for (let word = 0; word < count; word++) {
    hash = Math.imul(hash ^ words[at + word]!, HASH_MULTIPLIER)
    hash ^= hash >>> 15
  }
  return hash
}

/** Returns the value as a number, or `NaN` if it is not a number. */
export function numberIn(head: number, words: Int32Array, at: number): number {
  switch (kindOf(head)) {
    case SMALL:
      return (head << 16) >> 16
    case WHOLE:
      return words[at]!
    case DOUBLE:
      doubleWords[0] = words[at]!
      doubleWords[1] = words[at + 1]!
      return double[0]!
    default:
      return Number.NaN
  }
}

/** Returns the value as JSON. O(words). */
export function valueIn(head: number, words: Int32Array, at: number): unknown {
  switch (kindOf(head)) {
    case NULL:
      return null
    case FALSE:
      return false
    case TRUE:
      return true
    case TEXT:
      return textIn(words, at, head & PAYLOAD_MASK)
    case LIST: {
      const values: unknown[] = []
      forEachElement(head, words, at, (element, from) => values.push(valueIn(element, words, from)))
      return values
    }
    case JSON_TEXT:
      return parsedJson(textIn(words, at + 1, words[at]!))
    default:
      return numberIn(head, words, at)
  }
}

/** Returns whether the value is an integer beyond 2^53, which is stored as text. */
export function isLongInteger(head: number, words: Int32Array, at: number): boolean {
  if (kindOf(head) !== JSON_TEXT) return false
  const first = words[at + 1]! & 0xff
  return first === 0x2d || (first >= 0x30 && first <= 0x39)
}

/** Returns the value as JSON text. O(words). */
export function jsonIn(head: number, words: Int32Array, at: number): string {
  if (kindOf(head) === JSON_TEXT) return textIn(words, at + 1, words[at]!)
  return JSON.stringify(valueIn(head, words, at))
}

export function forEachElement(
  head: number,
  words: Int32Array,
  at: number,
  visit: (head: number, at: number) => void,
): void {
  const count = head & PAYLOAD_MASK
  let behind = at + 1 + count
  // Stops at a torn read. With this check, the number of words bounds the total work.
  if (!(words[at]! > count) || behind > words.length) return
  for (let index = 1; index <= count; index++) {
    const element = words[at + index]!
    visit(element, behind)
    behind += wordsBehind(element, words, behind)
  }
}

/** Returns the text at this position. Copies it first, because a decoder rejects shared memory. */
export function textIn(words: Int32Array, at: number, bytes: number): string {
  if (bytes <= 32) {
    let text = ''
    for (let index = 0; index < bytes; index++) {
      const byte = (words[at + (index >>> 2)]! >>> ((index & 3) << 3)) & 0xff
      if (byte > ASCII_MAX) return decoded(words, at, bytes)
      text += String.fromCharCode(byte)
    }
    return text
  }
  return decoded(words, at, bytes)
}

/** Decodes a text. If the bounds are torn, the text is empty or wrong, but no error is thrown. */
function decoded(words: Int32Array, at: number, bytes: number): string {
  if (!(at > 0 && bytes >= 0 && at * WORD_BYTES + bytes <= words.byteLength)) return ''
  const all = new Uint8Array(words.buffer, words.byteOffset + at * WORD_BYTES, bytes)
  return decoder.decode(words.buffer instanceof ArrayBuffer ? all : all.slice())
}
