/**
 * Rounds times to what a column of times or dates can hold (filter.md P41). After the rounding, every
 * ordering is a test with `lt` or `gte`, so the precision of the database does not matter.
 */
import type { OrderRelation } from '#conditions/nodes/ordering.ts'
import type { ParsedInstant } from '#conditions/values/instants.ts'

const DAY_SECONDS = 86_400
const DAY_MS = DAY_SECONDS * 1_000
/** First and last millisecond that a column can hold: years 1 to 9999. */
const FIRST_MS = Date.parse('0001-01-01T00:00:00.000Z')
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z')
const DATE_LENGTH = 10

export type TimeType = 'time' | 'date'

/**
 * The times before or from `bound`. `bound` is null if all times of the column are in the range (`isAll`) or
 * none is.
 */
export interface TimeRange {
  readonly isBefore: boolean
  readonly bound: string | null
  readonly isAll: boolean
}

/** Returns the values of the column that are in the relation to the instant. */
export function rangeOf(type: TimeType, relation: OrderRelation, instant: ParsedInstant): TimeRange {
  const isBefore = relation === 'below' || relation === 'below-or-equal'
  const isAfterBound = relation === 'below-or-equal' || relation === 'above'
  const ms = type === 'time' ? timeBound(instant, isAfterBound) : dateBound(instant, isAfterBound)
  if (ms <= FIRST_MS) return { isBefore, bound: null, isAll: !isBefore }
  if (ms > LAST_MS) return { isBefore, bound: null, isAll: isBefore }
  const text = new Date(ms).toISOString()
  return { isBefore, bound: type === 'time' ? text : text.slice(0, DATE_LENGTH), isAll: false }
}

/**
 * Returns the first millisecond that is not before the instant or, with `isAfter`, the first one that is
 * after it.
 */
export function timeBound({ seconds, fraction }: ParsedInstant, isAfter: boolean): number {
  const floor = seconds * 1_000 + Number(fraction.slice(0, 3).padEnd(3, '0'))
  return isAfter || fraction.length > 3 ? floor + 1 : floor
}

/** Like `timeBound`, for midnights in UTC. */
function dateBound({ seconds, fraction }: ParsedInstant, isAfter: boolean): number {
  const floor = Math.floor(seconds / DAY_SECONDS) * DAY_MS
  return isAfter || fraction !== '' || seconds % DAY_SECONDS !== 0 ? floor + DAY_MS : floor
}

/** Returns whether the text is in the form in which a check sends a value of the column (filter.md P10). */
export function isFormOf(type: TimeType, text: string): boolean {
  const ms = Date.parse(text)
  if (Number.isNaN(ms) || ms < FIRST_MS || ms > LAST_MS) return false
  const form = new Date(ms).toISOString()
  return text === (type === 'time' ? form : form.slice(0, DATE_LENGTH))
}
