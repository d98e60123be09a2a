/** Checks JSON texts whose values are stored, computes sizes of JSON, and serializes responses. */
import { AuthzError } from '#model/errors.ts'

const BACKSLASH = 0x5c
const QUOTE = 0x22
/** Error message of V8 for strings longer than its limit of half a gigabyte. */
const TOO_LONG = 'Invalid string length'

/** Serializes a response. Throws `LIMIT_EXCEEDED` if the text would exceed the maximum length of a string. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (!(error instanceof RangeError) || error.message !== TOO_LONG) throw error
    throw new AuthzError('LIMIT_EXCEEDED', 'the response would exceed 512 MiB: request less at a time')
  }
}

/**
 * Returns whether brackets outside of strings are nested more deeply than `depthMax`. The result is correct
 * for valid JSON. For other texts it can be wrong, but the parser then rejects the text. O(length), without
 * recursion.
 */
export function isDeeperThan(text: string, depthMax: number): boolean {
  let depth = 0
  let isInString = false
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (isInString) {
      if (unit === BACKSLASH) i++
      else if (unit === QUOTE) isInString = false
    } else if (unit === QUOTE) {
      isInString = true
    } else if (unit === 0x5b || unit === 0x7b) {
      if (++depth > depthMax) return true
    } else if (unit === 0x5d || unit === 0x7d) {
      depth--
    }
  }
  return false
}

/**
 * Matches a number that has an exponent, or more digits than any double. The match can be within a string.
 * The pattern begins with the characters that can precede a number, so that it is not tried at each digit.
 */
const PERHAPS_TOO_LARGE = /[:,[\s]-?(?:\d+(?:\.\d+)?[eE]\+?\d|\d{300})/u

/**
 * Returns whether a value contains a number beyond the range of doubles, which would be stored as null.
 * `text` is the JSON of the value. The value is traversed only if the text might contain such a number. The
 * nesting depth of the value must have been checked. O(length).
 */
export function hasNumberTooLarge(value: unknown, text: string): boolean {
  return PERHAPS_TOO_LARGE.test(text) && hasInfinity(value)
}

function hasInfinity(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return false
  return (Array.isArray(value) ? value : Object.values(value)).some(hasInfinity)
}

/**
 * Returns whether valid JSON text contains an unpaired surrogate. Text that was decoded from UTF-8 contains
 * none, so only a `\u` escape can produce one. Only such escapes are examined, because in JSON, backslashes
 * occur only in strings.
 */
export function hasUnpairedSurrogate(text: string): boolean {
  let at = text.indexOf('\\')
  while (at !== -1) {
    const unit = escapedUnit(text, at)
    if (unit >= 0xd800 && unit <= 0xdbff) {
      const next = escapedUnit(text, at + 6)
      if (next < 0xdc00 || next > 0xdfff) return true
      at += 12
    } else if (unit >= 0xdc00 && unit <= 0xdfff) {
      return true
    } else {
      // Skips the escaped character, so that an escaped backslash does not begin an escape.
      at += 2
    }
    at = text.indexOf('\\', at)
  }
  return false
}

/** Returns the UTF-16 code unit of a `\uXXXX` escape at this position, or -1 if there is no such escape. */
function escapedUnit(text: string, at: number): number {
  if (text.charCodeAt(at) !== BACKSLASH || text[at + 1] !== 'u') return -1
  return Number.parseInt(text.slice(at + 2, at + 6), 16)
}

/**
 * For each ASCII character, its size in a JSON string. If it must be escaped, this is the size of the escape.
 */
const ASCII_BYTES = Uint8Array.from(
  { length: 0x80 },
  (_, unit) => JSON.stringify(String.fromCharCode(unit)).length - 2,
)

/**
 * Returns the size of a JSON value as UTF-8 without spaces. If the size exceeds `bytesMax`, returns some
 * number greater than `bytesMax`. Allocates nothing for long values, and reads no more than necessary. The
 * nesting depth of the value must have been checked.
 */
export function jsonBytes(value: unknown, bytesMax: number): number {
  if (typeof value === 'string') return stringBytes(value, bytesMax)
  if (typeof value !== 'object' || value === null) return String(value).length
  // Counts the brackets and one comma for each item. The first item has no comma, so the limit of the count
  // is higher by one.
  const countMax = bytesMax + 1
  let count = 2
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && count <= countMax; index += 1) {
      count += 1 + jsonBytes(value[index], countMax - count - 1)
    }
  } else {
    for (const name in value) {
      if (count > countMax) break
      count += 2 + stringBytes(name, countMax - count - 2)
      count += jsonBytes((value as Readonly<Record<string, unknown>>)[name], countMax - count)
    }
  }
  return count === 2 ? count : count - 1
}

function stringBytes(text: string, bytesMax: number): number {
  let bytes = 2
  for (let index = 0; index < text.length && bytes <= bytesMax; index += 1) {
    const unit = text.charCodeAt(index)
    // Each half of a surrogate pair counts as two of the four bytes of the pair.
    bytes += unit < 0x80 ? ASCII_BYTES[unit]! : unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3
  }
  return bytes
}
