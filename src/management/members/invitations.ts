/** Invitations of members by e-mail address (administration.md M4). The service sends no mail. */
import type { OrganizationWriteContext } from '#management/scopes/organization-context.ts'
import type { MemberSettings } from '#management/scopes/member-settings.ts'
import { INVITATION_MS } from '#model/limits.ts'
import type { AccessGrant } from '#model/principal.ts'
import type { MemberRecord } from '#entities/organization-records.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'
import { holdsAdminOn, requireOther } from './authority.ts'
import { isSameEmail } from './identity.ts'
import {
  requireInvitationCapacity,
  requireMemberCapacity,
  requireProjectCapacity,
} from './member-capacity.ts'
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
  const former = formerOf(context, email)
  requireProjectCapacity(principal, { before: former?.grants ?? [], after: grants })
  yield* requireInvitationCapacity(context, { former, added: grants })
  yield* requireMemberCapacity(context, { former, added: grants })
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
