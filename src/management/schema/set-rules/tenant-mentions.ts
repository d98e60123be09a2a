/** Whether a rule asks about tenants at all (conditions.md 6; conditions.md 16, ruling 16). */
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

/** Reads what each set asks about once, for rules that share sets. */
export class TenantMentions {
  readonly #records: RecordReader
  /** By id of a set: whether it, or a set above it, asks about tenants. */
  readonly #asking = new Map<string, boolean>()

  constructor(records: RecordReader) {
    this.#records = records
  }

  /**
   * Whether a rule matches users in tenants in which they have no role: neither of its sides is a role, and no set of it, nor a set above
   * these, asks about tenants. O(size of the conditions), once for each set.
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

/** Whether a condition asks for the tenants or roles of the user, or for the tenant. */
export function isAboutTenants(condition: Condition): boolean {
  return (
    mentions(condition, 'user', 'tenants') ||
    mentions(condition, 'user', 'roles') ||
    mentionsRoot(condition, 'tenant')
  )
}
