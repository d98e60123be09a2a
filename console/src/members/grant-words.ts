/** Words for a grant: its level and the object to which it applies. Also the form of a grant in requests. */
import type { Grant } from '../session/account.ts'
import { isDelegated } from '../session/held.ts'
import type { Texts } from '../texts/en.ts'
import type { Permission } from './member-reads.ts'

/** Name of the object: `organization`, `Shop` or `Shop / production`. */
export function objectOf(grant: Grant, texts: Texts['members']): string {
  if (grant.object_type === 'org') return texts.organization
  const project = grant.project_name ?? grant.project_key ?? grant.project_id ?? ''
  if (grant.object_type === 'project') return project
  return `${project} / ${grant.environment_name ?? grant.environment_key ?? grant.environment_id ?? ''}`
}

export function levelOf(grant: Grant, texts: Texts['members']): string {
  if (!isDelegated(grant)) return texts.levels[grant.access_level]
  return texts.tenantLevels[grant.access_level === 'read' ? 'tenant_read' : 'tenant_write']
}

/** The grant in a few words, for a sentence. */
export function grantWords(grant: Grant, texts: Texts['members']): string {
  return `${levelOf(grant, texts)} · ${objectOf(grant, texts)}`
}

/** Limits of a delegated grant. Null if the grant is not limited. */
export function limitsOf(
  { tenants, roles }: Grant,
  tenantNames: readonly string[],
  texts: Texts['members'],
): string | null {
  if (!tenants) return null
  const limits = [texts.ofTenants(tenantNames.join(', '))]
  if (roles && roles.length > 0) limits.push(texts.withRoles(roles.join(', ')))
  return limits.join('; ')
}

/** The grant in the form of requests. Levels of members are never `decide`. */
export function asSent(grant: Grant): Permission {
  const { object_type, access_level, project_id, environment_id, tenants, roles } = grant
  return {
    object_type,
    access_level: access_level as Permission['access_level'],
    ...(project_id === null ? {} : { project_id }),
    ...(environment_id === null ? {} : { environment_id }),
    ...(tenants === undefined ? {} : { tenants: [...tenants] }),
    ...(roles === undefined || access_level === 'read' ? {} : { roles: [...roles] }),
  }
}
