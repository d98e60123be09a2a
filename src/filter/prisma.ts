/**
 * A plan as an object for `where` of Prisma. Prisma has no exact form for many tests: the adapter then throws
 * (filter.md section 8).
 */
import { isStorable } from './column-texts.ts'
import { exactValues } from './exact-numbers.ts'
import { notExpressible } from './condition-sql.ts'
import { type DialectName, requireDialect } from './dialect.ts'
import { FilterError } from './filter-error.ts'
import { simpleGlob } from './glob.ts'
import { type Comparison, type RowCondition, readPlan } from './read-plan.ts'
import { TIME_MAX } from './row-values.ts'
import type { Field, FilterTable } from './table.ts'
import type { ScalarValue, PlannedFilter } from './tree.ts'

export type PrismaWhere = Readonly<Record<string, unknown>>

export interface PrismaOptions {
  readonly dialect: DialectName
}

/** Prisma splits longer queries, and once returned wrong rows. */
const VALUES_MAX = 30_000
/** Prisma rounds numbers with more significant digits. */
const DIGITS_MAX = 15
/** Ranges of the doubles that are exact, without the largest ones, which Prisma rounds. */
const EXACT_DOUBLES = [
  { gte: -1e16, lte: 1e16 },
  { gte: 1e21, lte: 1.79769313486231e308 },
  { gte: -1.79769313486231e308, lte: -1e21 },
]
/** Characters that Prisma passes to `LIKE`. */
const WILDCARDS = /[%_\\]/

/** The names in the result are the properties of the columns. Throws `FilterError`. */
export function toPrisma(plan: PlannedFilter, table: FilterTable, { dialect }: PrismaOptions): PrismaWhere {
  requireDialect(dialect)
  const condition = readPlan(plan, table)
  if (condition.kind === 'always') return {}
  const values = countOf(condition)
  if (values > VALUES_MAX) {
    const message = `the filter has ${values} values; with Prisma it can have at most ${VALUES_MAX}`
    throw new FilterError('TOO_MANY_VALUES', message)
  }
  return new PrismaWriter(table, dialect).write(condition)
}

function countOf(condition: RowCondition): number {
  if (condition.kind === 'test') {
    const { field, operator, values } = condition
    const isInMilliseconds = field.type === 'time' && operator !== 'lt' && operator !== 'gte'
    if (isInMilliseconds) return values.length * 2
    const isGuarded = field.as === 'double' && operator !== 'eq' && operator !== 'in'
    return values.length + (isGuarded ? 2 * EXACT_DOUBLES.length : 0)
  }
  if (condition.kind !== 'and' && condition.kind !== 'or') return 0
  return condition.conditions.reduce((sum, child) => sum + countOf(child), 0)
}

class PrismaWriter {
  readonly #key: Field
  readonly #never: PrismaWhere
  readonly #dialect: DialectName

  constructor(table: FilterTable, dialect: DialectName) {
    this.#key = table.key
    this.#never = { [table.key.property]: { in: [] } }
    this.#dialect = dialect
  }

  write(condition: RowCondition): PrismaWhere {
    switch (condition.kind) {
      case 'always':
        return {}
      case 'never':
        return this.#never
      case 'and':
        return { AND: condition.conditions.map(child => this.write(child)) }
      case 'or':
        return { OR: condition.conditions.map(child => this.write(child)) }
      case 'test':
        return this.#test(condition)
    }
  }

  #test(test: Comparison): PrismaWhere {
    const { field, operator, other, values } = test
    if (other !== null) throw notExpressible(field, operator, 'of two columns')
    const is = (filter: unknown): PrismaWhere => ({ [field.property]: filter })
    if (operator === 'exists' && field.join === null) {
      const isList = field.type === 'string_array' || field.type === 'number_array'
      if (isList) return values[0] === true ? { NOT: is({ equals: null }) } : is({ equals: null })
      return is(values[0] === true ? { not: null } : null)
    }
    if (field.join !== null) {
      if (operator !== 'eq' && operator !== 'in')
        throw notExpressible(field, operator, 'of a relation in another table')
      // Prisma compares the keys of both tables in the collation of the column.
      if (!this.#isExact(this.#key)) throw notExpressible(field, operator, 'of a key in this collation')
      const subjects = this.#comparison({ ...test, field: { ...field, join: null, property: field.column } })
      return subjects === this.#never ? subjects : is({ some: subjects })
    }
    return this.#comparison(test)
  }

