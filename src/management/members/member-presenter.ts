/** Members and member groups as responses show them. */
import { presentInstant, presentTimes } from '#management/drafts/context.ts'
import { type OrganizationReadContext, requireOrganization } from '#management/scopes/organization-context.ts'
import type { MemberSettings } from '#management/scopes/member-settings.ts'
import type { AccessGrant } from '#model/principal.ts'
import type { Member, MemberGroup } from '#model/wire/organization/member.ts'
import type { Invitation, MemberGroupRecord, MemberRecord } from '#entities/organization-records.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { type EffectiveGrant, effectiveGrants, memberGroupsOf, settingsGrants } from './effective-grants.ts'
import { presentPermission } from './permissions.ts'
import { sees } from './visible-grants.ts'

/** Names of the groups of all sessions of a member. */
export function groupNamesOf({ records }: OrganizationReadContext, { id }: MemberRecord): readonly string[] {
  const sessions = [...records.list('session', lists.sessionsOfMember(id))]
  return [...new Set(sessions.flatMap(({ groups }) => groups))]
}

/** All grants of a member, whether the caller sees them or not, and whether they count or not. */
export function allGrants(
  context: OrganizationReadContext,
  member: MemberRecord,
  { owners }: MemberSettings,
): AccessGrant[] {
  const groups = groupNamesOf(context, member)
  const ofGroups = memberGroupsOf(context.records, { groups }).flatMap(({ grants }) => grants)
  return [
    ...member.grants,
    ...ofGroups.filter(({ accessLevel }) => accessLevel !== 'no_access'),
    ...settingsGrants(member, { groups }, owners),
  ]
}

/** The grants of a member that the caller sees, as far as they count. */
function shownGrants(context: OrganizationReadContext, member: MemberRecord, { owners }: MemberSettings) {
  const groups = groupNamesOf(context, member)
  const records = memberGroupsOf(context.records, { groups })
  const { grants, areCut } = effectiveGrants(member, { groups, records }, owners)
  const powerless = member.grants.filter(({ accessLevel }) => accessLevel === 'no_access')
  const all: EffectiveGrant[] = [...powerless.map(grant => ({ grant, via: 'own' as const })), ...grants]
  const shown = all.filter(({ grant }) => sees(context, grant))
  return {
    grants: shown.map(grant => presentPermission(context, grant)),
    ...(areCut && { grants_cut: true }),
  }
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
    ...shownGrants(context, member, settings),
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
