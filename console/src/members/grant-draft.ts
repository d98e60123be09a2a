/** A grant that a user types in a form. */
import { Problem } from '../interface/problem.ts'
import type { Managed } from '../session/held.ts'
import type { Texts } from '../texts/en.ts'
import type { Permission } from './member-reads.ts'

/** Levels that members can have. Those of tenants are limited grants on an environment. */
const LEVELS = ['admin', 'write', 'write_facts', 'read'] as const
export const TENANT_LEVELS = ['tenant_write', 'tenant_read'] as const
export type TenantLevel = (typeof TENANT_LEVELS)[number]
export type GrantLevel = (typeof LEVELS)[number] | TenantLevel
export type GrantObject = 'org' | 'project' | 'env'

export interface GrantDraft {
  readonly object: GrantObject
  readonly project: string
  readonly environment: string
  readonly level: GrantLevel
  /** Keys of tenants, separated by commas. */
  readonly tenants: string
  /** Roles, separated by commas. */
  readonly roles: string
}

/** `managed` states on which objects the session can grant levels. */
export function emptyDraft(managed: Managed | null): GrantDraft {
  return {
    object: managed?.widest ?? 'org',
    project: managed?.ownProject ?? '',
    environment: '',
    level: 'read',
    tenants: '',
    roles: '',
  }
}

/** Objects on which the session can grant levels. */
export function objectsFor(managed: Managed | null): readonly GrantObject[] {
  const all = ['org', 'project', 'env'] as const
  return all.slice(managed?.widest ? all.indexOf(managed.widest) : 0)
}

export function levelsFor(object: GrantObject): readonly GrantLevel[] {
  return object === 'env' ? [...LEVELS, ...TENANT_LEVELS] : LEVELS
}

/** Whether the level is that of a grant that is limited to tenants. */
export function isOfTenants(level: string): level is TenantLevel {
  return TENANT_LEVELS.some(each => each === level)
}

export function isComplete({ object, project, environment, level, tenants }: GrantDraft): boolean {
  if (object !== 'org' && project === '') return false
  if (object === 'env' && environment === '') return false
  return !isOfTenants(level) || listed(tenants).length > 0
}

export function permissionOf({ object, level, ...draft }: GrantDraft): Permission {
  return {
    object_type: object,
    access_level: accessLevelOf(level),
    ...(object === 'org' ? {} : { project_id: draft.project }),
    ...(object === 'env' ? { environment_id: draft.environment } : {}),
    ...limitsIn(level, draft),
  }
}

/** Level of the API for a level of a form. */
export function accessLevelOf<Other extends string>(level: Other | TenantLevel) {
  if (!isOfTenants(level)) return level as Exclude<Other, TenantLevel>
  return level === 'tenant_write' ? ('write_facts' as const) : ('read' as const)
}

/** Limits of a grant or key in a request. */
export function limitsIn(
  level: string,
  { tenants, roles }: { readonly tenants: string; readonly roles: string },
): { tenants?: string[]; roles?: string[] } {
  if (!isOfTenants(level)) return {}
  return { tenants: listed(tenants), ...(level === 'tenant_write' ? { roles: listed(roles) } : {}) }
}

export function levelName(level: GrantLevel, texts: Texts['members']): string {
  return isOfTenants(level) ? texts.tenantLevels[level] : texts.levels[level]
}

/** Name of the object in a sentence. */
export function objectName({ object, project, environment }: GrantDraft, texts: Texts['members']): string {
  if (object === 'org') return texts.objects.org
  return object === 'project' ? project || '…' : `${project || '…'} / ${environment || '…'}`
}

/** Error about a field of the permission, such as `project_id`. Null if there is none. */
export function errorAbout(problem: unknown, field: string, typed: readonly string[] = []) {
  if (!(problem instanceof Problem)) return null
  const found = problem.findings.find(({ place }) => place.includes(field))
  if (found !== undefined) return found
  // Unknown names are reported with their quoted text.
  const isQuoted = typed.some(text => text !== '' && problem.message.includes(JSON.stringify(text)))
  return problem.status === 404 && isQuoted ? problem : null
}

/** Parts of a text that commas separate. */
export function listed(text: string): string[] {
  return text
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== '')
}
