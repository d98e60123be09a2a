/** What a JSON text must not be where its value is kept, and a text for a value. */
import { AuthzError } from './errors.ts'

const BACKSLASH = 0x5c
const QUOTE = 0x22
/** What V8 says of a text that would be longer than any may be: half a gigabyte. */
const TOO_LONG = 'Invalid string length'

/** The text of an answer. Throws `LIMIT_EXCEEDED` where it would be longer than a text may be. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (!(error instanceof RangeError) || error.message !== TOO_LONG) throw error
    throw new AuthzError(
      'LIMIT_EXCEEDED',
      'the answer would be longer than half a gigabyte: ask for less at once',
    )
  }
}

/**
 * Whether brackets outside of strings ever stand open more than `depthMax` deep. Right for valid JSON; for anything
 * else the answer may be wrong, and the parser then refuses the text anyway. O(length), without recursion.
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
 * A number with an exponent, or with more digits than any double has; may stand in a string. Begins with what stands before
 * numbers, so that no digits are looked at for each of them.
 */
const PERHAPS_TOO_LARGE = /[:,[\s]-?(?:\d+(?:\.\d+)?[eE]\+?\d|\d{300})/u

/**
 * Whether a value has a number beyond all doubles, which would be kept as null. `text` is what it was parsed from: only
 * where that has such a thing is the value walked, which must not nest deeper than may be kept. O(length).
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
 * Whether valid JSON text spells half a character. Text decoded from UTF-8 has no loose halves of its own, so only
 * `\u` escapes can bring one, and backslashes stand nowhere but in strings.
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
      // Past the escaped character, so that an escaped backslash does not begin an escape.
      at += 2
    }
    at = text.indexOf('\\', at)
  }
  return false
}

/** The UTF-16 unit that a `\uXXXX` at this place spells, -1 when something else stands there. */
function escapedUnit(text: string, at: number): number {
  if (text.charCodeAt(at) !== BACKSLASH || text[at + 1] !== 'u') return -1
  return Number.parseInt(text.slice(at + 2, at + 6), 16)
}

/** What each character of ASCII takes in a JSON string: an escape where it needs one. */
const ASCII_BYTES = Uint8Array.from(
  { length: 0x80 },
  (_, unit) => JSON.stringify(String.fromCharCode(unit)).length - 2,
)

/**
 * The bytes of a JSON value as UTF-8 without spaces; some number greater than `bytesMax` as soon as there are more. Nothing is
 * allocated for a long value, and no more of it is looked at than has to be. The value must not nest deeper than may be kept.
 */
export function jsonBytes(value: unknown, bytesMax: number): number {
  if (typeof value === 'string') return stringBytes(value, bytesMax)
  if (typeof value !== 'object' || value === null) return String(value).length
  // Brackets, and a comma with each item, which the first has not: so much may be counted.
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
    // Half of a character beyond the first 65,536 is half of its four bytes.
    bytes += unit < 0x80 ? ASCII_BYTES[unit]! : unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3
  }
  return bytes
}
