/**
 * Parses the bytes of a body as JSON. Rejects some input that `JSON.parse` accepts:
 * - invalid UTF-8 and unpaired surrogates, because different texts would be stored as the same UTF-8
 * - numbers that would be stored as null
 * - deep nesting, because parsing 16 MiB of brackets would take gigabytes of memory
 *
 * The nesting depth is counted in the text before it is parsed. The error message of the parser is not used,
 * because it quotes the body.
 */
import { isUtf8 } from 'node:buffer'
import { AuthzError } from '#model/errors.ts'
import { hasNumberTooLarge, hasUnpairedSurrogate, isDeeperThan } from '#model/text/json-text.ts'
import { parsedJson, TooManyLongNumbersError } from '#model/text/json-numbers.ts'
import { JSON_DEPTH_MAX, LONG_NUMBERS_MAX } from '#model/limits.ts'

/**
 * Maximum nesting depth of the body of a decision. Decisions store nothing, so the limit only protects the
 * memory of the parser. One level of nesting takes at least two bytes. A body of up to `UNSCANNED_BYTES_MAX`
 * bytes can therefore not exceed the limit and is not scanned. Typical decisions thus have no extra cost.
 */
export const DECISION_DEPTH_MAX = 2_048
const UNSCANNED_BYTES_MAX = 2 * DECISION_DEPTH_MAX

/**
 * Removes a byte order mark. Some editors and shells write this mark, and RFC 8259 allows readers to ignore
 * it.
 */
export function withoutByteOrderMark(bytes: Buffer): Buffer {
  return bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
    ? bytes.subarray(3)
    : bytes
}

/**
 * Parses a body from which the byte order mark was removed. Throws `MALFORMED_REQUEST`, or `INVALID_SHAPE` if
 * the value is nested too deeply or contains a number that is too large.
 */
export function parseJson(
  bytes: Buffer,
  depthMax: typeof JSON_DEPTH_MAX | typeof DECISION_DEPTH_MAX,
): unknown {
  const isScanned = bytes.length > UNSCANNED_BYTES_MAX || depthMax < DECISION_DEPTH_MAX
  if (!isUtf8(bytes)) throw malformed('the body must be UTF-8')
  const text = bytes.toString('utf8')
  if (isScanned && isDeeperThan(text, depthMax)) {
    throw invalid(`must not nest deeper than ${depthMax} levels`, 'depth')
  }
  let value: unknown
  try {
    value = parsedJson(text, LONG_NUMBERS_MAX)
  } catch (error) {
    if (error instanceof TooManyLongNumbersError) {
      throw invalid(`must not contain more than ${LONG_NUMBERS_MAX} numbers beyond 2^53`, 'long_numbers')
    }
    throw malformed(text === '' ? 'a JSON body is required' : 'the body must be valid JSON')
  }
  if (hasUnpairedSurrogate(text)) throw malformed('the body must not contain unpaired surrogates')
  // The numbers are checked only if they can be stored. The body of a decision has another maximum depth, and
  // its numbers are not stored.
  if (depthMax === JSON_DEPTH_MAX && hasNumberTooLarge(value, text)) {
    throw invalid('must not contain numbers beyond 1.8e308', 'finite_number')
  }
  return value
}

function invalid(msg: string, type: string): AuthzError {
  return new AuthzError('INVALID_SHAPE', `body: ${msg}`, { detail: [{ loc: ['body'], msg, type }] })
}

/** Creates the error for a body that is not valid JSON. */
export function malformed(message: string): AuthzError {
  return new AuthzError('MALFORMED_REQUEST', message, {
    detail: [{ loc: ['body'], msg: message, type: 'json_invalid' }],
  })
}
