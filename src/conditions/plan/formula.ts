/**
 * Formulas over the columns of a row, in the normal form of filter.md P45 to P49. They contain no negation. A
 * formula is a constant or a term, and the JSON of a term is the filter. Formulas that contain an obstacle
 * cannot be sent.
 */
import type { ColumnType, FieldOperator, FieldReference } from '#filter/tree.ts'
import { compareUtf8, sortedByUtf8 } from '#model/text/utf8-order.ts'

/** A column of the table, as the service knows it. It also represents the value of the column in a row. */
export class Column {
  /** `key`, `tenant`, `attributes.<name>` or `relations.<key>`. */
  readonly field: string
  readonly type: ColumnType
  readonly isNullable: boolean

  constructor(field: string, type: ColumnType, isNullable: boolean) {
    this.field = field
    this.type = type
    this.isNullable = isNullable
  }
}

export type Scalar = string | number | boolean
export type Listed = readonly (string | number)[]
export type TestValue = Scalar | Listed | FieldReference

/** Origin of a list, for the error of a filter that is too large (filter.md P53). */
export type ListSource =
  | 'instance_roles'
  | 'relation_subjects'
  | 'other_tenants'
  | 'tenants'
  | 'stored_attributes'
  | 'lookup'
  | 'condition'

/** Reason why a formula cannot be sent. */
export type Problem =
  /** A test that no filter expresses exactly (filter.md P44). `rule` is added when the rule is known. */
  | {
      readonly kind: 'not-expressible'
      readonly rule: PlannedRule | null
      readonly set: string
      readonly path: string
      readonly operator: string
      readonly msg: string
    }
  /** A list with more elements than the request permits. */
  | { readonly kind: 'too-large'; readonly field: string; readonly source: ListSource }

/** A rule, with the keys of its sets. */
export interface PlannedRule {
  readonly user_set: string
  readonly permission: string
  readonly resource_set: string
}

export class ColumnTest {
  readonly kind = 'test'
  readonly size = 1
  readonly column: Column
  readonly operator: FieldOperator
  readonly value: TestValue
  readonly source: ListSource
  /** The other column, if the value is a column. */
  readonly other: Column | null
  #text: string | null = null

  constructor(
    column: Column,
    operator: FieldOperator,
    value: TestValue,
    { source = 'condition', other = null }: { source?: ListSource; other?: Column | null } = {},
  ) {
    this.column = column
    this.operator = operator
    this.value = value
    this.source = source
    this.other = other
  }

  get text(): string {
    return (this.#text ??= JSON.stringify({
      type: 'field',
      operator: this.operator,
      field: this.column.field,
      value: this.value,
    }))
  }

  /** Returns whether the test is true only for rows in which this column is present. */
  needs(field: string): boolean {
    if (this.other?.field === field) return true
    return this.column.field === field && !(this.operator === 'exists' && this.value === false)
  }
}

/** A part that cannot be expressed. If the rest of the formula decides without it, it has no effect. */
export class Obstacle {
  readonly kind = 'obstacle'
  readonly size = 1
  readonly problem: Problem
  readonly text: string

  constructor(problem: Problem) {
    this.problem = problem
    this.text = JSON.stringify(problem)
  }
}

export class Compound {
  readonly kind: 'and' | 'or'
  /** At least two terms, in ascending order of their texts. None of them is a compound of the same kind. */
  readonly items: readonly Term[]
  /** Number of nodes, including this one. */
  readonly size: number
  readonly #texts: ReadonlySet<string>
  #text: string | null = null

  constructor(kind: 'and' | 'or', items: readonly Term[]) {
    this.kind = kind
    this.items = items
    this.size = items.reduce((sum, item) => sum + item.size, 1)
    this.#texts = new Set(items.map(({ text }) => text))
  }

