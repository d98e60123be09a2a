/** Permissions of members and member groups: how requests name them, and how responses show them. */
import { delegationOf, isDelegated, presentLimits } from '#management/delegation/delegated-grant.ts'
import {
  ORGANIZATION_NAMES,
  type OrganizationReadContext,
  type OrganizationWriteContext,
  requireOrganization,
} from '#management/scopes/organization-context.ts'
import { type GrantPlace, objectTypeOf, requireNames } from '#management/scopes/named-objects.ts'
import { AuthzError } from '#model/errors.ts'
import { PERMISSIONS_PER_MEMBER_MAX } from '#model/limits.ts'
import type { AccessGrant } from '#model/principal.ts'
import type { MemberPermission, MemberGrant } from '#model/wire/organization/member.ts'
import type { EnvironmentRecord, ProjectRecord } from '#entities/organization-records.ts'
import { rowKeys } from '#store/keyspace/keyspace.ts'
import { holdsAdminOn, notHeld } from './authority.ts'
import type { EffectiveGrant } from './effective-grants.ts'
import { isSamePlace } from './grants.ts'
import { sees } from './visible-grants.ts'

/** The place of a permission in the request, and its object. */
interface NamedPermission {
  readonly place: GrantPlace
  readonly permission: MemberPermission
}

/**
 * The grants that a request gives. Throws `FORBIDDEN` unless the caller holds `admin` on each object, and
 * `NOT_FOUND`, `INVALID_INPUT`, `INVALID_SHAPE` or `LIMIT_EXCEEDED`. The commit conflicts with the removal of
 * each object.
 *
 * `unchanged`: grants of others, which the caller sees and which stay. The request can contain them as
 * responses show them. They are not in the result.
 */
export function wantedGrants(
  context: OrganizationWriteContext,
  permissions: readonly MemberPermission[],
  unchanged: readonly AccessGrant[] = [],
): AccessGrant[] {
  const grants: AccessGrant[] = []
  for (const [index, { place, permission }] of namedPermissions(context, permissions, unchanged).entries()) {
    if (!holdsAdminOn(context.principal, place)) continue
    const { access_level: accessLevel, tenants, roles } = permission
    const { environmentId } = place
    const wanted = { isOnEnvironment: environmentId !== null, accessLevel, tenants, roles }
    const isLimited = isDelegated(wanted, ['body', 'permissions', index])
    const delegation = isLimited ? delegationOf(context.recordsOf(environmentId!), wanted) : null
    if (grants.some(grant => isSamePlace(grant, place))) {
      const message = `permissions: number ${index + 1} is on the same object as an earlier one; send one permission per object`
      throw new AuthzError('INVALID_INPUT', message)
    }
    touchPlace(context, place)
    grants.push({ ...place, accessLevel, delegation })
  }
  requireFew(grants)
  return grants
}

/** The objects that a request names. Throws as `wantedGrants`. */
export function namedPlaces(
  context: OrganizationReadContext,
  permissions: readonly MemberPermission[],
): GrantPlace[] {
  return namedPermissions(context, permissions).map(({ place }) => place)
}

/** Throws `LIMIT_EXCEEDED` if these are too many for one member or group. */
export function requireFew(grants: readonly unknown[]): void {
  if (grants.length <= PERMISSIONS_PER_MEMBER_MAX) return
  const message = `a member or a member group has at most ${PERMISSIONS_PER_MEMBER_MAX} permissions: remove some first`
  throw new AuthzError('LIMIT_EXCEEDED', message)
}

function namedPermissions(
  context: OrganizationReadContext,
  permissions: readonly MemberPermission[],
  unchanged: readonly AccessGrant[] = [],
): NamedPermission[] {
  requireFew(permissions)
  return permissions.map(permission => {
    requireNames(context, permission, permission.object_type, 'permission')
    const place = placeOf(context, permission)
    const isHeld = holdsAdminOn(context.principal, place)
    if (!isHeld && !unchanged.some(grant => isShownAs(grant, { place, permission }))) throw notHeld()
    return { place, permission }
  })
}

