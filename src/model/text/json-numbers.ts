/**
 * Parses JSON numbers beyond 2^53, which `JSON.parse` would round to the nearest double. In memory, such an
 * integer is a `bigint`, regardless of how it is written. A `bigint` can be copied to another thread, and
 * `JSON.stringify` writes all its digits. Conditions compare it if a double represents it; otherwise the
 * comparison is unknown (`conditions/values/values.ts`).
 *
 * A double below 1e21 represents exactly one integer. JavaScript writes larger doubles with an exponent. Such
 * a double represents the integer that this text denotes, and only that integer can be a `number`. Therefore
 * no double represents two different integers.
 *
 * A number with a fraction becomes the nearest double, as in `JSON.parse`. If this double is an integer below
 * 1e21, it is kept as that integer. The text that JavaScript writes for it is rounded and would become
 * another integer when it is parsed again.
 *
 * All code that parses JSON of callers uses `parsedJson`, both for requests and for stored data.
 */

/** Placeholder for the first number. The placeholders for further numbers are its multiples. */
const PLACEHOLDER = 1e300
/** JavaScript writes doubles below this limit without an exponent. */
const WITHOUT_EXPONENT = 1e21
/**
 * Matches numbers that might be beyond 2^53: because of their number of digits, because of digits and an
 * exponent, or because of an exponent of at least two digits. The pattern includes the character before the
 * number. It therefore does not have to be tried at each digit of strings and numbers.
 */
