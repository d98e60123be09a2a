/**
 * Creates the permission listings as JSON bytes: all permissions of one user (native.md A.4), and all users
 * with one permission (native.md A.5). The work is sliced and runs on any thread that has an engine. A
 * listing is complete or rejected. Above a limit, the caller is asked to narrow the request and never
 * receives a partial list. The JSON is assembled only after its size is known to be within the limit.
 *
 * Members are named by keys that callers choose, so the JSON text is written here: a JavaScript object would
 * reorder keys that look like numbers and would mishandle `__proto__`. The permissions of a set of roles are
 * written once and copied for all users with these roles.
 */
import type {
  DecisionEngine,
  InstanceFilter,
  InstanceRoles,
  KeyPage,
  ResultSink,
  TenantFilter,
  TenantRoles,
  UserGrant,
  UserQuestion,
} from '#engine/engine.ts'
import { RULES_EXPLAINED_MAX } from '#engine/explanation.ts'
import { assert } from '#model/assert.ts'
import type { InstanceKey } from '#model/change.ts'
import { DEFAULT_TENANT, type Query } from '#model/decision.ts'
import { AuthzError } from '#model/errors.ts'
import { formatInstanceReference } from '#model/instance-reference.ts'
import type { Resumable } from '#model/resumable.ts'
import { compareUtf8 } from '#model/utf8-order.ts'
import type { AuthorizedUserGrant, UserPermissionsQuery } from '#model/wire/permissions.ts'
import { received, type Sendable } from './sendable-query.ts'
import { sortedInSlices } from './sliced-sort.ts'

const TENANT_TYPE = '__tenant'
export const TENANT_PREFIX = `${TENANT_TYPE}:`
/** Users per search page, and candidates tried per page. */
const SEARCHED_AT_ONCE = { limit: 1_000, triedMax: 20_000 } as const
/**
 * Maximum number of allowed users or entries that are explained, whether roles or rules allow them. Above it,
 * the listing is rejected.
 */
export const EXPLAINED_MAX = 50_000
/** Entries written between two pauses. */
const WRITTEN_ENTRIES = 256

/** Form of permission strings: `action:type`, or `type:action` for published clients (native.md 0.2). */
export type PermissionFormat = 'action:resource' | 'resource:action'

export interface ListingLimits {
  readonly entriesMax: number
  /** Maximum size of the JSON. */
  readonly bytesMax: number
}

export interface PermissionsJob {
  readonly kind: 'permissions'
  readonly query: Pick<UserPermissionsQuery, 'user' | 'tenants' | 'resources' | 'resource_types'>
  readonly limits: ListingLimits
  readonly format: PermissionFormat
  /** `null`: all entries. */
  readonly page: { readonly number: number; readonly size: number } | null
  /** Values of the query for conditions; `null`: rules are not evaluated. */
  readonly requestAttributes: Sendable<Query>['requestAttributes']
}

export interface AuthorizedUsersJob {
  readonly kind: 'authorized-users'
  readonly question: Sendable<UserQuestion>
  /** Whether users that rules allow are also listed. */
  readonly areRulesAsked: boolean
  readonly limits: ListingLimits
}

