/** What a condition set depends on: the user, the resource, the tenant. What does not depend on what is searched for is worked out once. */
import type { Condition } from '#conditions/condition.ts'
import { mentions, mentionsRoot } from '#conditions/mentions.ts'
import { LEAF, ROLE_SIDE, UNREADABLE } from '#engine/shared-index/rules/rule-code.ts'
import type { PathView, RulesView } from '#engine/shared-index/rules/rules-view.ts'

export const USER = 1
export const RESOURCE = 2
export const TENANT = 4

/** By set, as far as somebody has asked; -1 where nobody has. */
const known = new WeakMap<RulesView, Int8Array>()

/** Of a side of a rule, with the sets above it. O(its conditions), once. */
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
      // Attributes of a tenant are told those who have a role in it.
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

/** Where the code behind a node begins. */
export function codeBehind(program: Int32Array, at: number): number {
  const word = program[at]!
  return word >= 0 || word === UNREADABLE ? at + 1 : at + program[at + 1]!
}

/** Leaves that read another path, and where it stands. */
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
