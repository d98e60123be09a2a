/**
 * Grants that a session gives: the member's own grants, those of its groups, and those of the settings
 * (administration.md S12, S15, M2).
 */
import type { RecordReader } from '#management/drafts/record-reader.ts'
import type { MemberGroupRecord, MemberRecord, SessionRecord } from '#entities/organization-records.ts'
import { countedGrants } from '#model/members/session-grants.ts'
import type { AccessGrant } from '#model/principal.ts'
import type { OwnerSettings } from '#management/scopes/member-settings.ts'
import { lists } from '#store/keyspace/keyspace.ts'

/** A grant with its origin. */
export interface EffectiveGrant {
  readonly grant: AccessGrant
  readonly via: 'own' | 'group' | 'settings'
}

export interface EffectiveGrants {
  readonly grants: readonly EffectiveGrant[]
  /** Whether some grants of groups do not count, because there are too many. */
  readonly areCut: boolean
}

const OWNER: AccessGrant = { projectId: null, environmentId: null, accessLevel: 'admin', delegation: null }

/** The group of members with this name at the issuer, or null. O(1). */
export function memberGroupNamed(records: RecordReader, name: string): MemberGroupRecord | null {
  for (const group of records.list('member-group', lists.memberGroupsNamed(name))) {
    if (group.group === name) return group
  }
  return null
}

/** Groups of members that the session has, in the order of the session. O(groups of the session). */
export function memberGroupsOf(
  records: RecordReader,
  { groups }: Pick<SessionRecord, 'groups'>,
): MemberGroupRecord[] {
  return groups.map(name => memberGroupNamed(records, name)).filter(group => group !== null)
}

/** Grants of the settings for a member who is in these groups. */
export function settingsGrants(
  { subject }: Pick<MemberRecord, 'subject'>,
  { groups }: Pick<SessionRecord, 'groups'>,
  { owners, ownerGroups }: OwnerSettings,
): readonly AccessGrant[] {
  const isOwner = (subject !== null && owners.has(subject)) || groups.some(name => ownerGroups.has(name))
  return isOwner ? [OWNER] : []
}

/**
 * Grants of a member who is in `groups`, of which `records` are those with permissions. Grants only add, so
 * that a grant of level `no_access` gives nothing. O(grants).
 */
export function effectiveGrants(
  member: Pick<MemberRecord, 'subject' | 'grants'>,
  { groups, records }: { readonly groups: readonly string[]; readonly records: readonly MemberGroupRecord[] },
  settings: OwnerSettings,
): EffectiveGrants {
  const { grants, areCut } = countedGrants(records.map(group => group.grants))
  const all: EffectiveGrant[] = [
    ...effectiveOwnGrants(member).map(grant => ({ grant, via: 'own' as const })),
    ...grants.map(grant => ({ grant, via: 'group' as const })),
    ...settingsGrants(member, { groups }, settings).map(grant => ({ grant, via: 'settings' as const })),
  ]
  return { grants: all, areCut }
}

/** The own grants of a member that give something. */
export function effectiveOwnGrants({ grants }: Pick<MemberRecord, 'grants'>): AccessGrant[] {
  return grants.filter(({ accessLevel }) => accessLevel !== 'no_access')
}
