/**
 * Context of operations on the organization in addition to its records, and lookups of projects and
 * environments. The route defines who may call an operation; the lookups return only entities that the caller
 * may see.
 */
import type { Draft } from '#management/drafts/draft.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import { AuthzError } from '#model/errors.ts'
import { coversProject, type Principal } from '#model/principal.ts'
import type { Instant } from '#entities/instant.ts'
import type { EnvironmentRecord, OrganizationRecord, ProjectRecord } from '#entities/organization-records.ts'
import type { Closure } from '#replica/closed-environment.ts'
import { rowKeys } from '#store/keyspace/keyspace.ts'
import type { KeySecrets } from './key-secrets.ts'
import type { MemberSettings } from './member-settings.ts'

export interface OrganizationContext {
  readonly principal: Principal
  /** Milliseconds since 1970, the same throughout one operation. */
  readonly now: number
  /** A new UUID. */
  newId(): string
  readonly secrets: KeySecrets
  /** How long a rotated secret stays valid unless the caller specifies a time. */
  readonly keyOverlapSeconds: number
  /**
   * Reason why this process cannot decide on an environment; null if it can, or if the environment is not
   * open here.
   */
  closureOf(environmentId: string): Closure | null
  /** Records of an environment. Throws `NOT_READY` or `ENVIRONMENT_CLOSED` if this process cannot read it. */
  recordsOf(environmentId: string): RecordReader
  /** Last use of the key that its row may not have yet; null if none. */
  lastUseOf(keyId: string): Instant | null
  /** Null if members cannot sign in, because no issuer is configured. */
  readonly members: MemberSettings | null
  /** Null if members cannot sign in. */
  readonly sessions: SessionLookup | null
}

/** The sessions of this node. */
export interface SessionLookup {
  /** Time after its last use at which a session ends. */
  readonly sessionIdleMs: number
  /** Last use of the session that its row may not have yet; null if none. */
  lastUseOf(sessionId: string): Instant | null
}

export interface OrganizationReadContext extends OrganizationContext {
  readonly records: RecordReader
}

export interface OrganizationWriteContext extends OrganizationContext {
  readonly records: Draft
}

/** Throws the error for an environment that this process has not opened. */
export function environmentNotOpen(): never {
  throw new AuthzError('NOT_READY', 'this environment is not open yet; try again shortly')
}

/** Key and name of the organization. They cannot be configured. */
export const ORGANIZATION_NAMES = { key: 'default', name: 'Default' } as const

/** The organization. Throws `NOT_READY` before the first start has created it. */
export function requireOrganization(records: RecordReader): OrganizationRecord {
  const organization = records.get('organization', rowKeys.organization())
  if (!organization) throw new AuthzError('NOT_READY', 'the organization has not been created yet')
  return organization
}

/**
 * Finds a project by key, then by id. Throws `NOT_FOUND`, including for projects outside the scope of a
 * project's key.
 */
export function requireProject(context: OrganizationReadContext, reference: string): ProjectRecord {
  const { records } = context
  const named = [
    records.get('project', rowKeys.project(reference)),
    records.byReference('project', reference),
  ]
  // The key of a project cannot see other projects. Therefore, if the reference is the key of another project
  // and also the id of the caller's project, it means the caller's project.
  for (const project of named) if (project && mayTouch(context.principal, project)) return project
  throw new AuthzError('NOT_FOUND', `there is no project ${JSON.stringify(reference)}`)
}

/**
 * Finds an environment by key, then by id, in that project. An incomplete copy is not found. Throws
 * `NOT_FOUND`.
 */
export function requireEnvironment(
  context: OrganizationReadContext,
  project: ProjectRecord,
  reference: string,
): EnvironmentRecord {
  const { records } = context
  const byKey = records.get('environment', rowKeys.environment(project.id, reference))
  const found = byKey ?? records.byReference('environment', reference)
  if (found?.projectId === project.id && !found.isBeingCopied) return found
  const place = JSON.stringify(`${project.key}/${reference}`)
  throw new AuthzError('NOT_FOUND', `there is no environment ${place}`)
}

export function mayTouch(principal: Principal, project: { readonly id: string }): boolean {
  if (principal.kind === 'environment') return principal.projectId === project.id
  return coversProject(principal, project.id)
}

/**
 * Throws `LIMIT_EXCEEDED` if there are `maximum` already. Writes the organization's row, so that two
 * concurrent commands cannot both add the last entity that is allowed.
 */
export function requireCapacity(
  context: OrganizationWriteContext,
  count: number,
  limit: { readonly what: string; readonly maximum: number },
): void {
  context.records.touch(requireOrganization(context.records))
  if (count < limit.maximum) return
  const message = `an organization has at most ${limit.maximum} ${limit.what}: remove some first`
  throw new AuthzError('LIMIT_EXCEEDED', message)
}
