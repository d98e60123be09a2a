/**
 * Prepares the decision by rules for queries that roles deny (conditions.md 6). Copies the stored values that
 * the conditions need, from the same state of the index on which roles denied. The conditions are evaluated
 * afterwards on the copies. Therefore a long evaluation neither needs an unchanged index nor blocks writers.
 */
import { PARSED_BYTE_STEPS } from '#conditions/values/step-costs.ts'
import { copyBlock } from '#engine/shared-index/memory/attribute-rows.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import {
  attributesBlock,
  attributesBytes,
  attributesText,
  isDead,
  keyText,
} from '#engine/shared-index/memory/records.ts'
import { ValueWords } from '#engine/shared-index/memory/values.ts'
import {
  FLAG_READS_ROLES,
  FLAG_READS_TENANTS,
  FLAG_ROLE_SIDES,
} from '#engine/shared-index/rules/rule-code.ts'
import type { PlanView } from '#engine/shared-index/rules/rules-view.ts'
import { bankOf, tenantAt } from '#engine/shared-index/schema/tenant-role-overflow.ts'
import { heldInTenant, tenantMasksOf } from '#engine/shared-index/search/explain.ts'
import { assignmentsOf } from '#engine/shared-index/search/holdings.ts'
import type { ListingParts } from '#engine/shared-index/search/listings.ts'
import { compareUtf8 } from '#model/text/utf8-order.ts'
import { type Lookup, nameOf } from './merged-values.ts'
import { AskedRules, type QuestionSource } from './rule-values.ts'

/**
 * Lines of the instance and the tenant that a query names. The line of an unknown instance is 0; the tenant
 * is always known.
 */
export interface NamedLines {
  readonly instance: number
  readonly tenant: number
}

/** Number of words of scratch memory that are kept for later queries. Memory beyond this size is released. */
const WORDS_KEPT_MAX = 1 << 20

/**
 * Collects values for several queries on one state. Values that most of these queries share, such as those of
 * a user or tenant, are copied once.
 */
export class Gathering {
  #words = new ValueWords()
  readonly #asked: AskedRules[] = []
  #count = 0
  #user = -1
  #userBlock = 0
  #tenant = -1
  #tenantBlock = 0
  /** Roles and tenants of the last user. They are read once for several queries about this user. */
  #held = NOTHING_HELD
  /** The tenant whose key is cached, the key, and the sequence of the state on which the key was read. */
  #tenantNamed = -1
  #tenantKey = ''
  #sequence = -1