  #comparison({ field, operator, values }: Comparison): PrismaWhere {
    const [first] = values as [ScalarValue]
    const is = (filter: unknown): PrismaWhere => ({ [field.property]: filter })
    switch (field.type) {
      case 'string':
        return this.#text(field, operator, values)
      case 'number': {
        // Prisma returns and compares `Decimal` and `BigInt` with their own types, not as doubles.
        if (field.as !== 'integer' && field.as !== 'double')
          throw notExpressible(field, operator, `of ${field.as}`)
        if (field.as === 'integer' && !values.every(Number.isInteger))
          throw notExpressible(field, operator, 'with a fraction')
        return this.#number(field, operator, values)
      }
      case 'bool':
        return is(first)
      case 'time':
        return this.#time(field, operator, values)
      case 'date':
        return this.#ordered(
          field,
          operator,
          values.map(value => new Date(`${String(value)}T00:00:00.000Z`)),
        )
      case 'string_array':
      case 'number_array': {
        if (this.#dialect !== 'postgresql') throw notExpressible(field, operator, 'of a list')
        if (operator === 'intersects') {
          if (field.collation === 'nondeterministic')
            throw notExpressible(field, operator, 'in this collation')
          const possible = exactValues(values, field).filter(
            value => typeof value !== 'string' || isStorable(value),
          )
          if (field.type === 'number_array') this.#requireShort(field, operator, possible)
          return possible.length === 0 ? this.#never : is({ hasSome: possible })
        }
        if (operator === 'len_eq' && first === 0) return is({ isEmpty: true })
        if (operator === 'len_gt' && first === 0) return is({ isEmpty: false })
        throw notExpressible(field, operator, 'of a list')
      }
    }
  }

  #text(field: Field, operator: Comparison['operator'], values: readonly ScalarValue[]): PrismaWhere {
    if (field.as !== 'text') throw notExpressible(field, operator, `of ${field.as}`)
    if (!this.#isExact(field)) throw notExpressible(field, operator, 'in this collation')
    const is = (filter: unknown): PrismaWhere => ({ [field.property]: filter })
    const possible = values.filter(value => isStorable(value as string))
    const [first] = possible as [string]
    const isNone = possible.length === 0
    switch (operator) {
      case 'eq':
        return isNone ? this.#never : is({ equals: first })
      case 'in':
        return isNone ? this.#never : is({ in: possible })
      case 'ne':
        return this.#present(field, isNone ? null : { not: first })
      case 'nin':
        return this.#present(field, isNone ? null : { notIn: possible })
      case 'contains':
      case 'ncontains':
        return this.#contained(field, operator, values[0] as string, {
          isOpenBefore: true,
          isOpenAfter: true,
        })
      case 'match':
      case 'nmatch': {
        const simple = simpleGlob(values[0] as string)
        if (simple === null) throw notExpressible(field, operator, 'with this glob')
        return this.#contained(field, operator, simple.text, simple)
      }
      default:
        throw notExpressible(field, operator, 'of a text')
    }
  }

  /** Only PostgreSQL compares texts by bytes by default. */
  #isExact({ as, collation }: Field): boolean {
    if (as !== 'text') return true
    return collation === 'exact' || (collation === 'default' && this.#dialect === 'postgresql')
  }

  /** `LIKE` of SQLite and MySQL ignores case. */
  #contained(
    field: Field,
    operator: Comparison['operator'],
    text: string,
    { isOpenBefore, isOpenAfter }: { readonly isOpenBefore: boolean; readonly isOpenAfter: boolean },
  ): PrismaWhere {
    if (this.#dialect !== 'postgresql') throw notExpressible(field, operator, 'of a text')
    if (WILDCARDS.test(text)) throw notExpressible(field, operator, 'with %, _ or a backslash')
    const isNegated = operator === 'ncontains' || operator === 'nmatch'
    if (!isStorable(text)) return isNegated ? this.#present(field, null) : this.#never
    const name = isOpenBefore
      ? isOpenAfter
        ? 'contains'
        : 'endsWith'
      : isOpenAfter
        ? 'startsWith'
        : 'equals'
    const filter = { [name]: text }
    return isNegated ? this.#present(field, { not: filter }) : { [field.property]: filter }
  }

  #ordered(
    field: Field,
    operator: Comparison['operator'],
    values: readonly (ScalarValue | Date)[],
  ): PrismaWhere {
    const [first] = values
    const is = (filter: unknown): PrismaWhere => ({ [field.property]: filter })
    switch (operator) {
      case 'eq':
        return is({ equals: first })
      case 'ne':
        return this.#present(field, { not: first })
      case 'in':
        return is({ in: [...values] })
      case 'nin':
        return this.#present(field, { notIn: [...values] })
      case 'lt':
      case 'lte':
      case 'gt':
      case 'gte':
        return is({ [operator]: first })
      default:
        throw notExpressible(field, operator, `of the type ${field.type}`)
    }
  }

  #requireShort(field: Field, operator: Comparison['operator'], values: readonly ScalarValue[]): void {
    if (values.every(value => Number((value as number).toPrecision(DIGITS_MAX)) === value)) return
    throw notExpressible(field, operator, `with more than ${DIGITS_MAX} digits`)
  }

  /** No test is true for `NaN`, infinite numbers, and doubles that a check cannot read. */
  #number(field: Field, operator: Comparison['operator'], values: readonly ScalarValue[]): PrismaWhere {
    const isList = operator === 'eq' || operator === 'in' || operator === 'ne' || operator === 'nin'
    const possible = isList ? exactValues(values, field) : values
    if (field.as === 'double') this.#requireShort(field, operator, possible)
    else if (!possible.every(Number.isSafeInteger)) throw notExpressible(field, operator, 'with this bound')
    const isNone = possible.length === 0
    if (operator === 'eq' || operator === 'in') {
      return isNone ? this.#never : this.#ordered(field, operator, possible)
    }
    const where = isNone ? this.#present(field, null) : this.#ordered(field, operator, possible)
    if (field.as !== 'double') return where
    return { AND: [where, { OR: EXACT_DOUBLES.map(range => ({ [field.property]: range })) }] }
  }

  /** Half-open milliseconds: a column can have a higher precision than a check. */
  #time(field: Field, operator: Comparison['operator'], values: readonly ScalarValue[]): PrismaWhere {
    const times = values.map(value => new Date(value as string))
    if (operator === 'lt' || operator === 'gte') return this.#ordered(field, operator, times)
    const is = (filter: unknown): PrismaWhere => ({ [field.property]: filter })
    const last = Date.parse(TIME_MAX)
    // The last millisecond of the year 9999 has no next one.
    const next = (from: Date): Date | null => (from.getTime() === last ? null : new Date(from.getTime() + 1))
    switch (operator) {
      case 'eq':
      case 'in':
        return { OR: times.map(from => is(next(from) ? { gte: from, lt: next(from) } : { gte: from })) }
      case 'ne':
      case 'nin':
        return {
          AND: times.map(from => ({
            OR: [is({ lt: from }), ...(next(from) ? [is({ gte: next(from) })] : [])],
          })),
        }
      default:
        throw notExpressible(field, operator, 'of a time')
    }
  }

  /** A negation is true for present values only. */
  #present({ property, nulls }: Field, filter: unknown): PrismaWhere {
    const parts: PrismaWhere[] = filter === null ? [] : [{ [property]: filter }]
    if (nulls !== 'never') parts.push({ [property]: { not: null } })
    if (parts.length === 0) return { NOT: this.#never }
    return parts.length === 1 ? parts[0]! : { AND: parts }
  }
}
