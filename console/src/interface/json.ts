/**
 * JSON parser and serializer that keep all digits of integers. `JSON.parse` rounds integers beyond 2^53, so a
 * change would write other attributes than the user read. Here such an integer is a `bigint`. Browsers
 * without `JSON.rawJSON` throw an error for it.
 */

/**
 * Numbers that could be beyond 2^53, with the preceding character. A match inside a string only costs time.
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
 * Like `JSON.parse`, but returns integers beyond 2^53 as `bigint`. Throws an error if the browser cannot keep
 * their digits.
 */
export function parsedJson(text: string): unknown {
  if (!PERHAPS_LONG.test(text)) return JSON.parse(text)
  return parse(text, (_name, value, from) =>
    typeof value === 'number' && !Number.isSafeInteger(value) ? exactNumber(value, from.source) : value,
  )
}

function exactNumber(value: number, source: string): unknown {
  if (Number.isInteger(value) && DIGITS.test(source)) return BigInt(source)
  // Other notations are sent as they were typed, because the parsed value can be rounded; only the service
  // decides which integer it is. `JSON.stringify` would write null for a number beyond the range of doubles,
  // which the service rejects.
  const isOther = !Number.isFinite(value) || Number.isInteger(value)
  return isOther && String(value) !== source ? rawJSON(source) : value
}
