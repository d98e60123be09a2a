/** Checks the condition sets and rules of a model file: their names, and whether the conditions are valid. */
import { type DeclaredType, findMisfits } from '#conditions/declared-types.ts'
import { operatorNames } from '#conditions/operators.ts'
import { isRefused, readCondition } from '#conditions/read-condition.ts'
import { suggestion } from './findings.ts'
import type { KnownSet } from './known-names.ts'
import { LocatedValue } from './located-value.ts'
import type { ErrorDetail } from '#model/errors.ts'
import type { NameCheck } from './name-check.ts'

export function checkConditionSets(sets: LocatedValue, check: NameCheck): void {
  const { conditionSets, types } = check.known
  for (const [key, set] of sets.entries()) {
    const type = set.at('type').text ?? 'userset'
    const [parent, resource] = [set.at('parent'), set.at('resource')]
    if (resource.text !== null) {
      if (!types.has(resource.text)) check.unknown(resource, 'resource', resource.text, types.keys())
      else if (type === 'userset') check.find(resource, 'a user set is not limited to a resource')
    }
    if (parent.text !== null) {
      const above = conditionSets.get(parent.text)
      if (!above) check.unknown(parent, 'condition set', parent.text, conditionSets.keys())
      else if (above.type !== type) check.find(parent, `a ${type} cannot have a ${above.type} as its parent`)
      else if (isAboveItself(key, conditionSets)) check.find(parent, `${key} is among its own parents`)
    }
    checkConditions(set.at('conditions'), limitOf(key, conditionSets), check)
  }
}

export function checkRules(rules: LocatedValue, check: NameCheck): void {
  for (const rule of rules.items()) {
    const [users, resources] = [rule.at('user_set'), rule.at('resource_set')]
    check.permission(rule.at('permission'))
    checkSide(users, 'userset', 'user set or tenant role', check.known.tenantRoles.all, check)
    checkSide(resources, 'resourceset', 'resource set or resource', check.known.types.keys(), check)
  }
}

/** `others`: names that are also valid on this side although they are not names of sets. */
function checkSide(
  side: LocatedValue,
  type: 'userset' | 'resourceset',
  what: string,
  others: Iterable<string>,
  check: NameCheck,
): void {
  const { known } = check
  const { text } = side
  if (text === null || known.hasSide(type, text)) return
  const set = known.conditionSets.get(text)
  if (set) {
    check.find(side, `${JSON.stringify(text)} is a ${set.type}, expected a ${type}`)
    return
  }
  const sets = [...known.conditionSets].flatMap(([key, each]) => (each.type === type ? [key] : []))
  check.unknown(side, what, text, [...sets, ...others])
}

function isAboveItself(key: string, sets: ReadonlyMap<string, KnownSet>): boolean {
  const seen = new Set<string>()
  for (let at = sets.get(key)?.parent ?? null; at !== null; at = sets.get(at)?.parent ?? null) {
    if (at === key) return true
    if (seen.has(at)) return false
    seen.add(at)
  }
  return false
}

/**
 * Returns the resource to which a set is limited. It is specified in the set itself or in one of its
 * ancestors.
 */
function limitOf(key: string, sets: ReadonlyMap<string, KnownSet>): string | null {
  const seen = new Set<string>()
  for (let at: string | null = key; at !== null && !seen.has(at);) {
    const set = sets.get(at)
    if (set?.resource) return set.resource
    seen.add(at)
    at = set?.parent ?? null
  }
  return null
}

/**
 * Reports conditions that are not valid. If all are valid, reports conditions that can never be true with the
 * declared attributes.
 */
function checkConditions(conditions: LocatedValue, resource: string | null, check: NameCheck): void {
  if (!conditions.isMap) return
  const { known } = check
  const read = readCondition(conditions.value, [...conditions.location])
  if (isRefused(read)) {
    for (const finding of read.findings) report(finding, check)
    return
  }
  const carriers = {
    user: known.userAttributes,
    tenant: known.tenantAttributes,
    resource: resource === null ? undefined : known.types.get(resource)?.attributes,
  }
  const declared = (root: string, name: string) =>
    root in carriers ? carriers[root as keyof typeof carriers]?.get(name) : undefined
  const misfits = findMisfits(
    read,
    ({ root, names }) => (declared(root, names[0]!) || null) as DeclaredType | null,
  )
  for (const finding of misfits) report(finding, check)
}

function report({ loc, msg }: ErrorDetail, check: NameCheck): void {
  const unknown = /^there is no operator "(.*)"$/.exec(msg)?.[1]
  check.findKey(
    new LocatedValue(undefined, loc),
    `${msg}${unknown === undefined ? '' : suggestion(unknown, operatorNames())}`,
  )
}
