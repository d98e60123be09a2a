/**
 * Creates the permission listings as JSON bytes: all permissions of one user (native.md A.4), and all users
 * with one permission (native.md A.5). The work is sliced, and it can run on any thread that has an engine. A
 * listing is never partial: if it exceeds a limit, it is rejected, and the error asks the caller to narrow
 * the request. The JSON is assembled only when its size is known to be within the limit.
 *
 * The JSON text is written by this module, because the names of members are keys that callers choose. A
 * JavaScript object would reorder keys that look like numbers, and would not support `__proto__`. The
 * permissions of a set of roles are written once, and are copied for all users with the same roles.
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
import type { Resumable } from '#scheduling/resumable.ts'
import { compareUtf8 } from '#model/text/utf8-order.ts'
import type { AuthorizedUserGrant, UserPermissionsQuery } from '#model/wire/decisions/permissions.ts'
import { received, type Sendable } from '#decisions/questions/sendable-query.ts'
import { sortedInSlices } from './sliced-sort.ts'

const TENANT_TYPE = '__tenant'
export const TENANT_PREFIX = `${TENANT_TYPE}:`
/** Number of keys per page of a search, and number of candidates that are tried for a page. */
export const SEARCHED_AT_ONCE = { limit: 1_000, triedMax: 20_000 } as const
/**
 * Maximum number of users or entries that are explained. They are explained whether roles or rules allow
 * them. If there are more, the listing is rejected.
 */
export const EXPLAINED_MAX = 50_000
/** Number of times that a user can change between roles and rules while a listing is created. */
const MOVED_ATTEMPTS_MAX = 10
/** Number of entries that are written between two pauses. */
export const WRITTEN_ENTRIES = 256

/** Format of permissions: `action:type`, or `type:action` for published clients (native.md 0.2). */
export type PermissionFormat = 'action:resource' | 'resource:action'

export interface ListingLimits {
  readonly entriesMax: number
  /** Maximum size of the JSON in bytes. */
  readonly bytesMax: number
}

export interface PermissionsJob {
  readonly kind: 'permissions'
  readonly query: Pick<UserPermissionsQuery, 'user' | 'tenants' | 'resources' | 'resource_types'>
  readonly limits: ListingLimits
  readonly format: PermissionFormat
  /** Page to return; `null` returns all entries. */
  readonly page: { readonly number: number; readonly size: number } | null
  /** Values that conditions can read. If it is `null`, rules are not evaluated. */
  readonly requestAttributes: Sendable<Query>['requestAttributes']
}

export interface AuthorizedUsersJob {
  readonly kind: 'authorized-users'
  readonly question: Sendable<UserQuestion>
  /** Whether the listing includes users that rules allow. */
  readonly areRulesAsked: boolean
  readonly limits: ListingLimits
}

/**
 * Lists the permissions of a user: first those in tenants, then those on instances, each in ascending order.
 * Throws `LIMIT_EXCEEDED` if a limit is exceeded.
 */
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
  const limit = limits.entriesMax + 1
  yield* engine.rolesOf(
    user,
    { accepts: tenantFilter(query), limit, results: tenants },
    { filter: instanceFilter(query), limit, results: instances },
  )
  budget.requireEnough('filter by tenants, resources or resource_types, or use a resource search with pages')
  const ofTenants = yield* sortedInSlices(tenants.items, byName)
  const ofInstances = yield* sortedInSlices(instances.items, byName)
  // The size of each entry includes a comma. The closing brace overwrites the comma of the last entry.
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
 * Lists the users with a permission, in ascending order of their UTF-8 bytes. For each user, grants on
 * instances come before grants in the tenant. Throws `LIMIT_EXCEEDED` if a limit is exceeded.
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
  // A commit can replace the last rule by a role, or a role by the first rule, while the grants are read.
  const hadRules = areRulesAsked && engine.hasRules()
  yield* engine.grantsOn(asked, limits.entriesMax + 1, grants)
  budget.requireEnough('use a subject search with pages instead')
  if (hadRules || (areRulesAsked && engine.hasRules())) yield* addRuled(engine, { ...asked, tenant }, grants)
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
 * Adds the users that rules allow, and for each the condition sets that match. A user search finds these
 * users, and explanations contain the sets (conditions.md 8.2). Also adds users who have got a role in place
 * of a rule since the grants were read. Without this, a user who is allowed all the time could be missing.
 */
function* addRuled(engine: DecisionEngine, question: UserQuestion, grants: Grants): Resumable<void> {
  let explained = 0
  const moved = new Set<string>()
  for (let after: string | null = null, hasMore = true; hasMore;) {
    const page: KeyPage = yield* engine.searchUsers(question, { after, ...SEARCHED_AT_ONCE })
    explained += page.keys.length
    if (explained > EXPLAINED_MAX) throw tooManyAllowed('use a subject search with pages instead')
    for (const user of page.keys) {
      const added = yield* addRulesOf(engine, { ...question, user }, grants)
      if (added === 'full') return
      if (added === 'by-roles' && !grants.has(user)) moved.add(user)
    }
    ;({ hasMore, last: after } = page)
    yield
  }
  for (let attempt = 0; moved.size > 0; attempt++) {
    if (attempt === MOVED_ATTEMPTS_MAX) throw changesTooFast()
    const found = new GrantsOf(moved)
    yield* engine.grantsOn(question, Infinity, found)
    for (const grant of found.items) {
      moved.delete(grant.user)
      if (!grants.take(grant)) return
    }
    for (const user of moved) {
      const added = yield* addRulesOf(engine, { ...question, user }, grants)
      if (added === 'full') return
      if (added !== 'by-roles') moved.delete(user)
    }
  }
}