/** Lists tenants first, then instances, each in ascending order. Throws `LIMIT_EXCEEDED` above a limit. */
export function* listPermissions(
  engine: DecisionEngine,
  { query, limits, format }: PermissionsJob,
): Resumable<Uint8Array> {
  const budget = new SizeBudget(limits)
  const writer = new RolesWriter(format)
  const tenants = new Entries(budget, ({ tenant, attributes, roles, permissions }: TenantRoles) => {
    const name = TENANT_PREFIX + tenant
    const head = `${JSON.stringify(name)}:{"tenant":{"key":${JSON.stringify(tenant)},"attributes":${attributes ?? '{}'}},`
    return { name, head, rest: writer.text(roles, permissions) }
  })
  const instances = new Entries(budget, ({ instance, attributes, roles, actions }: InstanceRoles) => {
    const { type, key } = instance
    const name = formatInstanceReference(instance)
    const resource = `{"key":${JSON.stringify(key)},"type":${JSON.stringify(type)},"attributes":${attributes ?? '{}'}}`
    const permitted = () => actions.map(action => ({ type, action }))
    return {
      name,
      head: `${JSON.stringify(name)}:{"resource":${resource},`,
      rest: writer.text(roles, permitted),
    }
  })
  const user = query.user.key
  const wayOut = 'filter by tenants, resources or resource_types, or use a resource search with pages'
  yield* engine.tenantRolesOf(user, tenantFilter(query), limits.entriesMax + 1, tenants)
  budget.requireEnough(wayOut)
  const more = limits.entriesMax + 1 - tenants.items.length
  yield* engine.instanceRolesOf(user, instanceFilter(query), more, instances)
  budget.requireEnough(wayOut)
  const ofTenants = yield* sortedInSlices(tenants.items, byName)
  const ofInstances = yield* sortedInSlices(instances.items, byName)
  // Each entry includes a comma. The comma of the last entry is overwritten by the closing brace.
  const text = new Text(1 + Math.max(1, budget.bytes))
  text.write('{')
  let written = 0
  for (const entries of [ofTenants, ofInstances]) {
    for (const { head, rest } of entries) {
      if (written > 0) text.write(',')
      text.write(head)
      text.copy(rest)
      written += 1
      if (written % WRITTEN_ENTRIES === 0) yield
    }
  }
  text.write('}')
  return text.whole()
}

/**
 * Lists users in ascending order of UTF-8 bytes; for each user, grants on instances before grants in the
 * tenant. Throws `LIMIT_EXCEEDED` above a limit.
 */
export function* listAuthorizedUsers(
  engine: DecisionEngine,
  { question, limits, areRulesAsked }: AuthorizedUsersJob,
): Resumable<Uint8Array> {
  const asked = received(question)
  const { type, key } = asked
  const tenant = asked.tenant ?? (key === null ? null : engine.tenantOf(type, key)) ?? DEFAULT_TENANT
  const resource = key === null ? `${type}:*` : formatInstanceReference({ type, key })
  const head = `${JSON.stringify({ resource, tenant }).slice(0, -1)},"users":{`
  const budget = new SizeBudget(limits)
  const grants = new Grants(budget, tenant)
  yield* engine.grantsOn(asked, limits.entriesMax + 1, grants)
  budget.requireEnough('use a subject search with pages instead')
  if (areRulesAsked) yield* addRuled(engine, { ...asked, tenant }, grants)
  budget.requireEnough('use a subject search with pages instead')
  const ordered = yield* sortedInSlices(grants.items, byUser)
  const text = new Text(Buffer.byteLength(head) + budget.bytes + 2)
  text.write(head)
  for (const [index, { user, json }] of ordered.entries()) {
    const before = ordered[index - 1]?.user
    if (user === before) text.write(',')
    else text.write(`${before === undefined ? '' : '],'}${JSON.stringify(user)}:[`)
    text.write(json)
    if ((index + 1) % WRITTEN_ENTRIES === 0) yield
  }
  text.write(ordered.length === 0 ? '}}' : ']}}')
  return text.whole()
}

/**
 * Adds users that rules allow, with the matching condition sets. A user search finds them and explanations
 * give the sets (conditions.md 8.2).
 */
function* addRuled(engine: DecisionEngine, question: UserQuestion, grants: Grants): Resumable<void> {
  let explained = 0
  for (let after: string | null = null, hasMore = true; hasMore;) {
    const page: KeyPage = yield* engine.searchUsers(question, { after, ...SEARCHED_AT_ONCE })
    explained += page.keys.length
    if (explained > EXPLAINED_MAX) throw tooManyAllowed('use a subject search with pages instead')
    for (const user of page.keys) {
      const { rules } = yield* engine.explain({ ...question, user }, 0, 'none')
      if (rules.rules.length >= RULES_EXPLAINED_MAX) {
        throw tooLarge(
          `more than ${RULES_EXPLAINED_MAX} rules that allow one user`,
          'use a subject search with pages instead',
        )
      }
      for (const { userSet, resourceSet } of rules.allow ? rules.rules : []) {
        if (!grants.add(user, userSet, resourceSet, 2)) return
      }
    }
    ;({ hasMore, last: after } = page)
    yield
  }
}

