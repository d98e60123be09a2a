/** Invitations of members by e-mail address (administration.md M4). The service sends no mail. */
import {
  type OrganizationWriteContext,
  requireCapacity,
  requireOrganization,
} from '#management/scopes/organization-context.ts'
import type { MemberSettings } from '#management/scopes/member-settings.ts'
import { AuthzError } from '#model/errors.ts'
import { INVITATION_MS, MEMBERS_MAX, OPEN_INVITATIONS_MAX } from '#model/limits.ts'
import type { AccessGrant } from '#model/principal.ts'
import type { MemberRecord } from '#entities/organization-records.ts'
import { type Resumable, YIELD_ROWS } from '#scheduling/resumable.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'
import { holdsAdminOn, requireOther } from './authority.ts'
import { isSameEmail } from './identity.ts'
import { newMember } from './sign-in.ts'

/**
 * Invites an address. If the address has an invitation whose grants the caller administers, the new
 * invitation replaces its link and its grants. Grants of other administrators stay in their own invitation.
 */
export function* invited(
  context: OrganizationWriteContext,
  {
    email,
    grants,
    settings,
  }: {
    readonly email: string
    readonly grants: readonly AccessGrant[]
    readonly settings: MemberSettings
  },
): Resumable<{ readonly member: MemberRecord; readonly url: string }> {
  const { records, principal, secrets, now } = context
  const { session } = principal
  const own = session && records.get('member', rowKeys.member(session.memberId))
  if (own?.email && isSameEmail(own.email, email)) requireOther(principal, own.id)
  // The row of the organization is written, so that concurrent invitations do not miss each other.
  records.touch(requireOrganization(records))
  const former = formerOf(context, email)
  yield* requireOpenFew(context, former)
  const count = former === null ? records.count(lists.all('member')) : 0
  requireCapacity(context, count, { what: 'members', maximum: MEMBERS_MAX })
  const code = secrets.newToken()
  const times = { createdAt: now, expiresAt: now + INVITATION_MS }
  const member: MemberRecord = {
    ...(former ?? newMember(context)),
    email,
    grants,
    invitation: { id: context.newId(), codeHash: secrets.hash(code), ...times },
    updatedAt: now,
  }
  records.put(member)
  return { member, url: `${settings.publicUrl}/console#/invite/${code}` }
}

/** The invited member with this address whose grants the caller administers; null if there is none. */
function formerOf({ records, principal }: OrganizationWriteContext, email: string): MemberRecord | null {
  for (const member of records.list('member', lists.membersOfEmail(email))) {
    if (member.invitation === null || !isSameEmail(member.email ?? '', email)) continue
    if (member.grants.every(grant => holdsAdminOn(principal, grant))) return member
  }
  return null
}

/** Throws `LIMIT_EXCEEDED` if there are too many invitations that can be accepted. O(invitations) if so. */
function* requireOpenFew(
  { records, now }: OrganizationWriteContext,
  former: MemberRecord | null,
): Resumable<void> {
  if (records.count(lists.invitedMembers()) < OPEN_INVITATIONS_MAX) return
  let open = 0
  let rows = 0
  for (const { id, invitation } of records.list('member', lists.invitedMembers())) {
    if (invitation && invitation.expiresAt > now && id !== former?.id) open += 1
    if (++rows % YIELD_ROWS === 0) yield
  }
  if (open < OPEN_INVITATIONS_MAX) return
  const message = `an organization has at most ${OPEN_INVITATIONS_MAX} open invitations: remove some first`
  throw new AuthzError('LIMIT_EXCEEDED', message)
}
