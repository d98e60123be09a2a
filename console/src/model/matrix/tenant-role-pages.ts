/**
 * Loads the tenant roles page by page, each with its inherited permissions. Extended roles can be on pages
 * that are not loaded. They are requested with the page, so that no cell shows a granted permission as
 * missing.
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
  /** Each inherited permission, and one role that grants it. */
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
 * Loads all direct and indirect ancestors of the roles of a page. Needs one request for each extended role on
 * another page.
 */
async function withAncestors(
  path: CurrentEnvironment['path'],
  roles: readonly TenantRole[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, TenantRole>> {
  const known = new Map(roles.map(role => [role.key, role]))
  // The ancestors of a child include the missing parent and everything that it extends, so one child per
  // missing parent is enough.
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