/** Remaining capacity for all parts of a listing: bytes and entries. */
export class SizeBudget {
  readonly #limits: ListingLimits
  #entries = 0
  bytes = 0

  constructor(limits: ListingLimits) {
    this.#limits = limits
  }

  /** Reserves capacity; negative amounts release it. Returns false if the limit is exceeded. */
  take(bytes: number, entries = 1): boolean {
    this.bytes += bytes
    this.#entries += entries
    const { entriesMax, bytesMax } = this.#limits
    return this.#entries <= entriesMax && this.bytes <= bytesMax
  }

  /** Throws `LIMIT_EXCEEDED` if the limit was exceeded. */
  requireEnough(wayOut: string): void {
    const { entriesMax, bytesMax } = this.#limits
    if (this.#entries > entriesMax) {
      throw tooLarge(`more than ${entriesMax} entries (MAX_LISTED_ENTRIES)`, wayOut)
    }
    if (this.bytes > bytesMax) throw tooLarge(`more than ${bytesMax} bytes (MAX_LISTED_BYTES)`, wayOut)
  }
}

/** Error for too many allowed entries. Roles might allow most of them, but rules are evaluated for each. */
export function tooManyAllowed(wayOut: string): AuthzError {
  return tooLarge(`more than ${EXPLAINED_MAX} entries for which rules must be evaluated`, wayOut)
}

function tooLarge(size: string, wayOut: string): AuthzError {
  return new AuthzError('LIMIT_EXCEEDED', `the list has ${size}; ${wayOut}`, { limit: 'list' })
}

interface ListingEntry {
  /** `__tenant:<tenant>` or `<type>:<key>`. */
  readonly name: string
  /** The text specific to this entry. It is followed by text that other entries share. */
  readonly head: string
  readonly rest: Buffer
}

/** Entries of a listing, kept up to the capacity limit. */
class Entries<Found> implements ResultSink<Found> {
  readonly #budget: SizeBudget
  readonly #write: (found: Found) => ListingEntry
  #bytes = 0
  items: ListingEntry[] = []

  constructor(budget: SizeBudget, write: (found: Found) => ListingEntry) {
    this.#budget = budget
    this.#write = write
  }

  begin(): void {
    this.#budget.take(-this.#bytes, -this.items.length)
    this.#bytes = 0
    this.items = []
  }

  take(found: Found): boolean {
    const entry = this.#write(found)
    const bytes = Buffer.byteLength(entry.head) + entry.rest.length + 1
    this.#bytes += bytes
    this.items.push(entry)
    return this.#budget.take(bytes)
  }
}

/** Writes permissions and roles as members of an entry. The text of each set of roles is written once. */
class RolesWriter {
  readonly #isActionFirst: boolean
  readonly #known = new WeakMap<readonly string[], Buffer>()

  constructor(format: PermissionFormat) {
    this.#isActionFirst = format === 'action:resource'
  }

  /** Returns the text at the end of an entry. Both lists are without duplicates and in ascending order. */
  text(roles: readonly string[], permissions: Permissions | (() => Permissions)): Buffer {
    const known = this.#known.get(roles)
    if (known !== undefined) return known
    const permitted = typeof permissions === 'function' ? permissions() : permissions
    const texts = permitted.map(({ type, action }) =>
      this.#isActionFirst ? `${action}:${type}` : `${type}:${action}`,
    )
    const members = {
      permissions: [...new Set(texts)].toSorted(compareUtf8),
      roles: roles.toSorted(compareUtf8),
    }
    const text = Buffer.from(JSON.stringify(members).slice(1))
    this.#known.set(roles, text)
    return text
  }
}

type Permissions = TenantRoles['permissions']

interface Grant {
  readonly user: string
  readonly role: string
  /**
   * Resource on which the role is held, or the resource set of a rule. Roles on instances come first, then
   * roles in the tenant, then rules.
   */
  readonly resource: string
  readonly rank: 0 | 1 | 2
  readonly json: string
}

