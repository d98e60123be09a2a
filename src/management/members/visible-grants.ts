/** Grants of members and member groups that a caller sees (administration.md M8). */
import type { RecordReader } from '#management/drafts/record-reader.ts'
import type { GrantPlace } from '#management/scopes/named-objects.ts'
import type { OrganizationReadContext } from '#management/scopes/organization-context.ts'
import { type AccessGrant, coversProject, type Principal, reaches } from '#model/principal.ts'
import { rowKeys } from '#store/keyspace/keyspace.ts'
import { effectiveGrants, memberGroupsOf } from './effective-grants.ts'
import { isAlong } from './grants.ts'

/**
 * Whether the caller sees a grant on this object: the caller reaches it, an object above it, or one inside
 * it. A session sees the same in each request, so that entity tags of reads match in changes.
 */
export function sees(context: OrganizationReadContext, place: GrantPlace): boolean {
  if (concerns(context.principal, place)) return true
  return readableGrants(context).some(grant => isAlong(grant, place))
}

function concerns(principal: Principal, { projectId, environmentId }: GrantPlace): boolean {
  if (projectId === null) return true
  switch (principal.kind) {
    case 'organization':
      return true
    case 'project':
      return principal.projectId === projectId
    case 'environment':
      return (
        principal.projectId === projectId &&
        (environmentId === null || environmentId === principal.environmentId)
      )
    case 'places':
      if (coversProject(principal, projectId)) return true
      return principal.environments.some(
        place =>
          place.projectId === projectId && (environmentId === null || place.environmentId === environmentId),
      )
  }
}

/** Grants of sessions, each found once in the records of an operation. */
const found = new WeakMap<RecordReader, readonly AccessGrant[]>()

/**
 * Grants of the caller's session with which it can read members. The principal of a change contains only the
 * objects on which the session has the level of the change.
 */
function readableGrants({ records, principal, members }: OrganizationReadContext): readonly AccessGrant[] {
  const caller = principal.session
  if (caller === undefined || members === null) return []
  const known = found.get(records)
  if (known) return known
  const session = records.get('session', rowKeys.session(caller.sessionId))
  const member = session && records.get('member', rowKeys.member(session.memberId))
  const groups = session?.groups ?? []
  const all = member
    ? effectiveGrants(member, { groups, records: memberGroupsOf(records, { groups }) }, members.owners).grants
    : []
  const readable = all
    .map(({ grant }) => grant)
    .filter(({ accessLevel, delegation }) => delegation === null && reaches(accessLevel, 'read'))
  found.set(records, readable)
  return readable
}
