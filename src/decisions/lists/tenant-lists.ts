/**
 * Lists tenants as JSON bytes: those in which a user may perform an action, and those in which a user has a
 * role (conditions.md 10.1 and 10.2). The work is sliced, and it can run on any thread that has an engine. A
 * list is never partial: if it exceeds a limit, it is rejected.
 *
 * The list for an action contains the tenants in which the check is allowed. The candidates follow from the
 * data that a check reads. On an instance, a check is allowed only in the tenant of the instance (native.md
 * D-14). Tenant roles can only allow in tenants in which the user holds a role. Rules for the type and action
 * can be true in any stored tenant.
 */
import type { DecisionEngine, ResultSink } from '#engine/engine.ts'
import type { Query } from '#model/decision.ts'
import { TextQuestion } from '#model/question.ts'
import { AuthzError } from '#model/errors.ts'
import { TRIED_TENANTS_MAX } from '#model/limits.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { compareUtf8 } from '#model/text/utf8-order.ts'
import { type ListingLimits, SizeBudget, Text, WRITTEN_ENTRIES } from './listing.ts'
import { RuledBulk } from '#decisions/rules/ruled-bulk.ts'
import { received, type SendableQuery } from '#decisions/questions/sendable-query.ts'
import { sortedInSlices } from './sliced-sort.ts'

export interface AllowedTenantsJob {
  readonly kind: 'allowed-tenants'
  /** The query. Its tenant is ignored. */
  readonly query: SendableQuery
  readonly limits: ListingLimits
}

export interface UserTenantsJob {
  readonly kind: 'user-tenants'
  readonly user: string
  readonly limits: ListingLimits
}

/**
 * Lists the tenants in which the query is allowed, in ascending order of their UTF-8 bytes. Throws
 * `LIMIT_EXCEEDED` if a limit is exceeded, or if too many tenants would have to be tried.
 */
export function* listAllowedTenants(
  engine: DecisionEngine,
  { query, limits }: AllowedTenantsJob,
): Resumable<Uint8Array> {
  const asked = received(query)
  const tried = yield* sortedInSlices(yield* tenantsToTry(engine, asked, limits), compareUtf8)
  const checks = new RuledBulk(new TextQuestion(tried.map(tenant => ({ ...asked, tenant }))))
  const verdicts = yield* checks.decide(() => engine)
  const budget = new SizeBudget(limits)
  const entries: string[] = []
  for (const [index, tenant] of tried.entries()) {
    if (verdicts[index] === 0) continue
    const entry = `{"allow":true,"result":true,"tenant":${tenantText(tenant, engine.tenants.attributesOf(tenant))}}`
    if (!budget.take(bytesOf(entry))) break
    entries.push(entry)
    if (entries.length % WRITTEN_ENTRIES === 0) yield
  }
  budget.requireEnough('check tenants one by one or in bulk instead')
  return yield* written(budget, ['{"allowed_tenants":[', '}'], entries)
}

/**
 * Lists the tenants in which the user has a role, in ascending order of their UTF-8 bytes. Throws
 * `LIMIT_EXCEEDED` if a limit is exceeded.
 */
export function* listUserTenants(
  engine: DecisionEngine,
  { user, limits }: UserTenantsJob,
): Resumable<Uint8Array> {
  const budget = new SizeBudget(limits)
  const found = new TenantTexts(budget)
  yield* engine.tenantRolesOf(user, null, limits.entriesMax + 1, found)
  budget.requireEnough('list the role assignments of the user with pages instead')
  const sorted = yield* sortedInSlices(found.items, (left, right) => compareUtf8(left.tenant, right.tenant))
  return yield* written(
    budget,
    ['[', ''],
    sorted.map(({ text }) => text),
  )
}

/**
 * Returns the tenants in which the check might be allowed, each once. Throws `LIMIT_EXCEEDED` if there are
 * too many.
 */
function* tenantsToTry(
  engine: DecisionEngine,
  { user, type, action, key }: Query,
  { entriesMax }: ListingLimits,
): Resumable<string[]> {
  const home = key === null ? null : engine.tenantOf(type, key)
  if (home !== null) return [home]
  if (!isRuled(engine, type, action)) {
    // The limit is larger than that of the list, because the check might be denied in some of these tenants.
    const heldMax = Math.max(entriesMax, TRIED_TENANTS_MAX)
    const held = new TenantKeys()
    yield* engine.tenantRolesOf(user, null, heldMax + 1, held)
    // If the first rule was added in the meantime, it can allow in a tenant in which the role was removed.
    if (!isRuled(engine, type, action)) {
      requireFewEnough(held.items, heldMax)
      return held.items
    }
  }
  const stored = yield* engine.tenants.keys(TRIED_TENANTS_MAX + 1)
  requireFewEnough(stored, TRIED_TENANTS_MAX)
  return stored
}

function isRuled(engine: DecisionEngine, type: string, action: string): boolean {
  return engine.ruledPermissions().some(ruled => ruled.type === type && ruled.action === action)
}

function requireFewEnough({ length }: readonly string[], most: number): void {
  if (length <= most) return
  const message = `there are more than ${most} tenants to check; check them in bulk instead, or name an instance`
  throw new AuthzError('LIMIT_EXCEEDED', message, { limit: 'list' })
}

/** Collects the tenants in which a user has a role. */
class TenantKeys implements ResultSink<{ readonly tenant: string }> {
  items: string[] = []

  begin(): void {
    this.items = []
  }

  take({ tenant }: { readonly tenant: string }): boolean {
    this.items.push(tenant)
    return true
  }
}

interface StoredTenant {
  readonly tenant: string
  /** Attributes as JSON. */
  readonly attributes: string | null
}

/**
 * Collects the tenants in which a user has a role, with their attributes. When a limit is exceeded, `take`
 * returns false, which ends the listing.
 */
class TenantTexts implements ResultSink<StoredTenant> {
  readonly #budget: SizeBudget
  #bytes = 0
  items: { readonly tenant: string; readonly text: string }[] = []

  constructor(budget: SizeBudget) {
    this.#budget = budget
  }

  begin(): void {
    this.#budget.take(-this.#bytes, -this.items.length)
    this.#bytes = 0
    this.items = []
  }

  take({ tenant, attributes }: StoredTenant): boolean {
    const text = tenantText(tenant, attributes)
    const bytes = bytesOf(text)
    this.#bytes += bytes
    this.items.push({ tenant, text })
    return this.#budget.take(bytes)
  }
}

function tenantText(key: string, attributes: string | null): string {
  return `{"key":${JSON.stringify(key)},"attributes":${attributes ?? '{}'}}`
}

/**
 * Returns the size of an entry in bytes, including its comma. The closing bracket replaces the comma of the
 * last entry.
 */
function bytesOf(entry: string): number {
  return Buffer.byteLength(entry) + 1
}

/** Writes a list of entries. Their size must have been added to `budget`. */
function* written(
  budget: SizeBudget,
  [head, tail]: readonly [string, string],
  entries: readonly string[],
): Resumable<Uint8Array> {
  const text = new Text(head.length + Math.max(1, budget.bytes) + tail.length)
  text.write(head)
  for (const [index, entry] of entries.entries()) {
    text.write(index === 0 ? entry : `,${entry}`)
    if ((index + 1) % WRITTEN_ENTRIES === 0) yield
  }
  text.write(`]${tail}`)
  return text.whole()
}
