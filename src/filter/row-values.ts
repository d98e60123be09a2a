/**
 * Values of the rows that an application reads, in the form in which a check sends them (filter.md section
 * 1).
 * Drivers return times as `Date` or text, whole numbers of 64 bits as text or `bigint`, and truth values of
 * SQLite as 0 and 1.
 */
import { isCanonical, isStorable } from './column-texts.ts'
import { isExact } from './exact-numbers.ts'
import { FilterError } from './filter-error.ts'
import type { Field, PlanQuestion, FilterTable } from './table.ts'
import type { ScalarValue } from './tree.ts'

/** A row as the application reads it. */
export type TableRow = Readonly<Record<string, unknown>>
export type RowValue = ScalarValue | readonly ScalarValue[] | null

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const DATE = /^\d{4}-\d\d-\d\d$/
/** The last time of a check. */
export const TIME_MAX = '9999-12-31T23:59:59.999Z'
const MIDNIGHT = '00:00:00.000Z'

/** Whether a text is a time in the one form of section 1, in the years 1 to 9999. */
export function isTime(text: string): boolean {
  if (!TIME.test(text)) return false
  const at = new Date(text)
  return !Number.isNaN(at.getTime()) && at.toISOString() === text && !text.startsWith('0000')
}

/** Whether a text is a date in the one form of section 1, in the years 1 to 9999. */
export function isDate(text: string): boolean {
  return DATE.test(text) && isTime(`${text}T00:00:00.000Z`)
}

/**
 * The value of a field in a row; null if the column is `NULL`. The subjects of a relation in another table
 * are a list. Throws `INVALID_ROW` if the value violates a premise.
 */
export function valueIn(row: TableRow, field: Field): RowValue {
  const stored = row[field.property]
  if (stored === undefined) {
    throw invalid(field, 'expected the row to have the property', field.property)
  }
  if (stored === null) {
    if (field.nulls === 'never') throw invalid(field, 'expected no NULL in the column', field.column)
    return field.join === null ? null : []
  }
  if (field.join === null) return converted(stored, field)
  if (!Array.isArray(stored))
    throw invalid(field, 'expected a list of subjects in the property', field.property)
  return stored.map(subject => converted(subject, field) as ScalarValue)
}

function converted(stored: unknown, field: Field): RowValue {
  switch (field.type) {
    case 'string': {
      if (field.as === 'text') {
        if (isText(stored) && (stored !== '' || !isIdentity(field))) return stored
        break
      }
      const isWhole = typeof stored === 'bigint' || Number.isSafeInteger(stored)
      const text = isWhole && field.as !== 'uuid' ? String(stored) : stored
      if (isText(text) && isCanonical(text, field.as)) return text
      break
    }
    case 'number': {
      const value = typeof stored === 'string' || typeof stored === 'bigint' ? Number(stored) : stored
      if (typeof value === 'number' && Number.isFinite(value) && stored !== '') return value
      break
    }
    case 'bool':
      if (typeof stored === 'boolean') return stored
      if (stored === 0 || stored === 1 || stored === 0n || stored === 1n) return Number(stored) === 1
      break
    case 'time': {
      const time = timeText(stored)
      if (time !== null) return time
      break
    }
    case 'date': {
      // A driver that returns dates as local times would shift them.
      const [date, rest] = stored instanceof Date ? (timeText(stored) ?? '').split('T') : [stored]
      if (typeof date === 'string' && isDate(date) && (rest === undefined || rest === MIDNIGHT)) return date
      break
    }
    case 'string_array':
    case 'number_array': {
      const elements = typeof stored === 'string' ? parsed(stored) : stored
      const list =
        Array.isArray(elements) && elements.map(item => (typeof item === 'bigint' ? Number(item) : item))
      const element = field.type === 'string_array' ? 'string' : 'number'
      const fits = (item: unknown): item is ScalarValue =>
        element === 'string' ? isText(item) : Number.isFinite(item)
      if (list && list.every(fits)) return list
    }
  }
  throw invalid(field, `expected a value of the type ${field.type} in the property`, field.property)
}

/** Databases cannot compare texts with U+0000 or unpaired surrogates exactly (filter.md P69). */
function isText(value: unknown): value is string {
  return typeof value === 'string' && isStorable(value)
}

/** Keys and tenants of rows are never empty (filter.md P20). */
function isIdentity({ name }: Field): boolean {
  return name === 'key' || name === 'tenant'
}

function timeText(stored: unknown): string | null {
  if (typeof stored === 'string' && isTime(stored)) return stored
  const isInstant = stored instanceof Date || typeof stored === 'number' || typeof stored === 'bigint'
  if (!isInstant) return null
  const at = stored instanceof Date ? stored : new Date(Number(stored))
  const text = Number.isNaN(at.getTime()) ? '' : at.toISOString()
  return isTime(text) ? text : null
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return null
  }
}

function invalid(field: Field, expected: string, name: string): FilterError {
  return new FilterError('INVALID_ROW', `${field.name}: ${expected} ${JSON.stringify(name)}`, {
    field: field.name,
  })
}

/**
 * The check of a row (filter.md P18), as the body of `POST /allowed`. Throws `INVALID_ROW` if a number would
 * lose digits in JSON.
 */
export function rowCheck(table: FilterTable, question: PlanQuestion, row: TableRow): Record<string, unknown> {
  const attributes = new Map(Object.entries(question.attributes ?? {}))
  for (const field of table.fields.values()) {
    if (!field.name.startsWith('attributes.')) continue
    const value = valueIn(row, field)
    if (value !== null && !isExact(value, field)) {
      throw invalid(
        field,
        'expected numbers that JSON represents with all digits in the property',
        field.property,
      )
    }
    if (value !== null || field.nulls === 'sent')
      attributes.set(field.name.slice('attributes.'.length), value)
  }
  const { user, action, context } = question
  const tenant = question.tenant ?? (table.tenant && valueIn(row, table.tenant))
  return {
    user: typeof user === 'string' ? { key: user } : user,
    action,
    resource: {
      type: table.type,
      key: valueIn(row, table.key),
      ...(tenant !== null && { tenant }),
      attributes: Object.fromEntries(attributes),
    },
    ...(context && { context }),
  }
}
