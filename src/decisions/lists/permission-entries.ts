/**
 * Lists all permissions of one user as JSON bytes, for requests that ask for rules or select a page
 * (conditions.md 8.1). Other requests use `listing.ts`, which needs less memory for each entry.
 *
 * Entries of tenants and of instances are ordered by name. Permissions from roles are listed as in
 * `listing.ts`. Rules add actions to these entries. They also add entries for instances on which only rules
 * allow an action; a search for resources finds these instances. Only the entries of the page are explained.
 *
 * Roles and rules are read on several states. If an action is moved from a rule to a role in the meantime,
 * the entry contains it nevertheless, because each explanation of an entry reports both. The actions with
 * rules are read before and after the roles, because the last rule can be deleted or the first one added.
 */
import type { DecisionEngine, InstanceRoles, KeyPage, ResultSink, TenantRoles } from '#engine/engine.ts'
import { type Explanation, RULES_EXPLAINED_MAX } from '#engine/explanation.ts'
import type { InstanceKey, Permission } from '#model/change.ts'
import { AuthzError } from '#model/errors.ts'
import { formatInstanceReference } from '#model/instance-reference.ts'
import type { QueryContext, Query } from '#model/decision.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { compareUtf8 } from '#model/text/utf8-order.ts'
import {
  bareTenants,
  EXPLAINED_MAX,
  instanceFilter,
  isTenantName,
  type PermissionFormat,
  type PermissionsJob,
  SEARCHED_AT_ONCE,
  SizeBudget,
  TENANT_PREFIX,
  tenantFilter,
  Text,
  tooManyAllowed,
  WRITTEN_ENTRIES,
} from './listing.ts'
import { received } from '#decisions/questions/sendable-query.ts'
import { sortedInSlices } from './sliced-sort.ts'

/** Number of names that are looked up between two pauses. */
const LOOKED_UP_AT_ONCE = 256

interface PermissionsEntry {
  readonly name: string
  /** The instance; `null` if this is the entry of a tenant. */
  readonly instance: InstanceKey | null
  readonly tenant: string | null
  readonly attributes: string | null
  readonly roles: readonly string[]
  readonly permissions: Permission[]
}

/**
 * Lists the entries. Throws `LIMIT_EXCEEDED` if a limit is exceeded. O(entries that the user reaches +
 * candidates of rules), for any page.
 */
export function* listPermissionEntries(engine: DecisionEngine, job: PermissionsJob): Resumable<Uint8Array> {
  const { query, limits, page } = job
  const kept = page === null ? limits.entriesMax + 1 : page.number * page.size
  // A page contains entries by name. Therefore all entries must be found, but only the first ones are kept.
  const limit = page === null ? kept : Infinity
  const tenants = new FirstEntries(kept, limit, entryOfTenant)
  const instances = new FirstEntries(kept, limit, entryOfInstance)
  const user = query.user.key
  const ruledNow = () => (job.requestAttributes === null ? [] : engine.ruledPermissions())
  const ruledBefore = ruledNow()
  yield* engine.rolesOf(
    user,
    { accepts: tenantFilter(query), limit, results: tenants },
    { filter: instanceFilter(query), limit, results: instances },
  )
  const ruled = distinct([...ruledBefore, ...ruledNow()])
  const entries = new Map([...tenants.items, ...instances.items].map(entry => [entry.name, entry]))
  const isCut = (name: string) => tenants.isCut(name) || instances.isCut(name)
  const rules = ruled.length === 0 ? null : new RuledEntries(engine, job, { ruled, kept, entries, isCut })
  if (rules !== null) yield* rules.addInstances()
  const ordered = yield* sortedInSlices([...entries.values()], byName)
  if (page === null && ordered.length > limits.entriesMax) {
    throw new AuthzError(
      'LIMIT_EXCEEDED',
      `the list has more than ${limits.entriesMax} entries (MAX_LISTED_ENTRIES); filter by tenants, resources or resource_types, or request pages`,
      { limit: 'list' },
    )
  }
  const listed =
    page === null ? ordered : ordered.slice((page.number - 1) * page.size, page.number * page.size)
  const budget = new SizeBudget(limits)
  const texts: string[] = []
  for (const entry of listed) {
    const sets = rules === null ? null : yield* rules.explain(entry)
    const text = textOf(entry, sets, job.format)
    if (!budget.take(Buffer.byteLength(text) + 1)) break
    texts.push(text)
    if (texts.length % WRITTEN_ENTRIES === 0) yield
  }
  budget.requireEnough('request smaller pages')
  const text = new Text(1 + Math.max(1, budget.bytes))
  text.write('{')
  for (const [index, each] of texts.entries()) text.write(index === 0 ? each : `,${each}`)
  text.write('}')
  return text.whole()
}

