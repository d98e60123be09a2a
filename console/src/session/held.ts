/** Permissions of the session: the level of a key, or the levels of the grants of a member. */
import type { Schemas } from '../interface/client.ts'
import type { Grant } from './account.ts'
import { useScope } from './scope.ts'
import { useAccount } from './session.ts'

export type Level = Schemas['AccessLevel']

/** All levels. Each includes those before it. */
export const LEVELS = ['no_access', 'decide', 'read', 'write_facts', 'write', 'admin'] as const

/** Limits of a delegated grant. */
export interface Delegated {
  readonly level: Level
  readonly tenants: readonly string[]
  readonly roles: readonly string[]
}

/** Permissions of the session in a place. */
export interface Held {
  /** Highest level of the grants without limits. */
  readonly level: Level
  /** The delegated grants together; null if there are none. */
  readonly delegated: Delegated | null
}

/** An environment, as an address names it: by keys or ids. */
export interface Place {
  readonly project: string
  readonly environment: string
}

export function includes(held: Level, needed: Level): boolean {
  return LEVELS.indexOf(held) >= LEVELS.indexOf(needed)
}

export function highest(levels: readonly Level[]): Level {
  return LEVELS[Math.max(0, ...levels.map(level => LEVELS.indexOf(level)))]!
}

/**
 * Permissions of the session in the environment; without one, anywhere. Null if they are not known yet. Keys
 * have the same level everywhere that they reach.
 */
export function useHeld(place: Place | null): Held | null {
  const account = useAccount()
  const { data: scope } = useScope()
  if (account !== null) return heldIn(account.grants, place)
  if (scope === undefined) return null
  const { access_level: level, tenants, roles } = scope
  return tenants === undefined
    ? { level, delegated: null }
    : { level: 'no_access', delegated: { level, tenants, roles: roles ?? [] } }
}

/** Objects that the session manages, according to its grants of a level. */
export interface Managed {
  /** The widest object of such a grant; null if there is none. */
  readonly widest: Grant['object_type'] | null
  /** The only project in which the session has such a grant; null if it is not limited to one. */
  readonly ownProject: string | null
}

/** Null if it is not known yet. The level of a key is not considered, because buttons state it. */
export function useManaged(needed: Level = 'read'): Managed | null {
  const account = useAccount()
  const { data: scope } = useScope()
  if (account === null) {
    if (scope === undefined) return null
    const { project_id: project, environment_id: environment } = scope
    return { widest: environment ? 'env' : project ? 'project' : 'org', ownProject: project }
  }
  const grants = account.grants.filter(grant => !isDelegated(grant) && includes(grant.access_level, needed))
  const widest = (['org', 'project', 'env'] as const).find(object =>
    grants.some(({ object_type: kind }) => kind === object),
  )
  const projects = new Set(grants.map(projectOf))
  const [only = null] = projects
  return { widest: widest ?? null, ownProject: widest !== 'org' && projects.size === 1 ? only : null }
}

/**
 * Whether the session has the level `admin` on the object of a grant, or above it. It can see grants on which
 * it does not. The level of a key is not considered, because buttons state it.
 */
export function useAdministers(): (grant: Grant) => boolean {
  const account = useAccount()
  const { data: scope } = useScope()
  if (account === null) {
    const project = scope?.project_id ?? null
    return grant => project === null || grant.project_id === project
  }
  const grants = account.grants.filter(grant => !isDelegated(grant) && grant.access_level === 'admin')
  return ({ project_id: project, environment_id: environment }) =>
    grants.some(
      ({ object_type: kind, ...held }) =>
        kind === 'org' ||
        (held.project_id === project && (kind === 'project' || held.environment_id === environment)),
    )
}

/**
 * Whether the session manages API keys. Null if it is not known yet. A grant on an environment does not
 * suffice.
 */
export function useManagesKeys(): boolean | null {
  const managed = useManaged()
  return managed === null ? null : managed.widest === 'org' || managed.widest === 'project'
}

function heldIn(grants: readonly Grant[], place: Place | null): Held {
  const here = place === null ? grants : grants.filter(grant => reachesTo(grant, place))
  const limited = here.filter(isDelegated)
  return {
    level: highest(here.filter(grant => !isDelegated(grant)).map(grant => grant.access_level)),
    delegated:
      limited.length === 0
        ? null
        : {
            level: highest(limited.map(grant => grant.access_level)),
            tenants: [...new Set(limited.flatMap(({ tenants }) => tenants ?? []))],
            roles: [...new Set(limited.flatMap(({ roles }) => roles ?? []))],
          },
  }
}

export function isDelegated({ tenants }: Pick<Grant, 'tenants'>): boolean {
  return tenants !== undefined
}

/** Whether a grant applies to the environment. */
export function reachesTo({ object_type: kind, ...grant }: Grant, { project, environment }: Place): boolean {
  if (kind === 'org') return true
  if (project !== grant.project_id && project !== grant.project_key) return false
  return kind === 'project' || environment === grant.environment_id || environment === grant.environment_key
}

export function projectOf({ project_key: key, project_id: id }: Grant): string {
  return key ?? id ?? ''
}
