/**
 * JSON parser and serializer that keep all digits of integers. `JSON.parse` rounds integers beyond 2^53. If a
 * user edited attributes that contain such an integer, saving them would change its value. Therefore this
 * parser returns such an integer as a `bigint`. In browsers without `JSON.rawJSON`, it throws an error.
 */

/**
 * Matches numbers that might be beyond 2^53, with the preceding character. It can also match inside a string,
 * which does no harm but takes time.
 */
const PERHAPS_LONG = /(?:^|[:,[\s])-?\d(?:\d{15}|[\d.]*[eE])/u
const DIGITS = /^-?\d+$/u

interface JsonSource {
  readonly source: string
}

const { parse, rawJSON } = JSON as unknown as {
  readonly parse: (
    text: string,
    revive: (name: string, value: unknown, from: JsonSource) => unknown,
  ) => unknown
  readonly rawJSON: (text: string) => unknown
}

// `JSON.stringify` has no other hook for `bigint`, and the query cache would copy a wrapper object.
// oxlint-disable-next-line no-extend-native
Object.defineProperty(BigInt.prototype, 'toJSON', {
  value(this: bigint): unknown {
    return rawJSON(String(this))
  },
  configurable: true,
  writable: true,
})

/**
 * Like `JSON.parse`, but returns integers beyond 2^53 as `bigint`. Throws an error if the text contains such
 * an integer and the browser cannot keep its digits.
 */
export function parsedJson(text: string): unknown {
  if (!PERHAPS_LONG.test(text)) return JSON.parse(text)
  return parse(text, (_name, value, from) =>
    typeof value === 'number' && !Number.isSafeInteger(value) ? exactNumber(value, from.source) : value,
  )
}

function exactNumber(value: number, source: string): unknown {
  if (Number.isInteger(value) && DIGITS.test(source)) return BigInt(source)
  // A number in another notation is sent as it was typed, because its parsed value might be rounded. The
  // service decides which integer it represents. A number beyond the range of doubles is also sent as typed,
  // so that the service rejects it. `JSON.stringify` would write null.
  const isOther = !Number.isFinite(value) || Number.isInteger(value)
  return isOther && String(value) !== source ? rawJSON(source) : value
}

/** Whether the value is a JSON object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