/** Whether the permission is the grant as responses show it. */
function isShownAs(grant: AccessGrant, { place, permission }: NamedPermission): boolean {
  const { access_level: level, tenants, roles } = permission
  const isSameList = (one: readonly string[] | null | undefined, other: readonly string[] = []): boolean =>
    JSON.stringify(one ?? []) === JSON.stringify(other)
  return (
    isSamePlace(grant, place) &&
    grant.accessLevel === level &&
    isSameList(tenants, grant.delegation?.tenants) &&
    isSameList(roles, grant.delegation?.roles)
  )
}

function placeOf(context: OrganizationReadContext, permission: MemberPermission): GrantPlace {
  const { project_id: project, environment_id: environment } = permission
  if (!project) return { projectId: null, environmentId: null }
  const found = projectNamed(context, project)
  if (!found) throw unknown(context, `project ${JSON.stringify(project)}`)
  if (!environment) return { projectId: found.id, environmentId: null }
  const inside = environmentNamed(context, found, environment)
  if (!inside) throw unknown(context, `environment ${JSON.stringify(`${found.key}/${environment}`)}`)
  return { projectId: found.id, environmentId: inside.id }
}

function unknown({ principal }: OrganizationReadContext, what: string): AuthzError {
  return principal.kind === 'organization' ? new AuthzError('NOT_FOUND', `there is no ${what}`) : notHeld()
}

/** Finds a project by key, then by id, including those that the caller does not reach. */
function projectNamed({ records }: OrganizationReadContext, reference: string): ProjectRecord | null {
  return records.get('project', rowKeys.project(reference)) ?? records.byReference('project', reference)
}

function environmentNamed(
  { records }: OrganizationReadContext,
  project: ProjectRecord,
  reference: string,
): EnvironmentRecord | null {
  const byKey = records.get('environment', rowKeys.environment(project.id, reference))
  const found = byKey ?? records.byReference('environment', reference)
  return found?.projectId === project.id && !found.isBeingCopied ? found : null
}

/**
 * The object of `project_id` and `env_id` in the query of a list; null if the query names none. Throws
 * `NOT_FOUND`, including for objects that the caller does not reach.
 */
export function queriedPlace(
  context: OrganizationReadContext,
  { project_id: project, env_id: environment }: { readonly project_id?: string; readonly env_id?: string },
): GrantPlace | null {
  const name = [project, environment].filter(part => part !== undefined).join('/')
  const place = name === '' ? null : placeIn(context, { project, environment })
  if (name === '' || (place && sees(context, place))) return place
  throw new AuthzError('NOT_FOUND', `there is no project or environment ${JSON.stringify(name)}`)
}

/** The object with these names. An environment can also be named by its id alone. */
function placeIn(
  context: OrganizationReadContext,
  {
    project,
    environment,
  }: { readonly project: string | undefined; readonly environment: string | undefined },
): GrantPlace | null {
  const { records } = context
  const byId = environment === undefined ? null : records.byReference('environment', environment)
  const found =
    project === undefined ? byId && records.byId('project', byId.projectId) : projectNamed(context, project)
  if (!found) return null
  if (environment === undefined) return { projectId: found.id, environmentId: null }
  const inside = environmentNamed(context, found, environment)
  return inside && { projectId: found.id, environmentId: inside.id }
}

/** Makes the commit conflict with the removal of the object, which would otherwise miss the grant. */
function touchPlace({ records }: OrganizationWriteContext, { projectId, environmentId }: GrantPlace): void {
  const project = projectId === null ? null : records.byId('project', projectId)
  const environment = environmentId === null ? null : records.byId('environment', environmentId)
  if (environment) records.touch(environment)
  else if (project) records.touch(project)
}

/** A permission as responses show it. */
export function presentPermission(
  { records }: OrganizationReadContext,
  { grant, via }: EffectiveGrant,
): MemberGrant {
  const { projectId, environmentId, accessLevel, delegation } = grant
  const project = projectId === null ? null : records.byId('project', projectId)
  const environment = environmentId === null ? null : records.byId('environment', environmentId)
  return {
    organization_id: requireOrganization(records).id,
    organization_key: ORGANIZATION_NAMES.key,
    organization_name: ORGANIZATION_NAMES.name,
    project_id: projectId,
    project_key: project?.key ?? null,
    project_name: project?.name ?? null,
    environment_id: environmentId,
    environment_key: environment?.key ?? null,
    environment_name: environment?.name ?? null,
    object_type: objectTypeOf(grant),
    access_level: accessLevel,
    ...presentLimits(delegation),
    via,
  }
}