const PERHAPS_LONG =
  /(?:^|[:,[\s])-?(?:9\d{15}|[1-9]\d{16}|[1-9]\d{6,}(?:\.\d+)?[eE]\+?0*[1-9]|(?:0|[1-9]\d*)(?:\.\d+)?[eE]\+?0*[1-9]\d)/u
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/uy
const DIGITS = /^-?\d+$/u
/** Digits before and after the point are optional, because YAML numbers can lack either. */
const PARTS = /^(-?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/u
const BEFORE_NUMBERS = /[:,[\s]/u
const BACKSLASH = 0x5c

// Each thread that parses or encodes values of callers loads this module. A wrapper class would not survive a
// message between threads, and `JSON.stringify` has no other hook.
// oxlint-disable-next-line no-extend-native
Object.defineProperty(BigInt.prototype, 'toJSON', {
  value(this: bigint): unknown {
    return rawJson(String(this))
  },
  configurable: true,
  writable: true,
})

const { rawJSON: rawJson } = JSON as unknown as { readonly rawJSON: (text: string) => unknown }

/** Thrown if a text contains more long numbers than `parsedJson` may accept. */
export class TooManyLongNumbersError extends Error {
  override readonly name = 'TooManyLongNumbersError'
}

/**
 * Like `JSON.parse`, but returns integers beyond 2^53 as `bigint`. A long number takes about ten times as
 * long to parse as another number. Therefore throws `TooManyLongNumbersError` if there are more than
 * `longNumbersMax`. Throws `SyntaxError` if the text is not JSON. O(length).
 */
export function parsedJson(text: string, longNumbersMax = Number.POSITIVE_INFINITY): unknown {
  if (!PERHAPS_LONG.test(text)) return JSON.parse(text)
  const numbers: (number | bigint)[] = []
  const substituted = withPlaceholders(text, numbers, longNumbersMax)
  let value: unknown
  try {
    value = JSON.parse(substituted)
  } catch {
    // Parses the original text, so that the position in the error message refers to that text.
    return JSON.parse(text)
  }
  return numbers.length === 0 ? value : withNumbers(value, numbers)
}

/**
 * Replaces each such number in the text by a placeholder: `1e300`, `2e300` and so on. All other numbers are
 * below 2^53, so no number can be confused with a placeholder.
 */
function withPlaceholders(text: string, numbers: (number | bigint)[], longNumbersMax: number): string {
  const perhapsLong = new RegExp(PERHAPS_LONG, 'gu')
  const pieces: string[] = []
  let copied = 0
  /** Position up to which all strings have been skipped. The next string begins at `quote`. */
  let outside = 0
  let quote = text.indexOf('"')
  for (let found = perhapsLong.exec(text); found !== null; found = perhapsLong.exec(text)) {
    while (quote !== -1 && quote <= found.index) {
      outside = stringEnd(text, quote)
      quote = text.indexOf('"', outside)
    }
    if (outside > found.index) {
      perhapsLong.lastIndex = outside
      continue
    }
    const from = BEFORE_NUMBERS.test(text[found.index]!) ? found.index + 1 : found.index
    NUMBER.lastIndex = from
    const token = NUMBER.exec(text)![0]
    if (numbers.length === longNumbersMax) throw new TooManyLongNumbersError(`more than ${longNumbersMax}`)
    numbers.push(jsonNumber(token))
    pieces.push(text.slice(copied, from), `${numbers.length}e300`)
    copied = from + token.length
    perhapsLong.lastIndex = copied
  }
  pieces.push(text.slice(copied))
  return pieces.join('')
}

/** Returns the position after the string that begins at this quote. */
function stringEnd(text: string, quote: number): number {
  for (let end = text.indexOf('"', quote + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escape = end
    while (text.charCodeAt(escape - 1) === BACKSLASH) escape -= 1
    if ((end - escape) % 2 === 0) return end + 1
  }
  return text.length
}

/** Converts a decimal number in the same way as `parsedJson`. */
export function jsonNumber(token: string): number | bigint {
  const double = Number(token)
  if (Number.isSafeInteger(double) || !Number.isInteger(double)) return double
  if (DIGITS.test(token)) return BigInt(token)
  const integer = integerIn(token)
  if (Math.abs(double) < WITHOUT_EXPONENT) return integer ? bigintOf(integer) : BigInt(double)
  return integer === null || isWritten(double, integer) ? double : bigintOf(integer)
}

/**
 * An integer that is not zero. `begin` consists of the sign and the digits up to the last one that is not 0;
 * `zeros` is the number of zeros after it.
 */
interface Integer {
  readonly begin: string
  readonly zeros: number
}

/**
 * Returns the integer that a decimal number other than zero denotes, or `null` if the number has a fraction.
 * O(length).
 */
function integerIn(token: string): Integer | null {
  const [, sign, whole, fraction, exponent] = PARTS.exec(token)!
  const digits = `${whole}${fraction}`
  let from = 0
  while (digits[from] === '0') from += 1
  let to = digits.length
  while (digits[to - 1] === '0') to -= 1
  const zeros = Number(exponent ?? 0) - fraction!.length + digits.length - to
  return zeros < 0 ? null : { begin: `${sign}${digits.slice(from, to)}`, zeros }
}

/** Converts an integer. It must be within the range of doubles, so it has at most 309 digits. */
function bigintOf({ begin, zeros }: Integer): bigint {
  return BigInt(begin + '0'.repeat(zeros))
}

/** Returns whether JavaScript writes that double with an exponent and as exactly this integer. */
function isWritten(double: number, { begin, zeros }: Integer): boolean {
  const written = integerIn(String(double))!
  return written.begin === begin && written.zeros === zeros
}

/** Replaces the placeholders in a value by their numbers. The recursion is as deep as the value is nested. */
function withNumbers(value: unknown, numbers: readonly (number | bigint)[]): unknown {
  if (typeof value === 'number')
    return value < PLACEHOLDER ? value : (numbers[Math.round(value / PLACEHOLDER) - 1] ?? value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) value[index] = withNumbers(value[index], numbers)
    return value
  }
  const object = value as Record<string, unknown>
  for (const name of Object.keys(object)) {
    const member = object[name]
    const number = withNumbers(member, numbers)
    if (number === member) continue
    // Defines the property, because an assignment to a member named `__proto__` would be lost.
    Object.defineProperty(object, name, {
      value: number,
      configurable: true,
      enumerable: true,
      writable: true,
    })
  }
  return value
}

/** Returns the double that represents this integer, which is beyond 2^53. Returns `null` if there is none. */
export function exactDouble(integer: bigint): number | null {
  const double = Number(integer)
  if (!Number.isFinite(double)) return null
  const isExact =
    Math.abs(double) < WITHOUT_EXPONENT
      ? BigInt(double) === integer
      : isWritten(double, integerIn(String(integer))!)
  return isExact ? double : null
}

/**
 * Returns the first integer in a value that no double represents, or `null` if there is none. O(size). The
 * recursion is as deep as the value is nested.
 */
export function inexactIntegerIn(value: unknown): bigint | null {
  if (typeof value === 'bigint') return exactDouble(value) === null ? value : null
  if (typeof value !== 'object' || value === null) return null
  if (Array.isArray(value)) {
    for (const element of value) {
      const found = inexactIntegerIn(element)
      if (found !== null) return found
    }
    return null
  }
  for (const name in value) {
    const found = inexactIntegerIn((value as Readonly<Record<string, unknown>>)[name])
    if (found !== null) return found
  }
  return null
}
