/** Members and member groups as responses show them. */
import { presentInstant, presentTimes } from '#management/drafts/context.ts'
import { type OrganizationReadContext, requireOrganization } from '#management/scopes/organization-context.ts'
import type { MemberSettings } from '#management/scopes/member-settings.ts'
import type { AccessGrant } from '#model/principal.ts'
import type { Member, MemberGroup } from '#model/wire/organization/member.ts'
import type { Invitation, MemberGroupRecord, MemberRecord } from '#entities/organization-records.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { type EffectiveGrant, effectiveGrants, memberGroupsOf } from './effective-grants.ts'
import { presentPermission } from './permissions.ts'
import { sees } from './visible-grants.ts'

/** Grants of a member that the caller sees. */
export function shownGrants(
  context: OrganizationReadContext,
  member: MemberRecord,
  settings: MemberSettings,
): EffectiveGrant[] {
  return grantsOf(context, member, settings).filter(({ grant }) => sees(context, grant))
}

/** All grants of a member, whether the caller reaches them or not. */
export function allGrants(
  context: OrganizationReadContext,
  member: MemberRecord,
  settings: MemberSettings,
): AccessGrant[] {
  return grantsOf(context, member, settings).map(({ grant }) => grant)
}

/** The own grants of a member, those of the groups of its running sessions, and those of the settings. */
function grantsOf(
  { records }: OrganizationReadContext,
  member: MemberRecord,
  settings: MemberSettings,
): EffectiveGrant[] {
  const sessions = [...records.list('session', lists.sessionsOfMember(member.id))]
  const groups = [...new Set(sessions.flatMap(session => session.groups))]
  const powerless = member.grants.filter(({ accessLevel }) => accessLevel === 'no_access')
  return [
    ...powerless.map(grant => ({ grant, via: 'own' as const })),
    ...effectiveGrants(member, { groups }, memberGroupsOf(records, { groups }), settings.owners),
  ]
}

/** `invitationUrl`: the link of the invitation, which only the response that creates it contains. */
export function presentMember(
  context: OrganizationReadContext,
  member: MemberRecord,
  settings: MemberSettings,
  invitationUrl: string | null = null,
): Member {
  const { email, isEmailVerified, issuer, subject, invitation, lastSignInAt } = member
  return {
    id: member.id,
    email,
    email_verified: isEmailVerified,
    name: member.name,
    given_name: member.givenName,
    family_name: member.familyName,
    picture: null,
    is_superuser: false,
    is_onboarding: false,
    onboarding_step: 'done',
    created_at: presentInstant(member.createdAt),
    last_login: lastSignInAt === null ? null : presentInstant(lastSignInAt),
    last_ip: '0.0.0.0',
    logins_count: member.signInCount,
    identities:
      issuer === null || subject === null
        ? []
        : [
            {
              user_id: subject,
              provider: issuer,
              sub: subject,
              email,
              email_verified: isEmailVerified,
              auth0_info: {},
            },
          ],
    invite: invitation && presentInvitation(context, member, invitation, invitationUrl),
    settings: member.settings ?? {},
    grants: shownGrants(context, member, settings).map(grant => presentPermission(context, grant)),
  }
}

function presentInvitation(
  { records, now }: OrganizationReadContext,
  { id: memberId, email }: MemberRecord,
  { id, createdAt, expiresAt }: Invitation,
  url: string | null,
): NonNullable<Member['invite']> {
  const isOpen = expiresAt > now
  return {
    id,
    organization_id: requireOrganization(records).id,
    member_id: memberId,
    email: email ?? '',
    invite_code: id,
    created_at: presentInstant(createdAt),
    expires_at: presentInstant(expiresAt),
    status: isOpen ? 'pending' : 'failed',
    failed_reason: isOpen ? null : 'the invitation has expired: invite the person again',
    ...(url !== null && { invite_url: url }),
  }
}

export function presentMemberGroup(context: OrganizationReadContext, group: MemberGroupRecord): MemberGroup {
  const shown = group.grants.filter(grant => sees(context, grant))
  return {
    id: group.id,
    group: group.group,
    ...presentTimes(group),
    permissions: shown.map(grant => presentPermission(context, { grant, via: 'own' })),
  }
}