/** Grants of a listing, kept up to the capacity limit. */
class Grants implements ResultSink<UserGrant> {
  readonly #budget: SizeBudget
  readonly #tenant: string
  readonly #users = new Set<string>()
  #bytes = 0
  items: Grant[] = []

  constructor(budget: SizeBudget, tenant: string) {
    this.#budget = budget
    this.#tenant = tenant
  }

  begin(): void {
    this.#budget.take(-this.#bytes, -this.items.length)
    this.#bytes = 0
    this.#users.clear()
    this.items = []
  }

  take({ user, role, instance }: UserGrant): boolean {
    const resource = instance ? formatInstanceReference(instance) : TENANT_PREFIX + this.#tenant
    return this.add(user, role, resource, instance === null ? 1 : 0)
  }

  add(user: string, role: string, resource: string, rank: Grant['rank']): boolean {
    const grant: AuthorizedUserGrant = { user, tenant: this.#tenant, resource, role }
    const json = JSON.stringify(grant)
    // One byte for a comma or for the closing bracket of the user's list.
    let bytes = Buffer.byteLength(json) + 1
    if (!this.#users.has(user)) {
      // Name, colon, opening bracket and, except for the first user, a comma.
      bytes += Buffer.byteLength(JSON.stringify(user)) + (this.#users.size === 0 ? 2 : 3)
      this.#users.add(user)
    }
    this.#bytes += bytes
    this.items.push({ user, role, resource, rank, json })
    return this.#budget.take(bytes)
  }
}

function byName(left: ListingEntry, right: ListingEntry): number {
  return compareUtf8(left.name, right.name)
}

function byUser(left: Grant, right: Grant): number {
  return (
    compareUtf8(left.user, right.user) ||
    left.rank - right.rank ||
    compareUtf8(left.resource, right.resource) ||
    compareUtf8(left.role, right.role)
  )
}

/** A buffer for text whose length is known before the first byte is written. */
export class Text {
  readonly #bytes: Buffer
  #length = 0

  constructor(bytes: number) {
    // Not from the shared buffer pool, because the memory is transferred to another thread.
    this.#bytes = Buffer.allocUnsafeSlow(bytes)
  }

  write(text: string): void {
    this.#length += this.#bytes.write(text, this.#length)
  }

  copy(bytes: Buffer): void {
    this.#length += bytes.copy(this.#bytes, this.#length)
  }

  whole(): Uint8Array {
    assert(this.#length === this.#bytes.length, 'a listing has the counted length')
    return this.#bytes
  }
}

type Filters = Pick<UserPermissionsQuery, 'tenants' | 'resources' | 'resource_types'>

/** Returns the filter for tenants that are listed as separate entries (native.md A.4). */
export function tenantFilter({ tenants, resources, resource_types: types }: Filters): TenantFilter {
  const named = tenants ? bareTenants(tenants) : null
  const asResources = resources && !tenants ? bareTenants(resources.filter(isTenantName)) : null
  const isWithoutTenants = types ? !types.includes(TENANT_TYPE) : false
  return tenant => {
    if (isWithoutTenants) return false
    if (named && !named.has(tenant)) return false
    return !asResources || asResources.has(tenant)
  }
}

/**
 * Returns the filter for instances. A list of resources that contains only tenants does not restrict
 * instances.
 */
export function instanceFilter({ tenants, resources, resource_types: types }: Filters): InstanceFilter {
  const wanted = new Set(resources?.filter(name => !isTenantName(name)))
  const isNarrowed = wanted.size > 0 || resources?.length === 0
  const accepts = (instance: InstanceKey) =>
    wanted.has(instance.key) || wanted.has(formatInstanceReference(instance))
  return {
    tenants: tenants ? bareTenants(tenants) : null,
    types: types ? new Set(types) : null,
    accepts: isNarrowed ? accepts : null,
  }
}

export function isTenantName(name: string): boolean {
  return name.startsWith(TENANT_PREFIX)
}

export function bareTenants(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.map(name => (isTenantName(name) ? name.slice(TENANT_PREFIX.length) : name)))
}
