/**
 * Deletes members who have no own grants and have not signed in for a long time, and invitations that expired
 * a long time ago (administration.md M10).
 */
import type { OrganizationWriteContext } from '#management/scopes/organization-context.ts'
import type { Instant } from '#entities/instant.ts'
import { EXPIRED_INVITATION_MS, UNGRANTED_MEMBER_MS } from '#model/limits.ts'
import { type Resumable, YIELD_ROWS } from '#scheduling/resumable.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'
import type { MemberRecord } from '#entities/organization-records.ts'
import { endSessionsOfMember } from './session-ends.ts'

/** Whether the member is an invitation that can no longer be accepted. */
export function hasExpired({ invitation }: MemberRecord, now: Instant): boolean {
  return invitation !== null && invitation.expiresAt <= now
}

/** Returns the number of deleted members. O(members). */
export function* removeLapsedMembers(context: OrganizationWriteContext): Resumable<number> {
  const { records, now } = context
  const isLapsed = ({ grants, invitation, lastSignInAt, updatedAt }: MemberRecord): boolean =>
    invitation === null
      ? grants.length === 0 && (lastSignInAt ?? updatedAt) + UNGRANTED_MEMBER_MS <= now
      : invitation.expiresAt + EXPIRED_INVITATION_MS <= now
  const lapsed: string[] = []
  let rows = 0
  for (const member of records.list('member', lists.all('member'))) {
    if (isLapsed(member)) lapsed.push(member.id)
    if (++rows % YIELD_ROWS === 0) yield
  }
  let removed = 0
  for (const id of lapsed) {
    const member = records.get('member', rowKeys.member(id))
    if (member === null || !isLapsed(member)) continue
    endSessionsOfMember(context, id)
    records.delete(member)
    if (++removed % YIELD_ROWS === 0) yield
  }
  return removed
}
