/**
 * Writes a condition as SQL, with all values as parameters (filter.md sections 8 and 9). The condition
 * contains no `NOT` around a test of a column that can be `NULL`, so that `NULL` never allows a row.
 */
import { isCanonical } from './column-texts.ts'
import { exactValues } from './exact-numbers.ts'
import type { SqlDialect, Expression } from './dialect.ts'
import { FilterError } from './filter-error.ts'
import { type Fragment, grouped, joined, raw, sql } from './fragment.ts'
import type { Comparison, RowCondition } from './read-plan.ts'
import { type Field, type FilterTable, isReserved } from './table.ts'
import type { ScalarValue } from './tree.ts'

const ALWAYS = raw('1 = 1')
const NEVER = raw('1 = 0')

export interface ConditionOptions {
  /** Alias or name of the table in the statement. Required if a relation is in another table. */
  readonly alias?: string | undefined
}

/** Throws `FilterError` if the database cannot express a test exactly, or binds too few values. */
export function conditionSql(
  condition: RowCondition,
  table: FilterTable,
  dialect: SqlDialect,
  options: ConditionOptions = {},
): Fragment {
  const fragment = new ConditionWriter(table, dialect, options).write(condition)
  const values = fragment.filter(piece => typeof piece !== 'string').length
  if (values <= dialect.valuesMax) return fragment
  const message = `the filter binds ${values} values; ${dialect.name} binds at most ${dialect.valuesMax}`
  throw new FilterError('TOO_MANY_VALUES', message)
}

class ConditionWriter {
  readonly #table: FilterTable
  readonly #dialect: SqlDialect
  readonly #alias: string | undefined

  constructor(table: FilterTable, dialect: SqlDialect, { alias }: ConditionOptions) {
    if (alias !== undefined && isReserved(alias)) {
      throw new FilterError('INVALID_TABLE', 'expected an alias that does not begin with verdict_')
    }
    this.#table = table
    this.#dialect = dialect
    this.#alias = alias
  }

  write(condition: RowCondition): Fragment {
    switch (condition.kind) {
      case 'always':
        return ALWAYS
      case 'never':
        return NEVER
      case 'and':
      case 'or': {
        const parts = condition.conditions.map(child => this.write(child))
        return grouped(parts, condition.kind === 'and' ? ' AND ' : ' OR ')
      }
      case 'test':
        return condition.field.join === null ? this.#test(condition) : this.#joinedTest(condition)
    }
  }

