/**
 * Values that conditions can read in a plan (filter.md P33 to P37): known values, and columns of a row. A
 * column that can be `NULL` has two states, and each state has a separate value.
 */
import { mergedValueAt } from '#conditions/merged-attributes.ts'
import type { QuestionValues } from '#conditions/evaluate.ts'
import type { Path } from '#conditions/values/paths.ts'
import type { EvaluationBudget } from '#conditions/values/evaluation-budget.ts'
import { memberOf } from '#conditions/values/values.ts'
import type { NullMeaning } from '#filter/tree.ts'
import { isObject, type JsonObject } from '#model/json-object.ts'
import { Column, exists, type Formula } from './formula.ts'

/** A column of an attribute, and how a check of the row represents `NULL`. */
export interface AttributeColumn {
  readonly column: Column
  readonly nulls: NullMeaning
}

/** Key of a row. It is never `NULL`. */
export const KEY_COLUMN = new Column('key', 'string', false)

/** The value of a path in one state of the columns. `undefined` means that it is missing. */
export interface ValueInState {
  readonly state: Formula
  readonly value: unknown
}

/** Sources of the attributes of a row. */
export interface RowSources {
  readonly type: string
  /** Tenant of the row. */
  readonly tenant: string
  /** Attributes that the application sends with every check. */
  readonly sent: JsonObject | null
  readonly columns: ReadonlyMap<string, AttributeColumn>
  /** Attributes of the stored instance with the key of the row; null if it is not stored. */
  readonly stored: JsonObject | null
}

export class PlanValues implements QuestionValues {
  readonly #others: QuestionValues
  readonly #row: RowSources
  readonly #known = new Map<string, readonly ValueInState[]>()
  /** Columns by the symbols that represent them in the merged objects. Symbols are never merged. */
  readonly #columns = new Map<unknown, Column>()
  readonly #present: readonly JsonObject[]

  /** `others` supplies all values that do not depend on the row. */
  constructor(others: QuestionValues, row: RowSources) {
    this.#others = others
    this.#row = row
    const columns = [...row.columns].map(([name, { column }]) => [name, this.#symbolOf(column)])
    this.#present = this.#layers({ ...row.sent, ...Object.fromEntries(columns) })
  }

  /** Returns the value of a path in each state of the columns on which it depends. */
  statesOf(path: Path): readonly ValueInState[] {
    if (path.root !== 'resource') return [{ state: true, value: this.#others.valueOf(path) }]
    let states = this.#known.get(path.text)
    if (states === undefined) this.#known.set(path.text, (states = this.#statesOf(path.names)))
    return states
  }

  /** Returns the value of a path that reads no column. */
  valueOf(path: Path): unknown {
    return path.root === 'resource' ? this.statesOf(path)[0]!.value : this.#others.valueOf(path)
  }

  attributesOf(type: string, key: string, budget: EvaluationBudget): JsonObject | undefined {
    return this.#others.attributesOf(type, key, budget)
  }

  /** Returns whether a path can have a column as its value. */
  readsColumn(path: Path): boolean {
    if (path.root !== 'resource') return false
    const states = this.statesOf(path)
    return states.length > 1 || states[0]!.value instanceof Column
  }

  #statesOf(names: readonly string[]): readonly ValueInState[] {
    const name = names[0]!
    const present = this.#at(this.#present, names)
    const declared = isComputed(names) ? undefined : this.#row.columns.get(name)
    if (declared === undefined || !declared.column.isNullable) return [{ state: true, value: present }]
    const { column, nulls } = declared
    const sent = { ...this.#row.sent, ...(nulls === 'sent' && { [name]: null }) }
    const absent = this.#at(this.#layers(sent), names)
    if (absent === present) return [{ state: true, value: present }]
    return [
      { state: exists(column, true), value: present },
      { state: exists(column, false), value: absent },
    ]
  }

  #at(layers: readonly JsonObject[], names: readonly string[]): unknown {
    const value = mergedValueAt(layers, names)
    return typeof value === 'symbol' ? this.#columns.get(value) : value
  }

  #layers(sent: JsonObject): JsonObject[] {
    const { type, tenant, stored } = this.#row
    const key = this.#symbolOf(KEY_COLUMN)
    return [{ type, tenant, key }, sent, ...(stored === null ? [] : [stored]), { id: key }]
  }

  #symbolOf(column: Column): symbol {
    const symbol = Symbol(column.field)
    this.#columns.set(symbol, column)
    return symbol
  }
}

const COMPUTED_NAMES: ReadonlySet<string> = new Set(['type', 'tenant', 'key'])

/** Returns whether the service computes the value of a path of the resource. */
export function isComputed(names: readonly string[]): boolean {
  return names.length === 1 && COMPUTED_NAMES.has(names[0]!)
}

/**
 * Returns whether the value of a path of the resource can depend on the attributes of the stored instance.
 */
export function readsStored(
  { names }: Path,
  { sent, columns }: Pick<RowSources, 'sent' | 'columns'>,
): boolean {
  if (isComputed(names)) return false
  const whole = sent === null ? undefined : memberOf(sent, names.join('.'))
  if (whole !== undefined && !isObject(whole)) return false
  if (names.length > 1) return true
  const declared = columns.get(names[0]!)
  return declared === undefined || declared.nulls === 'missing'
}
