/** Whether a rule asks about tenants at all (conditions, section 6, row "Tenants", and section 16, row 16). */
import type { Condition } from '#conditions/condition.ts'
import { mentions, mentionsRoot } from '#conditions/mentions.ts'
import { isRefused, readCondition } from '#conditions/read-condition.ts'
import type { RecordReader } from '#management/commands/record-reader.ts'
import { ancestorsOf } from '#management/schema/condition-sets/set-family.ts'
import type { ConditionSetRecord } from '#model/records.ts'
import type { RuleParts } from './rule-sides.ts'

const ONLY_WITH_A_ROLE =
  'to keep it to those where the user has a role, add {"user.tenants": {"array_contains": {"ref": "tenant.key"}}} to the user set'

export const IN_EVERY_TENANT = `neither set asks about tenants, so the rule holds in every tenant; ${ONLY_WITH_A_ROLE}`

/** The same of a user set, of which no rule is known. */
export const FOR_EVERY_TENANT =
  'the set does not ask about tenants, so a rule on it holds in every tenant, unless its resource set asks; ' +
  ONLY_WITH_A_ROLE

/**
 * Whether a rule matches users in tenants in which they have no role: neither of its sides is a role or a resource, and nothing that
 * its sets and those above them say is about tenants. O(size of the conditions).
 */
export function holdsInEveryTenant(records: RecordReader, { userSide, resourceSide }: RuleParts): boolean {
  if (userSide.kind === 'role') return false
  const sets = resourceSide.kind === 'type' ? [userSide] : [userSide, resourceSide]
  return !sets.some(set => [set, ...ancestorsOf(records, set)].some(asksAboutTenants))
}

function asksAboutTenants({ conditions }: ConditionSetRecord): boolean {
  const read = readCondition(conditions, [])
  return !isRefused(read) && isAboutTenants(read)
}

/** Whether a condition asks for the tenants or roles of the user, or for the tenant. */
export function isAboutTenants(condition: Condition): boolean {
  return (
    mentions(condition, 'user', 'tenants') ||
    mentions(condition, 'user', 'roles') ||
    mentionsRoot(condition, 'tenant')
  )
}
