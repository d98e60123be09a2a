/**
 * Numbers of JSON beyond 2^53, which `JSON.parse` rounds to the nearest double. In memory such an integer is a `bigint`, in whichever form
 * it is written: it can be copied to another thread, and `JSON.stringify` writes its digits. Conditions compare it if a double stands for
 * it, and do not know it otherwise (`conditions/values.ts`).
 *
 * A double below 1e21 stands for the integer that it is. From there on, JavaScript writes doubles with an exponent. Each of these stands
 * for the integer that this text denotes, and can be a `number`. So no double stands for two integers.
 *
 * A number with a fraction is the nearest double, as in `JSON.parse`. Below 1e21 it is kept as the integer that this double is: its usual
 * text is rounded, and would be another integer when it is read again.
 *
 * Code that reads JSON of callers uses `parsedJson`, from a request as well as from the store.
 */

/** The first placeholder for a number; the others are its multiples. */
const PLACEHOLDER = 1e300
/** JavaScript writes doubles below this limit without an exponent. */
const WITHOUT_EXPONENT = 1e21
/**
 * Numbers that may be beyond 2^53: by their digits, by digits and exponent, or by an exponent of two digits. The character before a number
 * is a part, so that the digits within strings and numbers are not examined one by one.
 */
const PERHAPS_LONG =
  /(?:^|[:,[\s])-?(?:9\d{15}|[1-9]\d{16}|[1-9]\d{6,}(?:\.\d+)?[eE]\+?0*[1-9]|(?:0|[1-9]\d*)(?:\.\d+)?[eE]\+?0*[1-9]\d)/u
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/uy
const DIGITS = /^-?\d+$/u
/** YAML has numbers without digits before or after the point. */
const PARTS = /^(-?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/u
const BEFORE_NUMBERS = /[:,[\s]/u
const BACKSLASH = 0x5c

// Each thread that handles values of callers loads this module: it parses them, or encodes them. A class of our own would not survive a
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

/** More long numbers than `parsedJson` was to accept. */
export class TooManyLongNumbersError extends Error {
  override readonly name = 'TooManyLongNumbersError'
}

/**
 * As `JSON.parse`, with integers beyond 2^53 as `bigint`. A long number takes about ten times as long as another one: throws
 * `TooManyLongNumbersError` for more than `longNumbersMax`. Throws `SyntaxError`. O(length).
 */
export function parsedJson(text: string, longNumbersMax = Number.POSITIVE_INFINITY): unknown {
  if (!PERHAPS_LONG.test(text)) return JSON.parse(text)
  const numbers: (number | bigint)[] = []
  const substituted = withPlaceholders(text, numbers, longNumbersMax)
  let value: unknown
  try {
    value = JSON.parse(substituted)
  } catch {
    // Its message names a place in the text that the caller knows.
    return JSON.parse(text)
  }
  return numbers.length === 0 ? value : withNumbers(value, numbers)
}

/**
 * The text with a placeholder instead of each such number: `1e300`, `2e300` and so on. All other numbers are below 2^53, so none is
 * mistaken for a placeholder.
 */
function withPlaceholders(text: string, numbers: (number | bigint)[], longNumbersMax: number): string {
  const perhapsLong = new RegExp(PERHAPS_LONG, 'gu')
  const pieces: string[] = []
  let copied = 0
  /** Where all strings that begin before have ended, and where the next one begins. */
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

/** The place after the string that begins at that quote. */
function stringEnd(text: string, quote: number): number {
  for (let end = text.indexOf('"', quote + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escape = end
    while (text.charCodeAt(escape - 1) === BACKSLASH) escape -= 1
    if ((end - escape) % 2 === 0) return end + 1
  }
  return text.length
}

/** A decimal number as `parsedJson` reads it. */
export function jsonNumber(token: string): number | bigint {
  const double = Number(token)
  if (Number.isSafeInteger(double) || !Number.isInteger(double)) return double
  if (DIGITS.test(token)) return BigInt(token)
  const integer = integerIn(token)
  if (Math.abs(double) < WITHOUT_EXPONENT) return integer ? bigintOf(integer) : BigInt(double)
  return integer === null || isWritten(double, integer) ? double : bigintOf(integer)
}

/** An integer that is not zero: its sign and its digits up to the last one that is not 0, and how many zeros follow. */
interface Integer {
  readonly begin: string
  readonly zeros: number
}

/** The integer that a decimal number other than zero denotes; `null`: it has a fraction. O(length). */
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

/** Only for one that is not beyond all doubles: it has at most 309 digits. */
function bigintOf({ begin, zeros }: Integer): bigint {
  return BigInt(begin + '0'.repeat(zeros))
}

/** Whether JavaScript writes that double as this integer, with an exponent. */
function isWritten(double: number, { begin, zeros }: Integer): boolean {
  const written = integerIn(String(double))!
  return written.begin === begin && written.zeros === zeros
}

/** The value with numbers instead of their placeholders. Recursion as deep as it is nested. */
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
    // An assignment of `__proto__` would be lost.
    Object.defineProperty(object, name, {
      value: number,
      configurable: true,
      enumerable: true,
      writable: true,
    })
  }
  return value
}

/** The double that stands for this integer beyond 2^53; `null`: none does. */
export function exactDouble(integer: bigint): number | null {
  const double = Number(integer)
  if (!Number.isFinite(double)) return null
  const isExact =
    Math.abs(double) < WITHOUT_EXPONENT
      ? BigInt(double) === integer
      : isWritten(double, integerIn(String(integer))!)
  return isExact ? double : null
}

/** The first integer in a value that no double stands for; `null`: there is none. O(size), recursion as deep as it is nested. */
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
