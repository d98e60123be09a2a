/**
 * What the grants of a member permit: the principal of a session for one request (administration.md C10,
 * C11). All functions are pure.
 *
 * A grant on the organization, a project or an environment applies to everything inside. At one place, the
 * highest level counts, and of grants with the same level the one with the widest reach. Delegated grants
 * count only where no other grant is sufficient, and then together.
 */
import { AuthzError } from '#model/errors.ts'
import type { NamedPlace, OrganizationPlaces, Place } from './organization-places.ts'
import {
  type AccessGrant,
  type AccessLevel,
  type Delegation,
  type Principal,
  reaches,
  type SessionCaller,
} from '#model/principal.ts'

/** A member in a session. */
export interface GrantHolder {
  readonly caller: SessionCaller
  readonly grants: readonly AccessGrant[]
}

/** Requirements of a request on its principal. */
export interface NeededReach {
  readonly level: AccessLevel
  /** Least object on which a grant must be. `any`: a grant on an environment is sufficient. */
  readonly reach: 'any' | 'project' | 'organization'
}

/** Principal of a session in one environment. Throws `FORBIDDEN` if no grant applies there. */
export function principalIn(
  holder: GrantHolder,
  places: OrganizationPlaces,
  named: NamedPlace,
  needed: AccessLevel,
): Principal {
  const { project, environment } = places.at(named)
  const best = environment && bestOf(applicable(holder.grants, { project, environment }), needed)
  if (!environment || !best) throw noGrantAt(named)
  return { kind: 'environment', ...environment, ...common(holder, places, best) }
}

/**
 * Principal of a session at the place of a path. Its kind is that of the object of the grant. Throws
 * `FORBIDDEN` if no grant applies there.
 */
export function principalAt(
  holder: GrantHolder,
  places: OrganizationPlaces,
  named: NamedPlace,
  { level, reach }: NeededReach,
): Principal {
  const place = places.at(named)
  const found = applicable(holder.grants, place)
  const wide = found.filter(grant => reachOf(grant) <= REACHES[reach])
  const best = bestOf(wide, level)
  if (!best) throw found.length === 0 ? noGrantAt(named) : tooNarrow(reach)
  const rest = common(holder, places, best)
  if (best.projectId === null) return { kind: 'organization', ...rest }
  if (best.environmentId === null) return { kind: 'project', ...place.project!, ...rest }
  return { kind: 'environment', ...place.environment!, ...rest }
}

/**
 * Principal of a session for a request without a place: the organization if a grant there is sufficient, and
 * otherwise all projects and environments in which a grant is sufficient. Throws `FORBIDDEN` if there is
 * none.
 */
export function principalAnywhere(
  holder: GrantHolder,
  places: OrganizationPlaces,
  { level, reach }: NeededReach,
): Principal {
  const { grants } = holder
  const onOrganization = bestOf(
    grants.filter(({ projectId }) => projectId === null),
    level,
  )
  if (onOrganization && (reach === 'organization' || reaches(onOrganization.accessLevel, level)))
    return { kind: 'organization', ...common(holder, places, onOrganization) }
  if (reach === 'organization') throw tooNarrow(reach)
  const wide = grants.filter(grant => grant.delegation === null && reachOf(grant) <= REACHES[reach])
  const sufficient = wide.filter(({ accessLevel }) => reaches(accessLevel, level))
  if (sufficient.length === 0 && level !== 'no_access') {
    if (wide.length === 0) throw reach === 'any' ? noneOf(grants) : tooNarrow(reach)
    throw levelTooLow(level, highest(wide), 'session')
  }
  const onProjects = new Set(sufficient.map(grant => (grant.environmentId === null ? grant.projectId : null)))
  const onEnvironments = new Set(sufficient.map(({ environmentId }) => environmentId))
  return {
    kind: 'places',
    organizationId: places.organizationId,
    projects: places.projects.filter(({ projectId }) => onProjects.has(projectId)),
    environments: places.environments.filter(({ environmentId }) => onEnvironments.has(environmentId)),
    keyId: null,
    level,
    session: holder.caller,
  }
}

