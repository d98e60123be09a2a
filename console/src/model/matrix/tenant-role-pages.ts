/**
 * The roles of tenants, page by page, each with what it may through others. What a role extends may be on a page that nobody has asked for:
 * it is asked for with the page, so that no cell says "may not" of what is allowed.
 */
import { answerOf, service } from '../../interface/client.ts'
import { itemsOf } from '../../interface/completions.ts'
import { type Pages, usePages } from '../../interface/pages.ts'
import { type Place, usePlace } from '../../shell/place.tsx'
import { inheritedPermissions, unknownParents } from '../model-facts.ts'
import { TENANT_ROLE, TENANT_ROLES } from '../model-edits.ts'
import type { TenantRole } from '../model-reads.ts'

export interface RoleWithInherited {
  readonly role: TenantRole
  /** A permission that it has through others, and one role that gives it. */
  readonly inherited: ReadonlyMap<string, string>
}

export function useTenantRoles(): Pages<RoleWithInherited> {
  const { path, key } = usePlace()
  return usePages(key('role', 'tenant-roles'), async (page, signal) => {
    const answer = await answerOf(
      service.GET(TENANT_ROLES, { params: { path, query: { ...page, include_total_count: true } }, signal }),
    )
    const roles = itemsOf(answer)
    const known = await withAncestors(path, roles, signal)
    return roles.map(role => ({ role, inherited: inheritedPermissions(role, known) }))
  })
}

/** All that the roles of a page extend, at any distance: a request for each role that is on another page and extended from this one. */
async function withAncestors(
  path: Place['path'],
  roles: readonly TenantRole[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, TenantRole>> {
  const known = new Map(roles.map(role => [role.key, role]))
  // Above one that is extended are all that it extends, so the ancestors of one child of each will do.
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
