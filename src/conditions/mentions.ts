/** Finds the attributes that a condition reads. */
import type { Condition, Test } from './condition.ts'
import type { Literal, Operand, Reference } from '#conditions/values/operands.ts'
import type { AttributePath, Root } from '#conditions/values/paths.ts'

/**
 * Returns whether the condition can read this attribute of this root. If an attribute name contains dots,
 * only its first part is compared. O(tests).
 */
export function mentions(condition: Condition, root: Root, name: string): boolean {
  return reads(condition, path => path.root === root && path.names[0] === name)
}

/** Returns whether the condition can read any attribute of a root. O(tests). */
export function mentionsRoot(condition: Condition, root: Root): boolean {
  return reads(condition, path => path.root === root)
}

function reads(condition: Condition, isIt: (path: AttributePath) => boolean): boolean {
  switch (condition.kind) {
    case 'all-of':
    case 'any-of':
      return condition.items.some(item => reads(item, isIt))
    case 'not':
      return reads(condition.item, isIt)
    default: {
      if (isIt(condition.path)) return true
      if (condition.kind === 'member-match') return reads(condition.item, isIt)
      return refsOf(condition).some(({ path }) => isIt(path))
    }
  }
}

function refsOf(test: Exclude<Test, { kind: 'member-match' }>): readonly Reference[] {
  switch (test.kind) {
    case 'existence':
    case 'glob-match':
      return []
    case 'between':
      return [test.low, test.high].filter(isReference)
    default:
      return refsIn(test.operand)
  }
}

function refsIn(operand: Operand): readonly Reference[] {
  if (operand.kind === 'list') return operand.items.filter(isReference)
  return operand.kind === 'ref' ? [operand] : []
}

function isReference(item: Literal | Reference): item is Reference {
  return item.kind === 'ref'
}
