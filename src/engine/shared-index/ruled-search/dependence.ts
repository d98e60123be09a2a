/**
 * Determines whether a condition set depends on the user, the resource or the tenant. If a set does not
 * depend on the searched entity, a search evaluates it only once.
 */
import type { Condition } from '#conditions/condition.ts'
import { mentions, mentionsRoot } from '#conditions/mentions.ts'
import { LEAF, ROLE_SIDE, UNREADABLE } from '#engine/shared-index/rules/rule-code.ts'
import type { PathView, RulesView } from '#engine/shared-index/rules/rules-view.ts'

export const USER = 1
export const RESOURCE = 2
export const TENANT = 4

/** Dependence of each set; -1 if it has not been computed yet. */
const known = new WeakMap<RulesView, Int8Array>()

/**
 * Returns what a side of a rule depends on, including the ancestors of its set. O(conditions of the side);
 * cached.
 */
export function dependenceOfSide(view: RulesView, side: number): number {
  if (side <= ROLE_SIDE) return USER | TENANT
  let all = 0
  for (let set = side; set >= 0; set = view.setParent[set]!) all |= dependenceOfSet(view, set)
  return all
}

export function dependenceOfPath({ root, names, text }: PathView): number {
  switch (root) {
    case 'user':
      return names[0] === 'roles' ? USER | TENANT : USER
    case 'resource':
      if (text === 'resource.type') return 0
      return text === 'resource.tenant' ? TENANT : RESOURCE
    case 'tenant':
      // Attributes of a tenant are visible only to users with a role in it.
      return text === 'tenant.key' ? TENANT : TENANT | USER
    default:
      return 0
  }
}

function dependenceOfSet(view: RulesView, set: number): number {
  let sets = known.get(view)
  if (sets === undefined) known.set(view, (sets = new Int8Array(view.setFrom.length).fill(-1)))
  if (sets[set] === -1) sets[set] = dependenceOfCode(view, view.setFrom[set]!)
  return sets[set]!
}

function dependenceOfCode(view: RulesView, at: number): number {
  const { program } = view
  const word = program[at]!
  if (word >= 0) return dependenceOfLeaf(view, word)
  if (word === UNREADABLE) return 0
  const end = at + program[at + 1]!
  let all = 0
  for (let item = at + 2; item < end; item = codeBehind(program, item)) all |= dependenceOfCode(view, item)
  return all
}

/** Returns the position in the code after the node at `at`. */
export function codeBehind(program: Int32Array, at: number): number {
  const word = program[at]!
  return word >= 0 || word === UNREADABLE ? at + 1 : at + program[at + 1]!
}

/** For each kind of test that reads another path: the position of that path in the code of the test. */
const OTHER_PATH: Readonly<Record<number, number>> = {
  [LEAF.equalsRef]: 3,
  [LEAF.orderedRef]: 3,
  [LEAF.isInRef]: 2,
  [LEAF.hasElementRef]: 2,
}

function dependenceOfLeaf(view: RulesView, leaf: number): number {
  const { program } = view
  const at = view.leafFrom[leaf]!
  const kind = program[at]!
  if (kind === LEAF.tree) return dependenceOfTree(view.tree(leaf, at + 2))
  const own = dependenceOfPath(view.path(program[at + 1]!))
  const other = OTHER_PATH[kind]
  return other === undefined ? own : own | dependenceOfPath(view.path(program[at + other]!))
}

function dependenceOfTree(condition: Condition): number {
  let all = 0
  if (mentionsRoot(condition, 'user')) all |= USER
  if (mentions(condition, 'user', 'roles')) all |= TENANT
  if (mentionsRoot(condition, 'resource')) all |= RESOURCE | TENANT
  if (mentionsRoot(condition, 'tenant')) all |= USER | TENANT
  return all
}
