/** Texts that a column can contain. */
import type { Field } from './table.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const WHOLE = /^(0|-?[1-9]\d*)$/
const INT64_MAX = 2n ** 63n - 1n

/** Whether a text is the text of a value of the column (filter.md P68). */
export function isCanonical(text: string, as: Field['as']): boolean {
  if (as === 'uuid') return UUID.test(text)
  if (as !== 'integer' && as !== 'bigint') return true
  if (!WHOLE.test(text) || text.length > 20) return false
  const value = BigInt(text)
  return value <= INT64_MAX && value >= -INT64_MAX - 1n
}

/** Whether a text is valid Unicode without U+0000, so that every database can hold it (filter.md P69). */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}
