/**
 * Determines whether the conditions of a rule refer to tenants (conditions.md 6; conditions.md 16, ruling
 * 16).
 */
import type { Condition } from '#conditions/condition.ts'
import { mentions, mentionsRoot } from '#conditions/mentions.ts'
import { isRefused, readCondition } from '#conditions/read-condition.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import { ancestorsOf } from './set-family.ts'
import type { ConditionSetRecord } from '#entities/records.ts'
import type { RuleParts } from './rule-sides.ts'

const ONLY_WITH_A_ROLE =
  'to limit it to tenants where the user has a role, add {"user.tenants": {"array_contains": {"ref": "tenant.key"}}} to the user set'

export const IN_EVERY_TENANT = `neither set has a condition on tenants, so the rule applies in every tenant; ${ONLY_WITH_A_ROLE}`

/** Warning for a user set on its own, before it is used in a rule. */
export const FOR_EVERY_TENANT =
  'the set has no condition on tenants, so a rule on it applies in every tenant, unless its resource set has one; ' +
  ONLY_WITH_A_ROLE

/** Examines the conditions of each set once, for rules that share sets. */
export class TenantMentions {
  readonly #records: RecordReader
  /** Whether the set with that id, or one of its ancestors, refers to tenants. */
  readonly #asking = new Map<string, boolean>()

  constructor(records: RecordReader) {
    this.#records = records
  }

  /**
   * Whether a rule matches users in tenants in which they have no role: neither side is a role, and neither
   * its sets nor their ancestors refer to tenants. O(size of the conditions), once for each set.
   */
  holdsInEveryTenant({ userSide, resourceSide }: RuleParts): boolean {
    if (userSide.kind === 'role' || this.#asks(userSide)) return false
    return resourceSide.kind === 'type' || !this.#asks(resourceSide)
  }

  #asks(set: ConditionSetRecord): boolean {
    let asks = this.#asking.get(set.id)
    if (asks === undefined) {
      asks = [set, ...ancestorsOf(this.#records, set)].some(asksAboutTenants)
      this.#asking.set(set.id, asks)
    }
    return asks
  }
}

function asksAboutTenants({ conditions }: ConditionSetRecord): boolean {
  const read = readCondition(conditions, [])
  return !isRefused(read) && isAboutTenants(read)
}

/** Whether a condition refers to the tenants or roles of the user, or to the tenant. */
export function isAboutTenants(condition: Condition): boolean {
  return (
    mentions(condition, 'user', 'tenants') ||
    mentions(condition, 'user', 'roles') ||
    mentionsRoot(condition, 'tenant')
  )
}
