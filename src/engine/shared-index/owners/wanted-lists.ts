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

/** Sets and rules between two steps. */
const SETS_A_STEP = 16
const RULES_A_STEP = 512

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

/** At most `LISTS_MAX`, those for scans first. O(sets and rules), in steps. */
export function* wantedLists({ sets, rules }: SavedRules): Generator<void, readonly WantedList[]> {
  if (rules.length === 0) return []
  const byKey = new Map<string, ConditionSetPut>()
  for (const [index, set] of sets.entries()) {
    byKey.set(set.set, set)
    attributesIn(set)
    if (index % SETS_A_STEP === 0) yield
  }
  const scans = new Map<string, WantedList>()
  const attributes = new Map<string, WantedList>()
  const want = (into: Map<string, WantedList>, type: string | null, name: string) =>
    into.set(JSON.stringify([type, name]), { type, name })
  want(scans, null, ALL)
  for (const [index, { type, userSet, resourceSet }] of rules.entries()) {
    want(scans, type, ALL)
    want(scans, type, BY_TENANT)
    for (const side of [userSet, resourceSet]) {
      for (let set = byKey.get(side); set !== undefined; set = byKey.get(set.parent ?? '')) {
        const { ofUser, ofResource } = attributesIn(set)
        for (const name of ofUser) want(attributes, null, listOfAttribute(name))
        for (const name of ofResource) want(attributes, type, listOfAttribute(name))
      }
    }
    if (index % RULES_A_STEP === 0) yield
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