/** Keeps the entries whose names come first. */
class FirstEntries<Found> implements ResultSink<Found> {
  readonly #kept: number
  readonly #limit: number
  readonly #entryOf: (found: Found) => PermissionsEntry
  items: PermissionsEntry[] = []
  /** The last name before entries that were dropped. */
  #lastKept: string | null = null

  /** `limit` is the maximum number of entries that are received. */
  constructor(kept: number, limit: number, entryOf: (found: Found) => PermissionsEntry) {
    this.#kept = kept
    this.#limit = limit
    this.#entryOf = entryOf
  }

  begin(): void {
    this.items = []
    this.#lastKept = null
  }

  take(found: Found): boolean {
    this.items.push(this.#entryOf(found))
    if (this.items.length < 2 * this.#kept) return true
    this.items = this.items.toSorted(byName).slice(0, this.#kept)
    this.#lastKept = this.items.at(-1)!.name
    return true
  }

  /** Returns whether an entry with this name might have been dropped. */
  isCut(name: string): boolean {
    if (this.items.length >= this.#limit) return true
    return this.#lastKept !== null && compareUtf8(name, this.#lastKept) > 0
  }
}

/** Keys of the condition sets whose rules allow an action on an entry. */
interface MatchedSets {
  readonly user: Set<string>
  readonly resource: Set<string>
  /** Whether further sets match that are not contained. */
  hasMore: boolean
}

class RuledEntries {
  readonly #engine: DecisionEngine
  readonly #query: PermissionsJob['query']
  readonly #queryContext: { readonly queryContext?: QueryContext }
  readonly #ruled: readonly Permission[]
  readonly #kept: number
  readonly #entries: Map<string, PermissionsEntry>
  /** Returns whether the entry would be beyond the page. */
  readonly #isCut: (name: string) => boolean
  readonly #acceptsTenant: (tenant: string) => boolean
  /** Number of entries that have been explained. */
  #explained = 0
  /** For each name of an instance, the actions that were not read with the roles. */
  readonly #allowed = new Map<string, string[]>()

  constructor(
    engine: DecisionEngine,
    { query, requestAttributes }: PermissionsJob,
    {
      ruled,
      kept,
      entries,
      isCut,
    }: {
      readonly ruled: readonly Permission[]
      readonly kept: number
      readonly entries: Map<string, PermissionsEntry>
      readonly isCut: (name: string) => boolean
    },
  ) {
    this.#entries = entries
    this.#isCut = isCut
    this.#acceptsTenant = tenantFilter(query)
    this.#engine = engine
    this.#query = query
    this.#queryContext = received({ requestAttributes })
    this.#ruled = ruled
    this.#kept = kept
  }

  /**
   * Adds the instances of the requested types on which rules allow an action. Actions that tenant roles allow
   * are not added, because the entry of the tenant contains them.
   */
  *addInstances(): Resumable<void> {
    const types = new Set(this.#query.resource_types)
    const { tenants } = this.#query
    const within = tenants ? bareTenants(tenants) : null
    const isNamed = instanceFilter(this.#query).accepts !== null
    const named = new Map<string, readonly string[]>()
    for (const { type, action } of this.#ruled.filter(permission => types.has(permission.type))) {
      if (isNamed) {
        // The named instances are looked up once for all actions and tenants, because a request can name
        // thousands of both.
        const keys = named.get(type) ?? (yield* this.#namedOf(type, within))
        named.set(type, keys)
        const allowed = yield* this.#allowedAmong({ type, action, keys })
        for (const key of allowed) this.#note({ type, key }, action)
        continue
      }
      for (const tenant of within ?? [null]) {
        for (const key of yield* this.#allowedOn(type, action, tenant)) this.#note({ type, key }, action)
      }
    }
  }

  #note(instance: InstanceKey, action: string): void {
    const name = formatInstanceReference(instance)
    const actions = this.#allowed.get(name)
    if (actions) actions.push(action)
    else this.#allowed.set(name, [action])
    if (this.#entries.has(name)) return
    const { type, key } = instance
    const tenant = this.#engine.tenantOf(type, key)
    // Skips the instance, because it was deleted after the search found it.
    if (tenant === null) return
    const attributes = this.#engine.attributesOf(type, key)
    this.#entries.set(name, { name, instance, tenant, attributes, roles: [], permissions: [] })
  }

  /**
   * Returns the instances on which rules allow the action, in order. Stops at the number of keys that the
   * page can need.
   */
  *#allowedOn(type: string, action: string, tenant: string | null): Resumable<string[]> {
    const question = { user: this.#query.user.key, action, type, tenant, ...this.#queryContext }
    const keys: string[] = []
    for (let after: string | null = null, hasMore = true; hasMore && keys.length < this.#kept;) {
      const limit = Math.min(SEARCHED_AT_ONCE.limit, this.#kept - keys.length)
      const page: KeyPage = yield* this.#engine.searchResources(question, {
        ...SEARCHED_AT_ONCE,
        after,
        limit,
      })
      for (const key of page.keys) if (yield* this.#mustNote({ ...question, key })) keys.push(key)
      ;({ hasMore, last: after } = page)
      yield
    }
    return keys
  }

  /** Returns whether rules allow the query, or a role that the user has got since the roles were read. */
  *#mustNote(query: Query): Resumable<boolean> {
    this.#explained += 1
    if (this.#explained > EXPLAINED_MAX) {
      throw tooManyAllowed('filter by resources, or by fewer of them, or use a resource search with pages')
    }
    const explanation = yield* this.#explain(query)
    return explanation.rules.allow || (explanation.isAllowedByRoles && !this.#isListed(query, explanation))
  }

  /** Returns whether an entry contains the action that a role allows, or would if it were on the page. */
  #isListed({ type, action, key }: Query, { tenant, tenantRoles }: Explanation): boolean {
    const isOfTenant = tenantRoles.held.some(role => tenantRoles.allowing.includes(role))
    if (isOfTenant && !this.#acceptsTenant(tenant)) return true
    const instanceName = formatInstanceReference({ type, key: key! })
    return [...(isOfTenant ? [TENANT_PREFIX + tenant] : []), instanceName].some(name => {
      const entry = this.#entries.get(name)
      if (entry === undefined) return this.#isCut(name)
      return entry.permissions.some(permission => permission.type === type && permission.action === action)
    })
  }

  #explain(query: Query): Resumable<Explanation> {
    return this.#engine.explain({ ...query, ...this.#queryContext }, 0, 'none')
  }

  /**
   * Returns the stored instances that the filter names, in ascending order. `within` contains the tenants of
   * the instances; `null` accepts any tenant.
   */
  *#namedOf(type: string, within: ReadonlySet<string> | null): Resumable<string[]> {
    const prefix = `${type}:`
    const keys = new Set<string>()
    for (const name of this.#query.resources ?? []) {
      if (isTenantName(name)) continue
      keys.add(name)
      if (name.startsWith(prefix)) keys.add(name.slice(prefix.length))
    }
    const stored: string[] = []
    let looked = 0
    for (const key of keys) {
      const home = this.#engine.tenantOf(type, key)
      if (home !== null && (within === null || within.has(home))) stored.push(key)
      if (++looked % LOOKED_UP_AT_ONCE === 0) yield
    }
    return yield* sortedInSlices(stored, compareUtf8)
  }

  /**
   * Returns those of the keys for which rules allow the action, in order. Stops at the number of keys that
   * the page can need.
   */
  *#allowedAmong({
    type,
    action,
    keys,
  }: Permission & { readonly keys: readonly string[] }): Resumable<string[]> {
    const allowed: string[] = []
    for (const key of keys) {
      if (allowed.length === this.#kept) break
      const query = { user: this.#query.user.key, action, type, key, tenant: null }
      if (yield* this.#mustNote(query)) allowed.push(key)
    }
    return allowed
  }

  /** Adds the actions that rules allow to the entry. Returns the sets that match. */
  *explain(entry: PermissionsEntry): Resumable<MatchedSets> {
    const sets: MatchedSets = { user: new Set(), resource: new Set(), hasMore: false }
    const { instance, tenant, permissions } = entry
    const actions = instance && this.#allowed.get(entry.name)
    const asked = instance
      ? (actions ?? []).map(action => ({ type: instance.type, action }))
      : // Actions that rules allow on the type as a whole are merged with those of the tenant roles.
        this.#ruled
    for (const permission of asked) {
      const { allow, rules } = yield* this.#explain({
        ...permission,
        user: this.#query.user.key,
        key: instance?.key ?? null,
        tenant,
      })
      if (allow) permissions.push(permission)
      if (!rules.allow) continue
      for (const { userSet, resourceSet } of rules.rules) {
        sets.user.add(userSet)
        sets.resource.add(resourceSet)
      }
      // The explanation contains only rules that allow. If it reached its limit, further rules might allow.
      sets.hasMore ||= rules.rules.length === RULES_EXPLAINED_MAX
    }
    return sets
  }
}

/** Returns the permissions without duplicates. */
function distinct(permissions: readonly Permission[]): Permission[] {
  return [...new Map(permissions.map(each => [`${each.type}:${each.action}`, each])).values()]
}

function entryOfTenant({ tenant, attributes, roles, permissions }: TenantRoles): PermissionsEntry {
  return {
    name: TENANT_PREFIX + tenant,
    instance: null,
    tenant,
    attributes,
    roles,
    permissions: [...permissions],
  }
}

function entryOfInstance({ instance, tenant, attributes, roles, actions }: InstanceRoles): PermissionsEntry {
  const permissions = actions.map(action => ({ type: instance.type, action }))
  return { name: formatInstanceReference(instance), instance, tenant, attributes, roles, permissions }
}

function textOf(entry: PermissionsEntry, sets: MatchedSets | null, format: PermissionFormat): string {
  const { name, instance, tenant, roles } = entry
  const attributes = entry.attributes ?? '{}'
  const place =
    instance === null
      ? `"tenant":{"key":${JSON.stringify(tenant)},"attributes":${attributes}}`
      : `"resource":{"key":${JSON.stringify(instance.key)},"type":${JSON.stringify(instance.type)},"attributes":${attributes}}`
  const permissions = entry.permissions.map(({ type, action }) =>
    format === 'action:resource' ? `${action}:${type}` : `${type}:${action}`,
  )
  const members = {
    permissions: [...new Set(permissions)].toSorted(compareUtf8),
    roles: roles.toSorted(compareUtf8),
    ...(sets !== null &&
      sets.user.size > 0 && {
        userset: [...sets.user].toSorted(compareUtf8),
        resourceset: [...sets.resource].toSorted(compareUtf8),
        ...(sets.hasMore && { more: true }),
      }),
  }
  return `${JSON.stringify(name)}:{${place},${JSON.stringify(members).slice(1)}`
}

function byName(left: PermissionsEntry, right: PermissionsEntry): number {
  return compareUtf8(left.name, right.name)
}
