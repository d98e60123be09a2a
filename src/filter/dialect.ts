/** The parts of a condition that differ between SQL databases. The other parts are in `condition-sql.ts`. */
import type { Fragment } from './fragment.ts'
import { FilterError } from './filter-error.ts'
import type { ColumnKind, Field } from './table.ts'
import type { ScalarValue } from './tree.ts'

export const DIALECT_NAMES = ['postgresql', 'mysql', 'sqlite'] as const
export type DialectName = (typeof DIALECT_NAMES)[number]

/** Throws `NOT_EXPRESSIBLE` for a database that no adapter knows. */
export function requireDialect(name: DialectName): void {
  if (DIALECT_NAMES.includes(name)) return
  const message = `expected dialect to be one of ${DIALECT_NAMES.join(', ')}, got ${String(name)}`
  throw new FilterError('NOT_EXPRESSIBLE', message)
}

/** An expression of a column, with the field that describes it. */
export interface Expression {
  readonly field: Field
  readonly sql: Fragment
}

export interface SqlDialect {
  readonly name: DialectName
  /** Maximum number of parameters in a statement. */
  readonly valuesMax: number
  /** Kinds of columns that it can compare exactly, by type of the field. */
  readonly kinds: Readonly<Record<Field['type'], readonly ColumnKind[]>>
  quote(identifier: string): string
  /** Whether the database can hold the text. */
  holds(text: string): boolean
  /**
   * The expression in the form in which equal values of a check are equal and their order is that of a check:
   * texts by bytes, numbers as doubles, times in milliseconds.
   */
  comparable(expression: Expression): Fragment
  /** A value of the field as a parameter, of the type of `comparable`, or of the column if `isBound`. */
  constant(field: Field, value: ScalarValue, isBound?: boolean): Fragment
  equal(expression: Expression, value: ScalarValue): Fragment
  unequal(expression: Expression, value: ScalarValue): Fragment
  oneOf(expression: Expression, values: readonly ScalarValue[]): Fragment
  noneOf(expression: Expression, values: readonly ScalarValue[]): Fragment
  contains(expression: Expression, text: string): Fragment
  lacks(expression: Expression, text: string): Fragment
  /** Throws `NOT_EXPRESSIBLE` for globs that the database cannot match exactly. */
  matches(expression: Expression, glob: string): Fragment
  matchesNot(expression: Expression, glob: string): Fragment
  intersects(expression: Expression, values: readonly ScalarValue[]): Fragment
  /** Lists of numbers: false if an element is not exact. The values can be empty. */
  disjoint(expression: Expression, values: readonly ScalarValue[]): Fragment
  subset(expression: Expression, values: readonly ScalarValue[]): Fragment
  /** Lists of numbers: only exact elements count. The values can be empty. */
  notSubset(expression: Expression, values: readonly ScalarValue[]): Fragment
  length(expression: Expression): Fragment
  /** A condition that excludes values that a column can contain, but a check cannot; null if none exist. */
  guard(expression: Expression): Fragment | null
}
