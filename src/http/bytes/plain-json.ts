/**
 * Scanners for the parts of JSON that never need decoding: ASCII strings without escapes, numbers and
 * literals.
 *
 * Each function gets the offset at which a value should begin, and returns the offset after the value, or
 * `REFUSED`. If a scanner accepts a value, `JSON.parse` reads it with the same meaning. If a scanner rejects
 * a value, it can still be valid JSON. The end of the bytes is rejected like any other unexpected byte.
 */

export const REFUSED = -1

export const QUOTE = 0x22
export const BACKSLASH = 0x5c
export const COMMA = 0x2c
export const COLON = 0x3a
export const OPEN_BRACKET = 0x5b
export const CLOSE_BRACKET = 0x5d
export const OPEN_BRACE = 0x7b
export const CLOSE_BRACE = 0x7d

const MINUS = 0x2d
const PLUS = 0x2b
const POINT = 0x2e
const ZERO = 0x30

/**
 * Offset of the first byte from `at` on that is not whitespace. If there is none, the length of the bytes.
 */
export function skipBlanks(bytes: Uint8Array, at: number): number {
  let next = at
  for (;;) {
    if (!isBlank(bytes[next])) return next
    next++
  }
}

export function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/** Scans an ASCII string without escapes, including its quotes. */
export function stringEnd(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== QUOTE) return REFUSED
  for (let next = at + 1; next < bytes.length; next++) {
    const byte = bytes[next]!
    if (byte === QUOTE) return next + 1
    if (byte < 0x20 || byte >= 0x80 || byte === BACKSLASH) return REFUSED
  }
  return REFUSED
}

/**
 * Skips a list of any content by counting brackets and skipping strings. Does not check that the list is
 * valid JSON. If it is not, the returned offset can be wrong.
 */
export function listEnd(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== OPEN_BRACKET) return REFUSED
  let depth = 0
  for (let next = at; next < bytes.length; next++) {
    const byte = bytes[next]
    if (byte === QUOTE) {
      for (next++; next < bytes.length && bytes[next] !== QUOTE; next++) if (bytes[next] === BACKSLASH) next++
    } else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) depth++
    else if (byte === CLOSE_BRACKET || byte === CLOSE_BRACE) {
      depth--
      if (depth === 0) return next + 1
    }
  }
  return REFUSED
}

export function literalEnd(bytes: Uint8Array, at: number, literal: 'null' | 'true' | 'false'): number {
  const end = at + literal.length
  return isText(bytes, at, end, literal) ? end : REFUSED
}

/**
 * Scans a number. `limit` is the length of the body in bytes. The argument is a `DataView` because both the
 * readers and the templates have one.
 */
export function numberEnd(bytes: DataView, at: number, limit: number): number {
  let next = byteAt(bytes, at, limit) === MINUS ? at + 1 : at
  next = byteAt(bytes, next, limit) === ZERO ? next + 1 : digitsEnd(bytes, next, limit)
  if (next !== REFUSED && byteAt(bytes, next, limit) === POINT) next = digitsEnd(bytes, next + 1, limit)
  if (next === REFUSED || (byteAt(bytes, next, limit) | 0x20) !== 0x65) return next
  next++
  const sign = byteAt(bytes, next, limit)
  return digitsEnd(bytes, sign === PLUS || sign === MINUS ? next + 1 : next, limit)
}

/** Scans one or more digits. */
function digitsEnd(bytes: DataView, at: number, limit: number): number {
  let next = at
  while (next < limit && isDigit(bytes.getUint8(next))) next++
  return next === at ? REFUSED : next
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= ZERO + 9
}

/** Byte at an offset. Returns 0 after the end, because this byte never occurs in JSON. */
function byteAt(bytes: DataView, at: number, limit: number): number {
  return at < limit ? bytes.getUint8(at) : 0
}

/** Whether the range contains exactly this ASCII text. */
export function isText(bytes: Uint8Array, from: number, to: number, text: string): boolean {
  if (to - from !== text.length) return false
  for (let i = 0; i < text.length; i++) {
    if (bytes[from + i] !== text.charCodeAt(i)) return false
  }
  return true
}
