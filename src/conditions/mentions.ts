/** Finds the attributes that a condition reads. */
import type { Condition, Test } from './condition.ts'
import type { Literal, Operand, Reference } from '#conditions/values/operands.ts'
import type { AttributePath, Path, Root } from '#conditions/values/paths.ts'

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

/**
 * Returns the paths that the operands of a test read, including those within a match. O(tests of the match).
 */
export function refsOfTest(test: Test): readonly Path[] {
  if (test.kind !== 'member-match') return refsOf(test).map(({ path }) => path)
  const paths: Path[] = []
  reads(test.item, path => {
    if (path.root !== 'member') paths.push(path)
    return false
  })
  return paths
}

/** Returns all paths that a condition reads, except paths of members. O(tests). */
export function pathsOf(condition: Condition): readonly Path[] {
  const paths: Path[] = []
  reads(condition, path => {
    if (path.root !== 'member') paths.push(path)
    return false
  })
  return paths
}

/** Returns whether the condition looks up stored instances. O(tests). */
export function hasLookup(condition: Condition): boolean {
  switch (condition.kind) {
    case 'all-of':
    case 'any-of':
      return condition.items.some(hasLookup)
    case 'not':
      return hasLookup(condition.item)
    case 'member-match':
      return condition.instanceType !== null || hasLookup(condition.item)
    default:
      return false
  }
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
