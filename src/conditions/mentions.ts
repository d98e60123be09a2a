/** What a condition reads. */
import type { Condition, Test } from './condition.ts'
import type { Literal, Operand, Reference } from './operands.ts'
import type { AttributePath, Root } from './paths.ts'

/**
 * Whether the condition may read an attribute of a root, or (`null`) any of it; of one whose own name has dots the first part counts.
 * O(tests).
 */
export function mentions(condition: Condition, root: Root, name: string | null): boolean {
  switch (condition.kind) {
    case 'all-of':
    case 'any-of':
      return condition.items.some(item => mentions(item, root, name))
    case 'not':
      return mentions(condition.item, root, name)
    default: {
      const isIt = (path: AttributePath): boolean =>
        path.root === root && (name === null || path.names[0] === name)
      if (isIt(condition.path)) return true
      if (condition.kind === 'member-match') return mentions(condition.item, root, name)
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
