/**
 * Parses the right side of a test: a literal value, `{"ref": path}`, or a list that can contain references.
 * Only direct elements of a list can be references; an object `{"ref": …}` that is nested deeper is a literal
 * value.
 */
import type { Findings, ErrorLocation } from './findings.ts'
import { type Path, readPath } from './paths.ts'
import { isObject } from '#model/json-object.ts'

export interface Literal {
  readonly kind: 'literal'
  readonly value: unknown
}

export interface Reference {
  readonly kind: 'ref'
  readonly path: Path
}

export interface ListWithReferences {
  readonly kind: 'list'
  readonly items: readonly (Literal | Reference)[]
}

export type Operand = Literal | Reference | ListWithReferences
/**
 * An operand that is a list, or a reference that leads to a list. If it is a literal, its value is an array.
 */
export type ListOperand = Operand

/** Parses an operand. If it is not valid, reports an error and returns `null`. */
export function readOperand(raw: unknown, at: ErrorLocation, findings: Findings): Operand | null {
  if (!Array.isArray(raw)) return readItem(raw, at, findings)
  const items = raw.map((item, index) => readItem(item, [...at, index], findings))
  if (!items.every(item => item !== null)) return null
  if (items.every(item => item.kind === 'literal')) return literal(raw)
  return Object.freeze({ kind: 'list', items })
}

/** Parses the operand of an operator whose name ends with `-ref`. Such an operand is a path. */
export function readReference(raw: unknown, at: ErrorLocation, findings: Findings): Reference | null {
  if (typeof raw !== 'string')
    return findings.add(at, `expected the path of an attribute, got ${kindName(raw)}`)
  const path = readPath(raw)
  return typeof path === 'string' ? findings.add(at, path) : Object.freeze({ kind: 'ref', path })
}

export function literal(value: unknown): Literal {
  return Object.freeze({ kind: 'literal', value })
}

/** Returns the elements of a list. A reference has no elements, because its value is not known yet. */
export function itemsOf(operand: ListOperand): readonly (Literal | Reference)[] {
  if (operand.kind === 'list') return operand.items
  return operand.kind === 'literal' && Array.isArray(operand.value) ? operand.value.map(literal) : []
}

function readItem(raw: unknown, at: ErrorLocation, findings: Findings): Literal | Reference | null {
  if (!isObject(raw) || Object.keys(raw).length !== 1 || !Object.hasOwn(raw, 'ref')) return literal(raw)
  return readReference(raw['ref'], [...at, 'ref'], findings)
}

/** Returns the name of the JSON type of a value, for messages. */
export function kindName(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'bigint') return 'a number'
  const type = typeof value
  return type === 'object' ? 'an object' : `a ${type === 'boolean' ? 'bool' : type}`
}
