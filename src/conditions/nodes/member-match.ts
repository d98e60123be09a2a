/**
 * `object_match`, `any_match`, `all_match`: test the members of an object, or of the objects in an array
 * (conditions.md 5.7). With `instanceType`, the attribute contains keys of instances of that type, and the
 * stored attributes of these instances are tested.
 */
import type { Leaf, UnreadLeaf } from './leaf.ts'
import { memberOf } from '#conditions/values/values.ts'
import { isObject } from '#model/json-object.ts'

export type Quantity = 'one' | 'any' | 'all'

export interface MemberMatch<Item> extends Leaf {
  readonly kind: 'member-match'
  readonly quantity: Quantity
  /** Condition that is evaluated for a member. Paths in it begin at the member. */
  readonly item: Item
  readonly instanceType: string | null
}

/** An operand that has the correct shape, but whose tests have not been parsed yet. */
export interface UnreadMatch {
  readonly match: Readonly<Record<string, unknown>>
  readonly instanceType: string | null
}

export function readMatchOperand(test: UnreadLeaf): UnreadMatch | null {
  const { operand, at, findings } = test
  const match = isObject(operand) ? memberOf(operand, 'match') : undefined
  if (!isObject(operand) || !isObject(match)) return test.wrong('{"match": {name: test, …}}')
  const unknownName = Object.keys(operand).find(name => name !== 'match' && name !== 'fk_resource_type')
  if (unknownName !== undefined) {
    return findings.add([...at, unknownName], 'expected match and fk_resource_type, and nothing else')
  }
  const instanceType = memberOf(operand, 'fk_resource_type') ?? null
  if (instanceType !== null && typeof instanceType !== 'string') {
    return findings.add([...at, 'fk_resource_type'], 'expected the key of a resource')
  }
  return { match, instanceType }
}

export function memberMatch<Item>(
  leaf: Leaf,
  quantity: Quantity,
  { instanceType }: UnreadMatch,
  item: Item,
): MemberMatch<Item> {
  return Object.freeze({ kind: 'member-match', ...leaf, quantity, item, instanceType })
}