  get text(): string {
    return (this.#text ??= `{"type":"compound","operator":"${this.kind}","value":[${this.items
      .map(({ text }) => text)
      .join()}]}`)
  }

  has(text: string): boolean {
    return this.#texts.has(text)
  }
}

export type Term = ColumnTest | Obstacle | Compound
export type Formula = boolean | Term

/** Returns a formula that is true if all of these are true. */
export function and(items: Iterable<Formula>): Formula {
  return joined('and', items)
}

/** Returns a formula that is true if at least one of these is true. */
export function or(items: Iterable<Formula>): Formula {
  return joined('or', items)
}

/** Returns a text that is equal for equal formulas only. */
export function textOf(formula: Formula): string {
  return typeof formula === 'boolean' ? String(formula) : formula.text
}

/** Returns the number of nodes of a formula. */
export function sizeOf(formula: Formula): number {
  return typeof formula === 'boolean' ? 0 : formula.size
}

/** Returns the formulas of which the formula is a disjunction. */
export function disjunctsOf(formula: Formula): readonly Formula[] {
  if (formula === false) return []
  return typeof formula === 'object' && formula.kind === 'or' ? (formula as Compound).items : [formula]
}

export function exists(column: Column, isWanted: boolean): Formula {
  return column.isNullable ? new ColumnTest(column, 'exists', isWanted) : isWanted
}

/** No check of a row sends this number, so every number of a check differs from it (filter.md P70). */
export const NO_NUMBER = 1e17

/**
 * Returns when a check can read a present value of the column. It cannot read numbers that lose digits in
 * JSON.
 */
export function readable(column: Column): Formula {
  if (column.type === 'number') return new ColumnTest(column, 'ne', NO_NUMBER)
  return column.type !== 'number_array' || new ColumnTest(column, 'disjoint', [NO_NUMBER])
}

/** Tests whether a present value is one of these values. The values must fit the column. */
export function among(column: Column, values: Iterable<Scalar>, source?: ListSource): Formula {
  return listTest(column, { values: new Set(values), isExcluded: false, source: source ?? 'condition' })
}

/** Tests whether a present value is none of these values. The values must fit the column. */
export function notAmong(column: Column, values: Iterable<Scalar>, source?: ListSource): Formula {
  return listTest(column, { values: new Set(values), isExcluded: true, source: source ?? 'condition' })
}

/** Like `among`, for keys of which each occurs once. Most lists of a plan have thousands of them. */
export function amongKeys(column: Column, keys: readonly string[], source: ListSource): Formula {
  if (keys.length < 2) return among(column, keys, source)
  return new ColumnTest(column, 'in', sortedByUtf8(keys), { source })
}

/** Like `notAmong`, for keys of which each occurs once. */
export function notAmongKeys(column: Column, keys: readonly string[], source: ListSource): Formula {
  if (keys.length < 2) return notAmong(column, keys, source)
  return new ColumnTest(column, 'nin', sortedByUtf8(keys), { source })
}

/** Returns the values in ascending order without duplicates, as lists of a filter contain them. */
export function ascending(values: Iterable<string | number>): Listed {
  const different = [...(values instanceof Set ? (values as Set<string | number>) : new Set(values))]
  return typeof different[0] === 'number'
    ? (different as number[]).toSorted((left, right) => left - right)
    : sortedByUtf8(different as string[])
}

interface ValueList {
  readonly values: ReadonlySet<Scalar>
  readonly isExcluded: boolean
  readonly source: ListSource
}

function listTest(column: Column, { values, isExcluded, source }: ValueList): Formula {
  if (values.size === 0) {
    if (!isExcluded) return false
    return column.type === 'number' ? readable(column) : exists(column, true)
  }
  if (column.type === 'bool') {
    if (values.size === 2) return !isExcluded && exists(column, true)
    const [value] = values as ReadonlySet<boolean>
    return new ColumnTest(column, 'eq', value !== isExcluded)
  }
  if (values.size === 1) {
    const [value] = values
    return new ColumnTest(column, isExcluded ? 'ne' : 'eq', value!, { source })
  }
  if (isExcluded && values.has(NO_NUMBER)) {
    return listTest(column, { values: without(values, new Set([NO_NUMBER])), isExcluded, source })
  }
  const listed = ascending(values as ReadonlySet<string | number>)
  return new ColumnTest(column, isExcluded ? 'nin' : 'in', listed, { source })
}

/** Returns the values of a test for membership, or null for another test. */
function valueListOf({ operator, value, source }: ColumnTest): ValueList | null {
  switch (operator) {
    case 'eq':
    case 'ne':
      return typeof value === 'object'
        ? null
        : { values: new Set([value]), isExcluded: operator === 'ne', source }
    case 'in':
    case 'nin':
      return { values: new Set(value as Listed), isExcluded: operator === 'nin', source }
    default:
      return null
  }
}

function joined(kind: 'and' | 'or', items: Iterable<Formula>): Formula {
  const neutral = kind === 'and'
  const kept: Term[] = []
  for (const item of items) {
    if (item === neutral) continue
    if (typeof item === 'boolean') return item
    kept.push(item)
  }
  // A single item is in normal form.
  if (kept.length < 2) return kept[0] ?? neutral
  if (kind === 'and' && kept.length === 2 && isImplied(kept[0]!, kept[1]!)) return kept[1]!
  const terms = new Map<string, Term>()
  for (const item of kept) {
    for (const term of item.kind === kind ? (item as Compound).items : [item]) terms.set(term.text, term)
  }
  if (terms.size < 2) {
    const [only] = terms.values()
    return only!
  }
  const merged = mergedTests(kind, [...terms.values()])
  if (merged === null) return !neutral
  const left = withoutAbsorbed(kind === 'and' ? withoutImplied(merged) : merged)
  if (left.length < 2) return left[0] ?? neutral
  return new Compound(
    kind,
    left.toSorted((one, other) => compareUtf8(one.text, other.text)),
  )
}

/**
 * Merges the tests of each column. Returns null if the whole is the absorbing constant: false for `and`, true
 * for `or`.
 */
function mergedTests(kind: 'and' | 'or', terms: readonly Term[]): Term[] | null {
  const byField = new Map<string, ColumnTest[]>()
  const others: Term[] = []
  for (const term of terms) {
    if (term.kind !== 'test') others.push(term)
    else {
      const known = byField.get(term.column.field)
      if (known) known.push(term)
      else byField.set(term.column.field, [term])
    }
  }
  for (const tests of byField.values()) {
    const merged = tests.length === 1 ? tests : mergedOfColumn(kind, tests)
    if (merged === null) return null
    others.push(...merged)
  }
  return others
}

function mergedOfColumn(kind: 'and' | 'or', tests: readonly ColumnTest[]): readonly Term[] | null {
  const { column } = tests[0]!
  const lists: ValueList[] = []
  const kept: ColumnTest[] = []
  for (const test of tests) {
    const list = valueListOf(test)
    if (list === null) kept.push(test)
    else lists.push(list)
  }
  if (lists.length > 0) {
    const merged = listTest(column, mergedLists(kind, lists))
    if (typeof merged === 'boolean') {
      if (merged !== (kind === 'and')) return null
    } else kept.push(merged as ColumnTest)
  }
  const isAbsent = kept.some(test => test.operator === 'exists' && test.value === false)
  const present = kept.filter(test => test.needs(column.field))
  if (kind === 'and') return isAbsent && present.length > 0 ? null : unique(kept)
  const isPresent = present.some(({ operator }) => operator === 'exists')
  if (isPresent && isAbsent) return null
  return unique(isPresent ? kept.filter(({ operator }) => operator === 'exists') : kept)
}

function mergedLists(kind: 'and' | 'or', lists: readonly ValueList[]): ValueList {
  const source = lists.reduce((one, other) => (other.values.size > one.values.size ? other : one)).source
  const included = lists.filter(({ isExcluded }) => !isExcluded).map(({ values }) => values)
  const excluded = lists.filter(({ isExcluded }) => isExcluded).map(({ values }) => values)
  const [isIn, isNotIn] =
    kind === 'and' ? [inAll(included), inAny(excluded)] : [inAny(included), inAll(excluded)]
  if (included.length === 0) return { values: isNotIn, isExcluded: true, source }
  if (excluded.length === 0) return { values: isIn, isExcluded: false, source }
  return kind === 'and'
    ? { values: without(isIn, isNotIn), isExcluded: false, source }
    : { values: without(isNotIn, isIn), isExcluded: true, source }
}

function inAll(sets: readonly ReadonlySet<Scalar>[]): ReadonlySet<Scalar> {
  const [first = new Set<Scalar>(), ...others] = sets
  return others.length === 0
    ? first
    : new Set([...first].filter(value => others.every(set => set.has(value))))
}

function inAny(sets: readonly ReadonlySet<Scalar>[]): ReadonlySet<Scalar> {
  return sets.length === 1 ? sets[0]! : new Set(sets.flatMap(set => [...set]))
}

function without(values: ReadonlySet<Scalar>, others: ReadonlySet<Scalar>): ReadonlySet<Scalar> {
  return new Set([...values].filter(value => !others.has(value)))
}

function unique<Each extends Term>(terms: readonly Each[]): Each[] {
  return [...new Map(terms.map(term => [term.text, term])).values()]
}

/** Whether a term is `exists true` of a column that the other term tests. */
function isImplied(term: Term, other: Term): boolean {
  if (term.kind !== 'test' || term.operator !== 'exists' || term.value !== true) return false
  return other.kind === 'test' && other.needs(term.column.field)
}

/** Removes `exists true` from a conjunction if another term is only true for present values. */
function withoutImplied(terms: readonly Term[]): readonly Term[] {
  return terms.filter(
    term =>
      term.kind !== 'test' ||
      term.operator !== 'exists' ||
      term.value !== true ||
      !terms.some(other => other !== term && isOnlyForPresent(other, term.column.field)),
  )
}

function isOnlyForPresent(term: Term, field: string): boolean {
  switch (term.kind) {
    case 'test':
      return term.needs(field)
    case 'obstacle':
      return false
    case 'and':
      return term.items.some(item => isOnlyForPresent(item, field))
    case 'or':
      return term.items.every(item => isOnlyForPresent(item, field))
  }
}

/**
 * Applies `x or (x and y)` = `x` to a disjunction, and the dual law to a conjunction. A part of a compound is
 * found by its rarest item, because thousands of compounds can have one item in common.
 */
function withoutAbsorbed(terms: readonly Term[]): readonly Term[] {
  const compounds = terms.filter(term => term.kind === 'and' || term.kind === 'or') as Compound[]
  if (compounds.length === 0) return terms
  const singles = new Set(terms.map(({ text }) => text))
  const counts = new Map<string, number>()
  for (const { items } of compounds) {
    for (const { text } of items) counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  /** Compounds by the text of their rarest item. */
  const byRarest = new Map<string, Compound[]>()
  for (const compound of compounds) {
    const { text } = compound.items.reduce((one, other) =>
      counts.get(other.text)! < counts.get(one.text)! ? other : one,
    )
    const known = byRarest.get(text)
    if (known) known.push(compound)
    else byRarest.set(text, [compound])
  }
  const isAbsorbed = (whole: Compound): boolean =>
    whole.items.some(
      ({ text }) =>
        singles.has(text) ||
        byRarest
          .get(text)
          ?.some(
            part => part.items.length < whole.items.length && part.items.every(item => whole.has(item.text)),
          ),
    )
  const absorbed = new Set<Term>(compounds.filter(isAbsorbed))
  return terms.filter(term => !absorbed.has(term))
}

/** Returns the formula with another term for each obstacle. */
export function withObstacles(formula: Formula, replace: (problem: Problem) => Formula): Formula {
  if (typeof formula === 'boolean' || formula.kind === 'test') return formula
  if (formula.kind === 'obstacle') return replace(formula.problem)
  if (!hasObstacle(formula)) return formula
  return joined(
    formula.kind,
    formula.items.map(item => withObstacles(item, replace)),
  )
}

export function hasObstacle(formula: Formula): boolean {
  if (typeof formula === 'boolean' || formula.kind === 'test') return false
  return formula.kind === 'obstacle' || formula.items.some(hasObstacle)
}

/** Returns all terms of a formula, the outermost first. */
export function* termsOf(formula: Formula): Iterable<Term> {
  if (typeof formula === 'boolean') return
  yield formula
  if (formula.kind === 'and' || formula.kind === 'or') {
    for (const item of formula.items) yield* termsOf(item)
  }
}