/** Error for a level that is too low (administration.md K5). */
export function levelTooLow(
  required: AccessLevel,
  held: AccessLevel,
  holder: 'key' | 'session' = 'key',
): AuthzError {
  const message = `this request needs access_level "${required}" or above; this ${holder} has "${held}"`
  return new AuthzError('FORBIDDEN', message, { levels: { required, held } })
}

/** Error for a request that a client with limits cannot make (administration.md D2). */
export function closedToDelegates(holder: 'key' | 'session'): AuthzError {
  const message = `this operation is not available to a ${holder} that is limited to tenants and roles`
  return new AuthzError('FORBIDDEN', message)
}

/** A grant that counts for a request. If it stands for delegated grants, it has the limits of each. */
interface Counted extends Omit<AccessGrant, 'delegation'> {
  readonly delegations?: readonly Delegation[]
}

/** Widths of grants, from the widest. */
const REACHES = { organization: 0, project: 1, any: 2 } as const

function reachOf({ projectId, environmentId }: Pick<AccessGrant, 'projectId' | 'environmentId'>): number {
  if (projectId === null) return REACHES.organization
  return environmentId === null ? REACHES.project : REACHES.any
}

function applicable(grants: readonly AccessGrant[], { project, environment }: Place): AccessGrant[] {
  return grants.filter(({ projectId, environmentId }) => {
    if (projectId === null) return true
    if (projectId !== project?.projectId) return false
    return environmentId === null || environmentId === environment?.environmentId
  })
}

/** The grants that count for a request that needs this level. Null if there are no grants. */
function bestOf(grants: readonly AccessGrant[], needed: AccessLevel): Counted | null {
  const whole = highestOf(grants.filter(({ delegation }) => delegation === null))
  if (whole && reaches(whole.accessLevel, needed)) return whole
  const delegated = grants.filter(({ delegation }) => delegation !== null)
  const sufficient = together(delegated.filter(({ accessLevel }) => reaches(accessLevel, needed)))
  return sufficient ?? whole ?? together(delegated)
}

/** Delegated grants on the same environment, as one with the level that all of them have. */
function together(grants: readonly AccessGrant[]): Counted | null {
  const lowest = grants.reduce<AccessGrant | null>(
    (low, grant) => (low === null || reaches(low.accessLevel, grant.accessLevel) ? grant : low),
    null,
  )
  return lowest && { ...lowest, delegations: grants.map(({ delegation }) => delegation!) }
}

function highestOf(grants: readonly AccessGrant[]): AccessGrant | null {
  return grants.reduce<AccessGrant | null>((best, grant) => {
    if (best === null) return grant
    if (!reaches(best.accessLevel, grant.accessLevel)) return grant
    const isEqual = reaches(grant.accessLevel, best.accessLevel)
    return isEqual && reachOf(grant) < reachOf(best) ? grant : best
  }, null)
}

function highest(grants: readonly AccessGrant[]): AccessLevel {
  return highestOf(grants)!.accessLevel
}

function common({ caller }: GrantHolder, { organizationId }: OrganizationPlaces, grant: Counted) {
  const { accessLevel, delegations } = grant
  return {
    organizationId,
    keyId: null,
    level: accessLevel,
    session: caller,
    ...(delegations && { delegations }),
  }
}

function noGrantAt({ project, environment }: NamedPlace): AuthzError {
  const place = environment === null ? project : `${project}/${environment}`
  return new AuthzError('FORBIDDEN', `this session has no grant on ${JSON.stringify(place)}`)
}

/** Error for a session without a grant that is not delegated. */
function noneOf(grants: readonly AccessGrant[]): AuthzError {
  if (grants.length > 0) return closedToDelegates('session')
  return new AuthzError('FORBIDDEN', 'this session has no grants: ask an administrator for one')
}

function tooNarrow(reach: NeededReach['reach']): AuthzError {
  const objects = reach === 'organization' ? 'the organization' : 'the project or on the organization'
  return new AuthzError('FORBIDDEN', `this request needs a grant on ${objects}`)
}
