/**
 * Finds tests that can never be true for an attribute of its declared type (conditions.md 3.4). Declarations
 * are only used to find such mistakes when a condition is written. Evaluation uses the values and ignores
 * declarations.
 */
import type { ErrorDetail } from '#model/errors.ts'
import type { Condition, Test } from './condition.ts'
import { Findings } from '#conditions/values/findings.ts'
import type { Path } from '#conditions/values/paths.ts'

export type DeclaredType =
  | 'bool'
  | 'number'
  | 'string'
  | 'time'
  | 'array'
  | 'json'
  | 'object'
  | 'object_array'

/** Returns the declared type of the attribute at a path, or `null` if it is not declared. */
export type Declarations = (path: Path) => DeclaredType | null

const SCALARS: ReadonlySet<DeclaredType> = new Set(['bool', 'number', 'string', 'time'])
const TEXTS: ReadonlySet<DeclaredType> = new Set(['string', 'time', 'json'])
const ORDERED: ReadonlySet<DeclaredType> = new Set(['number', 'string', 'time'])
const ARRAYS: ReadonlySet<DeclaredType> = new Set(['array', 'object_array', 'json'])
const OBJECTS: ReadonlySet<DeclaredType> = new Set(['object', 'json'])

/** Returns an error for each test that does not fit the declared type of its attribute. O(tests). */
export function findMisfits(condition: Condition, declarations: Declarations): readonly ErrorDetail[] {
  const findings = new Findings()
  visit(condition, test => {
    // Only attributes are declared. Members of an attribute are not, including those that a match tests.
    if (test.path.root === 'member' || test.path.names.length > 1) return
    const type = declarations(test.path)
    if (type === null || fits(test, type)) return
    findings.add(test.at, `${test.operator} never matches ${test.path.text}, which is declared as ${type}`)
  })
  return findings.details
}

function visit(condition: Condition, take: (test: Test) => void): void {
  switch (condition.kind) {
    case 'all-of':
    case 'any-of':
      for (const item of condition.items) visit(item, take)
      return
    case 'not':
      return visit(condition.item, take)
    default:
      return take(condition)
  }
}

function fits(test: Test, type: DeclaredType): boolean {
  switch (test.kind) {
    case 'existence':
    case 'membership':
      return true
    case 'equality': {
      const { operand } = test
      const isList = operand.kind === 'list' || (operand.kind === 'literal' && Array.isArray(operand.value))
      return !(isList && SCALARS.has(type))
    }
    case 'ordering':
    case 'between':
      return ORDERED.has(type)
    case 'contains':
    case 'glob-match':
      return TEXTS.has(type)
    case 'array-contains':
    case 'array-comparison':
    case 'array-length':
      return ARRAYS.has(type)
    case 'member-match':
      return fitsMatch(test.quantity, test.instanceType !== null, type)
  }
}

/** A lookup needs keys of instances, and keys are strings. */
function fitsMatch(quantity: 'one' | 'any' | 'all', isLookup: boolean, type: DeclaredType): boolean {
  if (quantity !== 'one') return ARRAYS.has(type)
  return isLookup ? TEXTS.has(type) : OBJECTS.has(type)
}
