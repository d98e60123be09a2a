/**
 * The permission listings: what one user may do everywhere (contract A.4), and who may do one thing (contract A.5).
 * A listing is whole or refused: beyond the ceiling the caller is told to narrow it, never given a part of it.
 */
import type { InstanceFilter, TenantFilter, UserQuestion } from '#engine/engine.ts'
import type { Attributes, InstanceKey } from '#model/change.ts'
import { DEFAULT_TENANT } from '#model/decision.ts'
import { AuthzError } from '#model/errors.ts'
import { formatInstanceReference } from '#model/instance-reference.ts'
import { compareUtf8 } from '#model/utf8-order.ts'
import type { AuthorizedUserGrant, UserPermissionsQuery } from '#model/wire/permissions.ts'
import type { DecisionService } from './decision-service.ts'

const TENANT_TYPE = '__tenant'
const TENANT_PREFIX = `${TENANT_TYPE}:`

/** How a permission is written: SEED's `action:type`, or `type:action` for clients of the original (section 0, row 2). */
export type PermissionFormat = 'action:resource' | 'resource:action'

export interface PermissionEntry {
  /** `__tenant:<tenant>` or `<type>:<key>`. */
  readonly name: string
  readonly tenant?: { readonly key: string; readonly attributes: Attributes }
  readonly resource?: { readonly key: string; readonly type: string; readonly attributes: Attributes }
  readonly permissions: readonly string[]
  readonly roles: readonly string[]
}

export interface AuthorizedUsersListing {
  readonly resource: string
  readonly tenant: string
  /** By user, ascending by UTF-8 bytes; the grants of instances before those of the tenant. */
  readonly users: ReadonlyMap<string, readonly AuthorizedUserGrant[]>
}

export class PermissionService {
  readonly #decisions: DecisionService
  readonly #entriesMax: number
  readonly #format: PermissionFormat

  constructor(
    decisions: DecisionService,
    options: { readonly listedEntriesMax: number; readonly permissionFormat: PermissionFormat },
  ) {
    this.#decisions = decisions
    this.#entriesMax = options.listedEntriesMax
    this.#format = options.permissionFormat
  }

  /** Tenants first, then instances, each ascending. Throws `LIMIT_EXCEEDED` beyond the ceiling. */
  permissionsOf(environmentId: string, query: UserPermissionsQuery): PermissionEntry[] {
    const engine = this.#decisions.engine(environmentId)
    const tenants = engine
      .tenantRolesOf(query.user.key, tenantFilter(query), this.#entriesMax + 1)
      .map(({ tenant, attributes, roles, permissions }) => ({
        name: TENANT_PREFIX + tenant,
        tenant: { key: tenant, attributes: attributes ?? {} },
        permissions: this.#write(permissions),
        roles: roles.toSorted(compareUtf8),
      }))
    const room = this.#entriesMax - tenants.length
    const instances = room < 0 ? [] : engine.instanceRolesOf(query.user.key, instanceFilter(query), room + 1)
    if (instances.length > room) {
      throw this.#tooMany(
        'narrow it by tenants, resources or resource_types, or page through a resource search',
      )
    }
    const entries = instances.map(({ instance, attributes, roles, actions }) => ({
      name: formatInstanceReference(instance),
      resource: { key: instance.key, type: instance.type, attributes: attributes ?? {} },
      permissions: this.#write(actions.map(action => ({ type: instance.type, action }))),
      roles: roles.toSorted(compareUtf8),
    }))
    return [...tenants.toSorted(byName), ...entries.toSorted(byName)]
  }

  /** Throws `LIMIT_EXCEEDED` beyond the ceiling. */
  authorizedUsers(environmentId: string, question: UserQuestion): AuthorizedUsersListing {
    const engine = this.#decisions.engine(environmentId)
    const { type, key } = question
    const tenant = question.tenant ?? (key === null ? null : engine.tenantOf(type, key)) ?? DEFAULT_TENANT
    const grants = engine.grantsOn(question, this.#entriesMax + 1)
    if (grants.length > this.#entriesMax) throw this.#tooMany('page through a subject search instead')
    const items = grants
      .map(({ user, role, instance }) => {
        const resource = instance ? formatInstanceReference(instance) : TENANT_PREFIX + tenant
        return { isOfTenant: instance === null, grant: { user, tenant, resource, role } }
      })
      .toSorted(
        (left, right) =>
          compareUtf8(left.grant.user, right.grant.user) ||
          Number(left.isOfTenant) - Number(right.isOfTenant) ||
          compareUtf8(left.grant.resource, right.grant.resource) ||
          compareUtf8(left.grant.role, right.grant.role),
      )
      .map(({ grant }) => grant)
    const resource = key === null ? `${type}:*` : formatInstanceReference({ type, key })
    return { resource, tenant, users: Map.groupBy(items, ({ user }) => user) }
  }

  /** Without duplicates, ascending. */
  #write(permissions: readonly { readonly type: string; readonly action: string }[]): string[] {
    const isActionFirst = this.#format === 'action:resource'
    const texts = permissions.map(({ type, action }) =>
      isActionFirst ? `${action}:${type}` : `${type}:${action}`,
    )
    return [...new Set(texts)].toSorted(compareUtf8)
  }

  #tooMany(wayOut: string): AuthzError {
    return new AuthzError(
      'LIMIT_EXCEEDED',
      `the list has more than ${this.#entriesMax} entries (MAX_LISTED_ENTRIES); ${wayOut}`,
      { limit: 'list' },
    )
  }
}

function byName(left: PermissionEntry, right: PermissionEntry): number {
  return compareUtf8(left.name, right.name)
}

/** Which tenants are listed as entries of their own (contract A.4). */
function tenantFilter({ tenants, resources, resource_types: types }: UserPermissionsQuery): TenantFilter {
  const named = tenants ? bareTenants(tenants) : null
  const asResources = resources && !tenants ? bareTenants(resources.filter(isTenantName)) : null
  return tenant => {
    if (types && !types.includes(TENANT_TYPE)) return false
    if (named && !named.has(tenant)) return false
    return !asResources || asResources.has(tenant)
  }
}

/** Which instances are listed; a list of resources that holds tenants only says nothing about instances. */
function instanceFilter({ tenants, resources, resource_types: types }: UserPermissionsQuery): InstanceFilter {
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

function isTenantName(name: string): boolean {
  return name.startsWith(TENANT_PREFIX)
}

function bareTenants(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.map(name => (isTenantName(name) ? name.slice(TENANT_PREFIX.length) : name)))
}
