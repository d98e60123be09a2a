/**
 * Which lists of owners searches can use, by the rules that there are: of each attribute that a test of equality or membership reads, in
 * a set that a rule names; and all instances of a type with rules, and all users, for what only a scan finds.
 */
import type { Condition } from '#conditions/condition.ts'
import type { Operand } from '#conditions/operands.ts'
import type { AttributePath } from '#conditions/paths.ts'
import { isRefused, readCondition } from '#conditions/read-condition.ts'
import type { SavedRules } from '#engine/shared-index/rules/rule-book.ts'
import type { ConditionSetPut } from '#model/change.ts'
import { ALL, BY_TENANT, LISTS_MAX, listOfAttribute } from './list-directory.ts'

/** A list by its name; `type` null: of users. */
export interface WantedList {
  readonly type: string | null
  readonly name: string
}

/** Attributes that tests of a set can be looked up by. */
interface Attributes {
  readonly ofUser: readonly string[]
  readonly ofResource: readonly string[]
}

/** Sets, rules and attributes that are looked at between two steps; a set that is read for the first time is a step of its own. */
const LOOKED_A_STEP = 512

/** No list has what the service says itself. */
const COMPUTED = new Set([
  'user.key',
  'user.roles',
  'user.tenants',
  'resource.key',
  'resource.id',
  'resource.type',
  'resource.tenant',
])
/** What sets say is read once. */
const known = new WeakMap<ConditionSetPut, Attributes>()

/** At most `LISTS_MAX`, those for scans first. O(sets and rules, and attributes of sets by type), in steps. */
export function* wantedLists({ sets, rules }: SavedRules): Generator<void, readonly WantedList[]> {
  if (rules.length === 0) return []
  const byKey = new Map<string, ConditionSetPut>()
  let looked = 0
  for (const set of sets) {
    byKey.set(set.set, set)
    const isKnown = known.has(set)
    attributesIn(set)
    if (isKnown && ++looked % LOOKED_A_STEP !== 0) continue
    yield
  }
  const scans = new Map<string, WantedList>()
  const attributes = new Map<string, WantedList>()
  const want = (into: Map<string, WantedList>, type: string | null, name: string) => {
    if (into.size < LISTS_MAX) into.set(JSON.stringify([type, name]), { type, name })
  }
  /** By type: sets that were looked at, with all above them. */
  const seen = new Map<string, Set<string>>()
  want(scans, null, ALL)
  looked = 0
  for (const { type, userSet, resourceSet } of rules) {
    want(scans, type, ALL)
    want(scans, type, BY_TENANT)
    const ofType = seen.get(type) ?? new Set()
    seen.set(type, ofType)
    for (const side of [userSet, resourceSet]) {
      for (
        let set = byKey.get(side);
        set !== undefined && !ofType.has(set.set);
        set = byKey.get(set.parent ?? '')
      ) {
        ofType.add(set.set)
        const { ofUser, ofResource } = attributesIn(set)
        for (const name of ofUser) want(attributes, null, listOfAttribute(name))
        for (const name of ofResource) want(attributes, type, listOfAttribute(name))
        looked += ofUser.length + ofResource.length
        if (looked < LOOKED_A_STEP) continue
        looked = 0
        yield
      }
    }
    looked += 1
    if (looked < LOOKED_A_STEP) continue
    looked = 0
    yield
  }
  return [...scans.values(), ...attributes.values()].slice(0, LISTS_MAX)
}

function attributesIn(put: ConditionSetPut): Attributes {
  let attributes = known.get(put)
  if (attributes === undefined) {
    const condition = readCondition(put.conditions, [])
    const ofUser = new Set<string>()
    const ofResource = new Set<string>()
    const note = (path: AttributePath): void => {
      if (path.names.length > 1 || COMPUTED.has(`${path.root}.${path.names[0]}`)) return
      if (path.root === 'user') ofUser.add(path.names[0]!)
      if (path.root === 'resource') ofResource.add(path.names[0]!)
    }
    if (!isRefused(condition)) noteIn(condition, note)
    attributes = { ofUser: [...ofUser], ofResource: [...ofResource] }
    known.set(put, attributes)
  }
  return attributes
}

function noteIn(condition: Condition, note: (path: AttributePath) => void): void {
  switch (condition.kind) {
    case 'all-of':
    case 'any-of':
      for (const item of condition.items) noteIn(item, note)
      return
    case 'equality':
      if (!condition.isNegated) noteTest(condition, note)
      return
    case 'membership':
    case 'array-contains':
      return noteTest(condition, note)
    default:
  }
}

function noteTest(
  { path, operand }: { readonly path: AttributePath; readonly operand: Operand },
  note: (path: AttributePath) => void,
): void {
  note(path)
  if (operand.kind === 'ref') note(operand.path)
}
