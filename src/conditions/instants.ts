/**
 * Times as RFC 3339 writes them: `2026-11-26`, `2026-11-26T10:00:00Z`, `2026-11-26T12:00:00.5+02:00`. A date alone is its
 * midnight in UTC. A time without a zone is none (conditions.md 5.4).
 */

/** Two compare by `seconds`, then by `fraction`, whose digits end with none that is 0: exact, however many there are. */
export interface Instant {
  /** Since 1970, rounded down. */
  readonly seconds: number
  readonly fraction: string
}

const PATTERN =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d)))?$/u
/** A longer text is not a time. */
export const INSTANT_LENGTH_MAX = 255

/** `null`: it is no such time. O(length). */
export function readInstant(text: string): Instant | null {
  if (text.length > INSTANT_LENGTH_MAX) return null
  const found = PATTERN.exec(text)
  if (found === null) return null
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map(part => Number(part ?? 0))
  const offsetHour = Number(found[9] ?? 0)
  const offsetMinute = Number(found[10] ?? 0)
  // 60 is a leap second, which has no number of its own.
  if (hour! > 23 || minute! > 59 || second! > 60 || offsetHour > 23 || offsetMinute > 59) return null
  const midnight = midnightOf(year!, month!, day!)
  if (midnight === null) return null
  const offset = (found[8] === '-' ? -1 : 1) * (offsetHour * 60 + offsetMinute) * 60
  const seconds = midnight + (hour! * 60 + minute!) * 60 + second! - offset
  return { seconds, fraction: withoutTrailingZeros(found[7] ?? '') }
}

/** Negative, zero or positive. */
export function compareInstants(left: Instant, right: Instant): number {
  if (left.seconds !== right.seconds) return left.seconds - right.seconds
  if (left.fraction === right.fraction) return 0
  return left.fraction < right.fraction ? -1 : 1
}

/** In seconds; `null`: there is no such day. */
function midnightOf(year: number, month: number, day: number): number | null {
  const date = new Date(0)
  // Years below 100 would count from 1900 in `Date.UTC`.
  date.setUTCFullYear(year, month - 1, day)
  const isThatDay = date.getUTCMonth() === month - 1 && date.getUTCDate() === day
  return isThatDay ? date.getTime() / 1_000 : null
}

function withoutTrailingZeros(digits: string): string {
  let end = digits.length
  while (end > 0 && digits[end - 1] === '0') end--
  return digits.slice(0, end)
}
