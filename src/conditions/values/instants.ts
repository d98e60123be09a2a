/**
 * Parses and compares times in RFC 3339 format: `2026-11-26`, `2026-11-26T10:00:00Z`,
 * `2026-11-26T12:00:00.5+02:00`. A date without a time is midnight in UTC. A time without a zone is not valid
 * (conditions.md 5.4).
 */

/**
 * A point in time. Instants are compared by `seconds` and then by `fraction`. `fraction` contains the digits
 * of the fraction without trailing zeros, so the comparison is exact for any number of digits.
 */
export interface ParsedInstant {
  /** Seconds since 1970, rounded down. */
  readonly seconds: number
  readonly fraction: string
}

const PATTERN =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d)))?$/u
/** Maximum length of a time. A longer text is not a valid time. */
export const INSTANT_LENGTH_MAX = 255

/** Parses a time. Returns `null` if the text is not a valid time. O(length). */
export function readInstant(text: string): ParsedInstant | null {
  if (text.length > INSTANT_LENGTH_MAX) return null
  const found = PATTERN.exec(text)
  if (found === null) return null
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map(part => Number(part ?? 0))
  const offsetHour = Number(found[9] ?? 0)
  const offsetMinute = Number(found[10] ?? 0)
  // 60 is a leap second. It is the same instant as the next second.
  if (hour! > 23 || minute! > 59 || second! > 60 || offsetHour > 23 || offsetMinute > 59) return null
  const midnight = midnightOf(year!, month!, day!)
  if (midnight === null) return null
  const offset = (found[8] === '-' ? -1 : 1) * (offsetHour * 60 + offsetMinute) * 60
  const seconds = midnight + (hour! * 60 + minute!) * 60 + second! - offset
  return { seconds, fraction: withoutTrailingZeros(found[7] ?? '') }
}

/** Compares two instants. Returns a negative number, zero or a positive number. */
export function compareInstants(left: ParsedInstant, right: ParsedInstant): number {
  if (left.seconds !== right.seconds) return left.seconds - right.seconds
  if (left.fraction === right.fraction) return 0
  return left.fraction < right.fraction ? -1 : 1
}

/** Returns the start of the day in seconds since 1970, or `null` if the day does not exist. */
function midnightOf(year: number, month: number, day: number): number | null {
  const date = new Date(0)
  // `Date.UTC` would interpret years below 100 as 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day)
  const isThatDay = date.getUTCMonth() === month - 1 && date.getUTCDate() === day
  return isThatDay ? date.getTime() / 1_000 : null
}

function withoutTrailingZeros(digits: string): string {
  let end = digits.length
  while (end > 0 && digits[end - 1] === '0') end--
  return digits.slice(0, end)
}
