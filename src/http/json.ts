/**
 * From body bytes to a JSON value. Refuses what `JSON.parse` would let through: bytes that are no UTF-8 and unpaired
 * surrogates, because both turn two different texts into one when they are stored as UTF-8; and deep nesting,
 * because parsing 16 MiB of brackets would take gigabytes.
 *
 * Nesting is therefore counted on the bytes, before the parser sees them, in O(bytes) and without recursion.
 * The parser's own message is dropped: it quotes the body.
 */
import { isUtf8 } from 'node:buffer'
import { AuthzError } from '#model/errors.ts'
import { JSON_DEPTH_MAX } from '#model/limits.ts'

/**
 * How deep the body of a decision may nest. Decisions keep nothing, so this only bounds the parser's memory. Half
 * of `UNSCANNED_BYTES_MAX`, since one level takes two bytes: a shorter body cannot be deeper and is not scanned,
 * which leaves the usual decision without any cost.
 */
export const DECISION_DEPTH_MAX = 2_048
const UNSCANNED_BYTES_MAX = 2 * DECISION_DEPTH_MAX

const BACKSLASH = 0x5c
const QUOTE = 0x22

/** The JSON value of a body. Throws `MALFORMED_REQUEST`, or `INVALID_SHAPE` when it nests too deeply. */
export function parseJson(
  bytes: Buffer,
  depthMax: typeof JSON_DEPTH_MAX | typeof DECISION_DEPTH_MAX,
): unknown {
  const isScanned = bytes.length > UNSCANNED_BYTES_MAX || depthMax < DECISION_DEPTH_MAX
  if (isScanned && isDeeperThan(bytes, depthMax)) {
    const msg = `must not nest deeper than ${depthMax} levels`
    throw new AuthzError('INVALID_SHAPE', `body: ${msg}`, { detail: [{ loc: ['body'], msg, type: 'depth' }] })
  }
  if (!isUtf8(bytes)) throw malformed('the body must be UTF-8')
  const text = bytes.toString('utf8')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw malformed(text === '' ? 'a JSON body is required' : 'the body must be valid JSON')
  }
  if (hasUnpairedSurrogate(text)) throw malformed('the body must not contain unpaired surrogates')
  return value
}

/** Every way in which a body is no JSON at all. */
function malformed(message: string): AuthzError {
  return new AuthzError('MALFORMED_REQUEST', message, {
    detail: [{ loc: ['body'], msg: message, type: 'json_invalid' }],
  })
}

/**
 * Whether brackets outside of strings ever stand open more than `depthMax` deep. Right for valid JSON; for anything
 * else the answer may be wrong, and the parser then refuses the text anyway. UTF-8 needs no decoding
 * for this: no byte of a longer sequence looks like ASCII.
 */
function isDeeperThan(bytes: Uint8Array, depthMax: number): boolean {
  let depth = 0
  let isInString = false
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]
    if (isInString) {
      if (byte === BACKSLASH) i++
      else if (byte === QUOTE) isInString = false
    } else if (byte === QUOTE) {
      isInString = true
    } else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > depthMax) return true
    } else if (byte === 0x5d || byte === 0x7d) {
      depth--
    }
  }
  return false
}

/**
 * Whether valid JSON text spells half a character. Text decoded from UTF-8 has no loose halves of its own, so only
 * `\u` escapes can bring one, and backslashes stand nowhere but in strings.
 */
function hasUnpairedSurrogate(text: string): boolean {
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
