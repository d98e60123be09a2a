/** Evaluates a filter on rows in JavaScript (filter.md section 8). */
import { exactValues, isExact } from './exact-numbers.ts'
import { regExpOf } from './glob.ts'
import { type Comparison, type RowCondition, readPlan } from './read-plan.ts'
import { type TableRow, type RowValue, valueIn } from './row-values.ts'
import type { FilterTable } from './table.ts'
import type { ScalarValue, PlannedFilter } from './tree.ts'

export type Predicate = (row: TableRow) => boolean

/**
 * Returns a function that is true for the rows that the plan allows. Throws `FilterError` if the plan is not
 * for this table; the function throws `INVALID_ROW`. O(nodes) for each row.
 */
export function toPredicate(plan: PlannedFilter, table: FilterTable): Predicate {
  return compiled(readPlan(plan, table))
}

function compiled(condition: RowCondition): Predicate {
  switch (condition.kind) {
    case 'always':
      return () => true
    case 'never':
      return () => false
    case 'and': {
      const predicates = condition.conditions.map(compiled)
      return row => predicates.every(predicate => predicate(row))
    }
    case 'or': {
      const predicates = condition.conditions.map(compiled)
      return row => predicates.some(predicate => predicate(row))
    }
    case 'test':
      return compiledTest(condition)
  }
}

function compiledTest(test: Comparison): Predicate {
  const { field, other, operator } = test
  if (operator === 'exists') return row => (valueIn(row, field) !== null) === test.values[0]
  if (other !== null) {
    const compare = COMPARISONS[operator as keyof typeof COMPARISONS]
    return row => {
      const [left, right] = [valueIn(row, field), valueIn(row, other)]
      if (left === null || right === null || !isExact(left, field) || !isExact(right, other)) return false
      return compare(left as ScalarValue, right as ScalarValue)
    }
  }
  const matches = present(test)
  if (field.join === null) {
    return row => {
      const value = valueIn(row, field)
      if (value === null || (field.type === 'number' && !isExact(value, field))) return false
      return matches(value)
    }
  }
  return row => (valueIn(row, field) as readonly ScalarValue[]).some(matches)
}

const COMPARISONS = {
  eq: (a: ScalarValue, b: ScalarValue) => a === b,
  ne: (a: ScalarValue, b: ScalarValue) => a !== b,
  lt: (a: ScalarValue, b: ScalarValue) => a < b,
  lte: (a: ScalarValue, b: ScalarValue) => a <= b,
  gt: (a: ScalarValue, b: ScalarValue) => a > b,
  gte: (a: ScalarValue, b: ScalarValue) => a >= b,
}

/** The test of a value that is not null. */
function present({ field, operator, values }: Comparison): (value: NonNullable<RowValue>) => boolean {
  const [first] = values as [ScalarValue]
  const among = new Set(exactValues(values, field))
  const list = (value: NonNullable<RowValue>) => value as readonly ScalarValue[]
  switch (operator) {
    case 'in':
      return value => among.has(value as ScalarValue)
    case 'nin':
      return value => !among.has(value as ScalarValue)
    case 'contains':
    case 'ncontains': {
      // Half of a surrogate pair is not a part of a text.
      const isPossible = (first as string).isWellFormed()
      const isIn = (value: string): boolean => isPossible && value.includes(first as string)
      return value => isIn(value as string) === (operator === 'contains')
    }
    case 'match':
    case 'nmatch': {
      const expression = regExpOf(first as string)
      return value => expression.test(value as string) === (operator === 'match')
    }
    case 'intersects':
      return value => list(value).some(item => among.has(item))
    case 'disjoint':
      return value => isExact(value, field) && !list(value).some(item => among.has(item))
    case 'subset':
      return value => list(value).every(item => among.has(item))
    case 'nsubset':
      return value => exactValues(list(value), field).some(item => !among.has(item))
    case 'len_eq':
      return value => list(value).length === first
    case 'len_ne':
      return value => list(value).length !== first
    case 'len_lt':
      return value => list(value).length < (first as number)
    case 'len_gt':
      return value => list(value).length > (first as number)
    case 'exists':
      return () => first === true
    default: {
      const compare = COMPARISONS[operator]
      return value => compare(value as ScalarValue, first)
    }
  }
}
