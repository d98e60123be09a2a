/**
 * Grants on projects and environments that are deleted, or whose environment an import replaces
 * (administration.md M10). A command that adds a grant writes the row of its object, so that none is missed.
 */
import type { OrganizationWriteContext } from '#management/scopes/organization-context.ts'
import type { AccessGrant } from '#model/principal.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { lists } from '#store/keyspace/keyspace.ts'

/**
 * Removes all grants on a project, with its environments, or on one environment. A member without other
 * grants is kept until it has not signed in for a long time, unless it has never signed in.
 */
export function removeGrantsOn(context: OrganizationWriteContext, placeId: string): Resumable<void> {
  return changeGrantsOn(context, placeId, ({ projectId, environmentId }) =>
    projectId === placeId || environmentId === placeId ? 'remove' : 'keep',
  )
}

/**
 * Moves all grants on an environment to the one that replaces it, with a new id. Delegated grants are
 * removed, because the new environment has none of their tenants (administration.md D1).
 */
export function moveGrantsOn(
  context: OrganizationWriteContext,
  { from, to }: { readonly from: string; readonly to: string },
): Resumable<void> {
  return changeGrantsOn(context, from, grant => {
    if (grant.environmentId !== from) return 'keep'
    return grant.delegation === null ? { ...grant, environmentId: to } : 'remove'
  })
}

type Change = (grant: AccessGrant) => AccessGrant | 'keep' | 'remove'

function* changeGrantsOn(
  { records, now }: OrganizationWriteContext,
  placeId: string,
  change: Change,
): Resumable<void> {
  yield* records.visit('member', lists.membersGrantedOn(placeId), member => {
    const grants = changed(member.grants, change)
    // Otherwise, administrators of a project could leave behind any number of members and groups.
    if (grants.length === 0 && member.lastSignInAt === null) records.delete(member)
    else records.put({ ...member, grants, updatedAt: now })
  })
  yield* records.visit('member-group', lists.memberGroupsGrantedOn(placeId), group => {
    const grants = changed(group.grants, change)
    if (grants.length === 0) records.delete(group)
    else records.put({ ...group, grants, updatedAt: now })
  })
}

function changed(grants: readonly AccessGrant[], change: Change): AccessGrant[] {
  return grants.flatMap(grant => {
    const wanted = change(grant)
    if (wanted === 'keep') return [grant]
    return wanted === 'remove' ? [] : [wanted]
  })
}
