/**
 * Loads the tenant roles page by page, each with its inherited permissions. The roles that a role extends can
 * be on pages that are not loaded yet. They are requested together with the page, so that no cell shows a
 * granted permission as missing.
 */
import { answerOf, service } from '../../interface/client.ts'
import { itemsOf } from '../../interface/completions.ts'
import { type Pages, usePages } from '../../interface/pages.ts'
import { type CurrentEnvironment, useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { inheritedPermissions, unknownParents } from '../model-facts.ts'
import { TENANT_ROLE, TENANT_ROLES } from '../model-edits.ts'
import type { TenantRole } from '../model-reads.ts'

export interface RoleWithInherited {
  readonly role: TenantRole
  /** For each inherited permission, one role that grants it. */
  readonly inherited: ReadonlyMap<string, string>
}

export function useTenantRoles(): Pages<RoleWithInherited> {
  const { path, key } = useCurrentEnvironment()
  return usePages(key('role', 'tenant-roles'), async (page, signal) => {
    const answer = await answerOf(
      service.GET(TENANT_ROLES, { params: { path, query: { ...page, include_total_count: true } }, signal }),
    )
    const roles = itemsOf(answer)
    const known = await withAncestors(path, roles, signal)
    return roles.map(role => ({ role, inherited: inheritedPermissions(role, known) }))
  })
}

/**
 * Loads all roles that the roles of a page extend directly or indirectly. Sends one request for each extended
 * role on another page.
 */
async function withAncestors(
  path: CurrentEnvironment['path'],
  roles: readonly TenantRole[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, TenantRole>> {
  const known = new Map(roles.map(role => [role.key, role]))
  // One request per missing parent is sufficient: the ancestors of one of its children include the parent and
  // everything that the parent extends.
  const childOf = new Map(roles.flatMap(role => unknownParents(role, known).map(parent => [parent, role])))
  const children = new Set([...childOf.values()].map(({ key }) => key))
  const families = await Promise.all(
    [...children].map(child =>
      answerOf(
        service.GET(`${TENANT_ROLE}/ancestors`, { params: { path: { ...path, role_id: child } }, signal }),
      ),
    ),
  )
  for (const ancestor of families.flatMap(family => family.roles)) known.set(ancestor.key, ancestor)
  return known
}
