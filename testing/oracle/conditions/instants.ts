/**
 * Parses RFC 3339 dates and times with any number of fraction digits. A date without a time is midnight in
 * UTC. A time without a zone, a day that the month does not have, and hour 24 are not valid. Second 60 is
 * second 0 of the next minute.
 */
export interface Instant {
  /** Seconds since the start of the year 0 in UTC. */
  readonly seconds: number
  /** Digits after the decimal point. */
  readonly fraction: string
}

const DATE = /(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)/
const TIME = /(?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)(?:\.(?<fraction>\d+))?/
const ZONE = /[Zz]|(?<sign>[+-])(?<zoneHour>\d\d):(?<zoneMinute>\d\d)/
const RFC_3339 = new RegExp(`^${DATE.source}(?:[Tt]${TIME.source}(?:${ZONE.source}))?$`)

const DAYS_OF_MONTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Parses a date or time. Returns `undefined` if the text is not valid. */
export function instantOf(text: string): Instant | undefined {
  const parts = RFC_3339.exec(text)?.groups
  if (!parts) return undefined
  const number = (name: string) => Number(parts[name] ?? 0)
  const [year, month, day] = [number('year'), number('month'), number('day')]
  const [hour, minute, second] = [number('hour'), number('minute'), number('second')]
  const [zoneHour, zoneMinute] = [number('zoneHour'), number('zoneMinute')]
  if (month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return undefined
  if (hour > 23 || minute > 59 || second > 60 || zoneHour > 23 || zoneMinute > 59) return undefined

  const local = ((daysBefore(year, month, day) * 24 + hour) * 60 + minute) * 60 + second
  const ahead = (zoneHour * 60 + zoneMinute) * 60
  return {
    seconds: parts['sign'] === '-' ? local + ahead : local - ahead,
    fraction: parts['fraction'] ?? '',
  }
}

/** Compares two instants. The result is negative if `a` is earlier, and positive if it is later. */
export function compareInstants(a: Instant, b: Instant): number {
  if (a.seconds !== b.seconds) return a.seconds - b.seconds
  const digits = Math.max(a.fraction.length, b.fraction.length)
  const [left, right] = [a.fraction.padEnd(digits, '0'), b.fraction.padEnd(digits, '0')]
  if (left === right) return 0
  return left < right ? -1 : 1
}

function daysBefore(year: number, month: number, day: number): number {
  let days = day - 1
  for (let earlier = 1; earlier < month; earlier++) days += daysOf(year, earlier)
  for (let earlier = 0; earlier < year; earlier++) days += isLeap(earlier) ? 366 : 365
  return days
}

function daysOf(year: number, month: number): number {
  return month === 2 && isLeap(year) ? 29 : DAYS_OF_MONTHS[month - 1]!
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}
