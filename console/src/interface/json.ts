/**
 * JSON with all digits of its numbers. `JSON.parse` rounds integers beyond 2^53, so that a change would write other attributes than the
 * user read. Here such an integer is a `bigint`. Browsers without `JSON.rawJSON` refuse it with an error.
 */

/** Numbers that may be beyond 2^53, with the character before them: a number within a string costs time only. */
const PERHAPS_LONG = /(?:^|[:,[\s])-?\d(?:\d{15}|[\d.]*[eE])/u
const DIGITS = /^-?\d+$/u
/** JavaScript writes doubles below this limit without an exponent, and with zeros instead of their last digits. */
const WITHOUT_EXPONENT = 1e21

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

// `JSON.stringify` has no other hook for a `bigint`, and the cache of queries would copy an object of our own.
// oxlint-disable-next-line no-extend-native
Object.defineProperty(BigInt.prototype, 'toJSON', {
  value(this: bigint): unknown {
    return rawJSON(String(this))
  },
  configurable: true,
  writable: true,
})

/** As `JSON.parse`, with integers beyond 2^53 as `bigint`. Throws an error if the browser cannot keep their digits. */
export function parsedJson(text: string): unknown {
  if (!PERHAPS_LONG.test(text)) return JSON.parse(text)
  return parse(text, (_name, value, from) =>
    typeof value === 'number' && !Number.isSafeInteger(value) ? exactNumber(value, from.source) : value,
  )
}

function exactNumber(value: number, source: string): unknown {
  // The service refuses it. `JSON.stringify` would write null.
  if (!Number.isFinite(value)) return rawJSON(source)
  if (!Number.isInteger(value)) return value
  if (DIGITS.test(source)) return BigInt(source)
  return Math.abs(value) < WITHOUT_EXPONENT ? BigInt(value) : value
}
