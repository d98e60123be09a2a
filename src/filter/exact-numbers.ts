/**
 * Numbers that a check of a row can send without loss of digits (filter.md P70). `JSON.stringify` writes 2^60
 * as 1152921504606847000. A check cannot read this integer, because no double represents it (conditions.md
 * 5.3), so its result is unknown. No test of a column is true for such a number.
 */
import { type Fragment, raw, sql } from './fragment.ts'
import type { Field } from './table.ts'

/** Up to this magnitude, JSON has all digits of a double. Beyond 2^53, only even integers are doubles. */
const DOUBLE_MAX = 1e16
/** From this magnitude on, JSON has an exponent. A check then reads the double that JavaScript wrote. */
const EXPONENT_MIN = 1e21

/**
 * The largest magnitude without an exponent. In columns of whole and decimal numbers and in JSON, integers
 * beyond 2^53 can have digits that no double has.
 */
function magnitudeMax({ type, as }: Field): number {
  return type === 'number' && as === 'double' ? DOUBLE_MAX : Number.MAX_SAFE_INTEGER
}

/** Whether the column or list can have exact numbers with an exponent. */
function hasExponents({ type, as }: Field): boolean {
  return type === 'number_array' || as === 'double'
}

/** Whether a check can send the number as a value of the field. */
export function isExactNumber(value: number, field: Field): boolean {
  const magnitude = Math.abs(value)
  if (magnitude <= magnitudeMax(field)) return true
  return hasExponents(field) && magnitude >= EXPONENT_MIN && magnitude < Infinity
}

/** Whether every number of a value of the field is exact. */
export function isExact(value: unknown, field: Field): boolean {
  if (field.type === 'number') return isExactNumber(value as number, field)
  return (
    field.type !== 'number_array' || (value as readonly number[]).every(each => isExactNumber(each, field))
  )
}

/** The constants of a test without the numbers that no check of a row sends. */
export function exactValues<Value>(values: readonly Value[], field: Field): readonly Value[] {
  if (field.type !== 'number' && field.type !== 'number_array') return values
  return values.filter(value => isExactNumber(value as number, field))
}

/**
 * `isExactNumber` as SQL, false for `NaN` and for texts. `infinity` is the literal of the database, or null
 * if it has no infinite numbers.
 */
export function exactNumberSql(number: Fragment, field: Field, infinity: string | null): Fragment {
  const most = String(magnitudeMax(field))
  const isShort = sql`${number} BETWEEN ${raw(`-${most}`)} AND ${raw(most)}`
  if (!hasExponents(field)) return isShort
  const [above, below] =
    infinity === null
      ? [sql``, sql``]
      : [sql` AND ${number} < ${raw(infinity)}`, sql` AND ${number} > -${raw(infinity)}`]
  return sql`(${isShort} OR (${number} >= 1e21${above}) OR (${number} <= -1e21${below}))`
}