/** Adds the rules that allow the query. Returns `by-roles` if only roles allow it. */
function* addRulesOf(
  engine: DecisionEngine,
  query: Query,
  grants: Grants,
): Resumable<'added' | 'by-roles' | 'denied' | 'full'> {
  const { rules, isAllowedByRoles } = yield* engine.explain(query, 0, 'none')
  if (!rules.allow) return isAllowedByRoles ? 'by-roles' : 'denied'
  if (rules.rules.length >= RULES_EXPLAINED_MAX) {
    throw tooLarge(
      `more than ${RULES_EXPLAINED_MAX} rules that allow one user`,
      'use a subject search with pages instead',
    )
  }
  for (const { userSet, resourceSet } of rules.rules) {
    if (!grants.add(query.user, userSet, resourceSet, 2)) return 'full'
  }
  return 'added'
}

/** Collects the grants of some users. */
class GrantsOf implements ResultSink<UserGrant> {
  readonly #users: ReadonlySet<string>
  items: UserGrant[] = []

  constructor(users: ReadonlySet<string>) {
    this.#users = users
  }

  begin(): void {
    this.items = []
  }

  take(grant: UserGrant): boolean {
    if (this.#users.has(grant.user)) this.items.push(grant)
    return true
  }
}

function changesTooFast(): AuthzError {
  return new AuthzError(
    'OVERLOADED',
    'roles and rules of users on this resource change too fast for a list; try again shortly',
    { limit: 'list' },
  )
}

/** Bytes and entries that all parts of a listing may still use. */
export class SizeBudget {
  readonly #limits: ListingLimits
  #entries = 0
  bytes = 0

  constructor(limits: ListingLimits) {
    this.#limits = limits
  }

  /**
   * Adds bytes and entries to the listing; negative numbers remove them. Returns false if a limit is
   * exceeded.
   */
  take(bytes: number, entries = 1): boolean {
    this.bytes += bytes
    this.#entries += entries
    const { entriesMax, bytesMax } = this.#limits
    return this.#entries <= entriesMax && this.bytes <= bytesMax
  }

  /** Throws `LIMIT_EXCEEDED` if a limit has been exceeded. */
  requireEnough(wayOut: string): void {
    const { entriesMax, bytesMax } = this.#limits
    if (this.#entries > entriesMax) {
      throw tooLarge(`more than ${entriesMax} entries (MAX_LISTED_ENTRIES)`, wayOut)
    }
    if (this.bytes > bytesMax) throw tooLarge(`more than ${bytesMax} bytes (MAX_LISTED_BYTES)`, wayOut)
  }
}

/**
 * Returns the error for too many entries for which rules must be evaluated. Rules are evaluated for each
 * entry, even if roles already allow most of them.
 */
export function tooManyAllowed(wayOut: string): AuthzError {
  return tooLarge(`more than ${EXPLAINED_MAX} entries for which rules must be evaluated`, wayOut)
}

function tooLarge(size: string, wayOut: string): AuthzError {
  return new AuthzError('LIMIT_EXCEEDED', `the list has ${size}; ${wayOut}`, { limit: 'list' })
}

interface ListingEntry {
  /** Name of the entry: `__tenant:<tenant>` or `<type>:<key>`. */
  readonly name: string
  /** Text that only this entry has. It is followed by `rest`, which other entries share. */
  readonly head: string
  readonly rest: Buffer
}

/**
 * Collects the entries of a listing. When a limit is exceeded, `take` returns false, which ends the listing.
 */
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

/** Writes the permissions and roles of entries. The text for each set of roles is written once. */
class RolesWriter {
  readonly #isActionFirst: boolean
  readonly #known = new WeakMap<readonly string[], Buffer>()

  constructor(format: PermissionFormat) {
    this.#isActionFirst = format === 'action:resource'
  }

  /**
   * Returns the text at the end of an entry. Roles and permissions must be in ascending order and without
   * duplicates.
   */
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

interface ListedGrant {
  readonly user: string
  readonly role: string
  /**
   * Resource on which the role is held or, for a rule, the resource set. `rank` sorts grants: roles on
   * instances, then roles in the tenant, then rules.
   */
  readonly resource: string
  readonly rank: 0 | 1 | 2
  readonly json: string
}

/**
 * Collects the grants of a listing. When a limit is exceeded, `take` returns false, which ends the listing.
 */
class Grants implements ResultSink<UserGrant> {
  readonly #budget: SizeBudget
  readonly #tenant: string
  readonly #users = new Set<string>()
  #bytes = 0
  items: ListedGrant[] = []

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

  has(user: string): boolean {
    return this.#users.has(user)
  }

  add(user: string, role: string, resource: string, rank: ListedGrant['rank']): boolean {
    const grant: AuthorizedUserGrant = { user, tenant: this.#tenant, resource, role }
    const json = JSON.stringify(grant)
    // Adds one byte for the comma after the grant, or for the bracket that closes the list of the user.
    let bytes = Buffer.byteLength(json) + 1
    if (!this.#users.has(user)) {
      // Adds the bytes of the name, the colon, the opening bracket and, except for the first user, a comma.
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

function byUser(left: ListedGrant, right: ListedGrant): number {
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
    // Does not use the shared buffer pool, because the memory is transferred to another thread.
    this.#bytes = Buffer.allocUnsafeSlow(bytes)
  }

  write(text: string): void {
    this.#length += this.#bytes.write(text, this.#length)
  }

  copy(bytes: Buffer): void {
    this.#length += bytes.copy(this.#bytes, this.#length)
  }

  whole(): Uint8Array {
    assert(this.#length === this.#bytes.length, 'the length of a listing is the length that was counted')
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
 * Returns the filter for instances. If a list of resources contains only tenants, it does not restrict the
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
