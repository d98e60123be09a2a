/**
 * Limits of a delegated grant on an environment, as requests contain them (administration.md D1). API keys
 * and members have such grants.
 */
import { requireRole, requireTenant, requireType } from '#management/drafts/lookups.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import { AuthzError } from '#model/errors.ts'
import type { AccessLevel, Delegation } from '#model/principal.ts'

/** Limits in a request: tenants by key or id, and roles as `role` or `resource#role`. */
export interface WantedLimits {
  readonly tenants?: readonly string[] | null | undefined
  readonly roles?: readonly string[] | null | undefined
}

/** A grant in a request. */
export interface WantedGrant extends WantedLimits {
  readonly isOnEnvironment: boolean
  readonly accessLevel: AccessLevel
}

/**
 * Whether the grant is limited to tenants. Throws `INVALID_SHAPE` if its limits do not fit its object, its
 * level or each other. `place` is the location of the grant in the request.
 */
export function isDelegated(grant: WantedGrant, place: readonly (string | number)[]): boolean {
  const { isOnEnvironment, accessLevel, tenants, roles } = grant
  const reject = (member: string, msg: string, type = 'value_error'): never => {
    const detail = [{ loc: [...place, member], msg, type }]
    throw new AuthzError('INVALID_SHAPE', `${member}: ${msg}`, { detail })
  }
  if (!tenants) return roles ? reject('tenants', 'is required together with roles', 'missing') : false
  if (!isOnEnvironment) return reject('tenants', 'can limit only a grant on an environment')
  if (accessLevel !== 'read' && accessLevel !== 'write_facts') {
    return reject('access_level', 'must be "read" or "write_facts" for a grant that is limited to tenants')
  }
  if (accessLevel === 'write_facts' && !roles) {
    return reject('roles', 'is required for access_level "write_facts" with tenants', 'missing')
  }
  if (accessLevel === 'read' && roles && roles.length > 0) {
    return reject('roles', 'must be absent or empty for access_level "read"')
  }
  return true
}

/** Ids of the tenants. Throws `NOT_FOUND`. `records` are those of the environment. */
export function tenantIdsOf(records: RecordReader, tenants: readonly string[]): readonly string[] {
  return [...new Set(tenants.map(reference => requireTenant(records, reference).id))]
}

/** Keys of the roles, as `role` or `resource#role`. Throws `NOT_FOUND`. */
export function roleNamesOf(records: RecordReader, roles: readonly string[]): readonly string[] {
  const names = roles.map(reference => {
    const [first, second] = reference.split('#') as [string, string?]
    if (second === undefined) return requireRole(records, null, first).key
    const type = requireType(records, first)
    return `${type.key}#${requireRole(records, type, second).key}`
  })
  return [...new Set(names)]
}

/**
 * Limits of a grant for which `isDelegated` returned true, with ids of tenants and keys of roles. Throws
 * `NOT_FOUND` for a tenant or role that does not exist.
 */
export function delegationOf(records: RecordReader, { tenants, roles }: WantedLimits): Delegation {
  return { tenants: tenantIdsOf(records, tenants ?? []), roles: roleNamesOf(records, roles ?? []) }
}

/** Limits of a grant in the form of responses: no fields if it has none. */
export function presentLimits(delegation: Delegation | null) {
  return delegation && { tenants: [...delegation.tenants], roles: [...delegation.roles] }
}