  /** Starts a new collection on the state with this sequence. Discards all values collected before. */
  begin(sequence: number): void {
    // A position of 0 means that a value is absent, so the first word is not used.
    this.#words.length = 1
    this.#count = 0
    this.#user = this.#tenant = -1
    this.#held = NOTHING_HELD
    if (sequence !== this.#sequence) this.#tenantNamed = -1
    this.#sequence = sequence
  }

  /**
   * Releases the collected queries and large scratch memory. A query can keep megabytes of a request body in
   * memory.
   */
  end(): void {
    for (let index = 0; index < this.#count; index++) this.#asked[index]!.end()
    this.#count = 0
    if (this.#words.words.length <= WORDS_KEPT_MAX) return
    this.#words = new ValueWords()
    this.#asked.length = 0
  }

  /**
   * Adds a query. `gather` reads its values later. The returned object is reused after the next call of
   * `begin`.
   */
  next(plan: PlanView, source: QuestionSource, index: number): AskedRules {
    const asked = (this.#asked[this.#count] ??= new AskedRules(plan, source, this.#words))
    this.#count += 1
    asked.begin(plan, source, index)
    return asked
  }

  /**
   * Copies the values that the query needs. Reads without the lock: the values are valid only after
   * validation. O(roles of tenants + words of attributes).
   */
  gather(asked: AskedRules, parts: ListingParts, user: number, { instance, tenant }: NamedLines): void {
    const { graph } = parts.regions
    const words = this.#words
    if (user !== this.#user) {
      this.#userBlock = user === 0 ? 0 : copyBlock(graph, attributesBlock(graph, user), words)
      this.#user = user
    }
    if (tenant !== this.#tenant) {
      this.#tenantBlock = copyBlock(graph, attributesBlock(graph, tenant), words)
      this.#tenant = tenant
      if (tenant !== this.#tenantNamed) this.#tenantKey = keyText(graph, tenant)
      this.#tenantNamed = tenant
    }
    asked.tenant = this.#tenantKey
    asked.words = words
    asked.user = this.#userBlock
    asked.instance = instance === 0 ? 0 : copyBlock(graph, attributesBlock(graph, instance), words)
    asked.tenantBlock = this.#tenantBlock
    if (user === 0 || asked.plan.flags === 0) return
    if (this.#held.user !== user || this.#held.tenant !== tenant)
      this.#held = new HeldByUser(user, tenant, this.#held)
    this.#held.copyTo(asked, parts)
  }
}

/**
 * The roles and tenants of one user that rules need. They are read once for consecutive queries about the
 * same user.
 */
class HeldByUser {
  readonly user: number
  readonly tenant: number
  #masks: Int32Array | null = null
  #roles: readonly string[] | null = null
  #tenants: readonly string[] | null

  /**
   * `before` contains the roles and tenants read for the previous query. They are reused if the user is the
   * same.
   */
  constructor(user = -1, tenant = -1, before: HeldByUser | null = null) {
    this.user = user
    this.tenant = tenant
    this.#tenants = before?.user === user ? before.#tenants : null
  }

  /** Passes the roles and tenants to the query. The first call reads them in O(assignments of the user). */
  copyTo(asked: AskedRules, parts: ListingParts): void {
    const { flags } = asked.plan
    const { user, tenant } = this
    if ((flags & (FLAG_ROLE_SIDES | FLAG_READS_ROLES)) !== 0) {
      asked.roleMasks = this.#masks ??= tenantMasksOf(parts, user, tenant)
    }
    if ((flags & FLAG_READS_ROLES) !== 0) {
      asked.userRoles = this.#roles ??= heldInTenant(parts, user, tenant).toSorted(compareUtf8)
    }
    if ((flags & FLAG_READS_TENANTS) !== 0) asked.userTenants = this.#tenants ??= tenantsOf(parts, user)
  }
}

const NOTHING_HELD = new HeldByUser()

/**
 * Copies the attributes of the instances that an evaluation needed but did not have. Copies at most as many
 * bytes as the remaining steps of the query could parse.
 */
export function gatherLookups(
  asked: AskedRules,
  { regions }: ListingParts,
  tenant: number,
  { lookups, lookUp }: { readonly lookups: readonly Lookup[]; readonly lookUp: (lookup: Lookup) => number },
): void {
  const { graph } = regions
  const found = new Map<string, string | null | undefined | false>()
  let bytesLeft = asked.stepsMax / PARSED_BYTE_STEPS
  for (const lookup of lookups) {
    const line = lookUp(lookup)
    if (line === 0 || graph[(line << L.LINE_WORDS_LOG2) + L.I_TENANT] !== tenant) {
      found.set(nameOf(lookup), undefined)
      continue
    }
    const text = attributesBytes(graph, line) <= bytesLeft && attributesText(regions, line)
    if (typeof text === 'string') bytesLeft -= text.length
    found.set(nameOf(lookup), text)
  }
  asked.lookups = lookups
  asked.found = found
}

/**
 * Returns the keys of the tenants in which the user has a tenant role, in ascending order. O(the user's
 * assignments).
 */
function tenantsOf({ regions, schema }: ListingParts, user: number): string[] {
  const { graph } = regions
  const tenants = new Set<number>()
  for (const [scope, mask] of assignmentsOf(regions, user)) {
    const head = graph[(scope & L.LINE_MASK) << L.LINE_WORDS_LOG2]!
    if (head >>> L.TYPE_SHIFT !== L.TENANT_TYPE) continue
    const line = tenantAt(graph, scope & L.LINE_MASK)
    const live = mask & (schema.tenant.liveMasks[bankOf(graph, scope)] ?? 0)
    if (live !== 0 && !isDead(graph, line)) tenants.add(line)
  }
  return Array.from(tenants, line => keyText(graph, line)).toSorted(compareUtf8)
}