  /** A test of subjects in another table: true if one of them makes it true. */
  #joinedTest(test: Comparison): Fragment {
    const { field, operator } = test
    const { join } = field
    if (join === null || (operator !== 'eq' && operator !== 'in')) {
      throw notExpressible(field, operator, 'of a relation in another table')
    }
    if (this.#alias === undefined) {
      const message = `${field.name}: a relation in another table needs the option alias`
      throw new FilterError('NOT_EXPRESSIBLE', message, { field: field.name, operator })
    }
    const subjects = this.#dialect.quote('verdict_subjects')
    const quote = (name: string): string => this.#dialect.quote(name)
    const expression = { field, sql: raw(`${subjects}.${quote(field.column)}`) }
    const tested = this.#compared(expression, operator, test.values)
    const { key } = this.#table
    const link = this.#equalKeys(`${subjects}.${quote(join.foreignKey)}`, this.#column(key))
    return sql`EXISTS (SELECT 1 FROM ${raw(quote(join.table))} ${raw(subjects)} WHERE ${link} AND ${tested})`
  }

  /** The first comparison can use an index of the column, the second one is exact. */
  #equalKeys(column: string, key: Expression): Fragment {
    const other: Expression = { field: key.field, sql: raw(column) }
    const exact = sql`${this.#dialect.comparable(other)} = ${this.#dialect.comparable(key)}`
    const isText = key.field.as === 'text'
    return isText ? sql`${other.sql} = ${key.sql} AND ${exact}` : exact
  }

  #test({ field, operator, values, other }: Comparison): Fragment {
    const expression = this.#column(field)
    if (operator === 'exists')
      return sql`${expression.sql} ${raw(values[0] === true ? 'IS NOT NULL' : 'IS NULL')}`
    if (other !== null) return this.#comparedFields(expression, operator, this.#column(other))
    return this.#compared(expression, operator, values)
  }

  #column(field: Field): Expression {
    const { name, kinds } = this.#dialect
    if (!kinds[field.type].includes(field.as)) {
      const message = `${field.name}: ${name} cannot compare a column of the kind ${field.as} exactly`
      throw new FilterError('NOT_EXPRESSIBLE', message, { field: field.name })
    }
    const column = this.#dialect.quote(field.column)
    return {
      field,
      sql: raw(this.#alias === undefined ? column : `${this.#dialect.quote(this.#alias)}.${column}`),
    }
  }

  #comparedFields(left: Expression, operator: Comparison['operator'], right: Expression): Fragment {
    const kindOf = ({ field }: Expression): string => (field.type === 'number' ? 'number' : field.as)
    if (kindOf(left) !== kindOf(right)) {
      throw notExpressible(
        left.field,
        operator,
        `of columns of the kinds ${left.field.as} and ${right.field.as}`,
      )
    }
    const dialect = this.#dialect
    const compared = sql`${dialect.comparable(left)} ${raw(SYMBOLS[operator]!)} ${dialect.comparable(right)}`
    return guarded(compared, [dialect.guard(left), dialect.guard(right)])
  }

  #compared(
    expression: Expression,
    operator: Comparison['operator'],
    values: readonly ScalarValue[],
  ): Fragment {
    const dialect = this.#dialect
    const { field } = expression
    const [first] = values as [ScalarValue]
    switch (operator) {
      case 'eq':
        return this.#among(expression, [first])
      case 'ne':
        return this.#notAmong(expression, [first])
      case 'in':
        return this.#among(expression, values)
      case 'nin':
        return this.#notAmong(expression, values)
      case 'lt':
      case 'lte':
      case 'gt':
      case 'gte':
        return this.#ordered(expression, operator, first)
      case 'contains':
      case 'ncontains': {
        requireText(field, operator)
        if (!dialect.holds(first as string)) return this.#absent(expression, operator === 'contains')
        const text = first as string
        return operator === 'contains' ? dialect.contains(expression, text) : dialect.lacks(expression, text)
      }
      case 'match':
      case 'nmatch': {
        requireText(field, operator)
        const glob = first as string
        if (!dialect.holds(glob)) throw notExpressible(field, operator, 'with U+0000')
        return operator === 'match' ? dialect.matches(expression, glob) : dialect.matchesNot(expression, glob)
      }
      case 'intersects':
      case 'disjoint':
      case 'subset':
      case 'nsubset':
        return this.#sets(expression, operator, values)
      case 'len_eq':
      case 'len_ne':
      case 'len_lt':
      case 'len_gt':
        return sql`${dialect.length(expression)} ${raw(SYMBOLS[operator]!)} ${raw(String(first))}`
      case 'exists':
        throw notExpressible(field, operator, 'here')
    }
  }

  #among(expression: Expression, values: readonly ScalarValue[]): Fragment {
    const possible = this.#possible(expression.field, values)
    if (possible.length === 0) return NEVER
    const [first] = possible as [ScalarValue]
    const tested =
      possible.length === 1
        ? this.#dialect.equal(expression, first)
        : this.#dialect.oneOf(expression, possible)
    return tested
  }

  #notAmong(expression: Expression, values: readonly ScalarValue[]): Fragment {
    const possible = this.#possible(expression.field, values)
    if (possible.length === 0) return this.#present(expression)
    const [first] = possible as [ScalarValue]
    const tested =
      possible.length === 1
        ? this.#dialect.unequal(expression, first)
        : this.#dialect.noneOf(expression, possible)
    return guarded(tested, [this.#dialect.guard(expression)])
  }

  /** The values that a row can have. No row has the others (filter.md P68, P69, P70). */
  #possible(field: Field, values: readonly ScalarValue[]): readonly ScalarValue[] {
    return exactValues(values, field).filter(value => {
      if (typeof value === 'string' && !this.#dialect.holds(value)) return false
      if (field.type === 'string') return isCanonical(value as string, field.as)
      return field.type !== 'number' || field.as !== 'integer' || Number.isSafeInteger(value)
    })
  }

  #ordered(expression: Expression, operator: 'lt' | 'lte' | 'gt' | 'gte', value: ScalarValue): Fragment {
    const { field } = expression
    const dialect = this.#dialect
    if (field.type === 'number' && field.as === 'integer')
      return this.#orderedInteger(expression, operator, value)
    const column = field.type === 'number' ? dialect.comparable(expression) : expression.sql
    const compared = sql`${column} ${raw(SYMBOLS[operator]!)} ${dialect.constant(field, value, true)}`
    return guarded(compared, [dialect.guard(expression)])
  }

  /** Bounds of whole numbers are whole numbers. No test is true for a number beyond 2^53. */
  #orderedInteger(
    expression: Expression,
    operator: 'lt' | 'lte' | 'gt' | 'gte',
    value: ScalarValue,
  ): Fragment {
    const isUpper = operator === 'lt' || operator === 'lte'
    const isRoundedUp = operator === 'lt' || operator === 'gte'
    const whole = isRoundedUp ? Math.ceil(value as number) : Math.floor(value as number)
    if (!Number.isSafeInteger(whole)) return whole > 0 === isUpper ? this.#present(expression) : NEVER
    const { sql: column, field } = expression
    const compared = sql`${column} ${raw(SYMBOLS[operator]!)} ${this.#dialect.constant(field, whole)}`
    return guarded(compared, [this.#dialect.guard(expression)])
  }

  #sets(
    expression: Expression,
    operator: 'intersects' | 'disjoint' | 'subset' | 'nsubset',
    values: readonly ScalarValue[],
  ): Fragment {
    const dialect = this.#dialect
    const { field } = expression
    const possible = exactValues(values, field).filter(
      value => typeof value !== 'string' || dialect.holds(value),
    )
    const isEmpty = possible.length === 0
    const isText = field.type === 'string_array'
    switch (operator) {
      case 'intersects':
        return isEmpty ? NEVER : dialect.intersects(expression, possible)
      case 'disjoint':
        return isEmpty && isText ? this.#present(expression) : dialect.disjoint(expression, possible)
      case 'subset':
        return isEmpty ? sql`${dialect.length(expression)} = 0` : dialect.subset(expression, possible)
      case 'nsubset':
        return isEmpty && isText
          ? sql`${dialect.length(expression)} > 0`
          : dialect.notSubset(expression, possible)
    }
  }

  /** A test of a number is never true for a number that a check cannot read. */
  #present(expression: Expression): Fragment {
    const guard = expression.field.type === 'number' ? this.#dialect.guard(expression) : null
    return guard ?? sql`${expression.sql} IS NOT NULL`
  }

  #absent(expression: Expression, isNever: boolean): Fragment {
    return isNever ? NEVER : this.#present(expression)
  }
}

const SYMBOLS: Partial<Record<Comparison['operator'], string>> = {
  eq: '=',
  ne: '<>',
  lt: '<',
  lte: '<=',
  gt: '>',
  gte: '>=',
  len_eq: '=',
  len_ne: '<>',
  len_lt: '<',
  len_gt: '>',
}

function guarded(test: Fragment, guards: readonly (Fragment | null)[]): Fragment {
  const parts = [test, ...guards.filter(guard => guard !== null)]
  return parts.length === 1 ? test : sql`(${joined(parts, ' AND ')})`
}

function requireText(field: Field, operator: Comparison['operator']): void {
  if (field.as !== 'text') throw notExpressible(field, operator, `of a column of the kind ${field.as}`)
}

export function notExpressible(field: Field, operator: string, of: string): FilterError {
  const message = `${field.name}: the operator ${operator} ${of} cannot be expressed exactly`
  return new FilterError('NOT_EXPRESSIBLE', message, { field: field.name, operator })
}
