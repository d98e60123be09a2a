/**
 * Grants that a session gives: the member's own grants, those of its groups, and those of the settings
 * (administration.md S12, M2).
 */
import type { RecordReader } from '#management/drafts/record-reader.ts'
import type { MemberGroupRecord, MemberRecord, SessionRecord } from '#entities/organization-records.ts'
import type { AccessGrant } from '#model/principal.ts'
import type { OwnerSettings } from '#management/scopes/member-settings.ts'
import { lists } from '#store/keyspace/keyspace.ts'

/** A grant with its origin. */
export interface EffectiveGrant {
  readonly grant: AccessGrant
  readonly via: 'own' | 'group' | 'settings'
}

const OWNER: AccessGrant = { projectId: null, environmentId: null, accessLevel: 'admin', delegation: null }

/** Groups of members by the name of the group at the issuer. O(groups). */
export function memberGroupsByName(records: RecordReader): ReadonlyMap<string, MemberGroupRecord> {
  const groups = records.list('member-group', lists.all('member-group'))
  return new Map(Array.from(groups, group => [group.group, group]))
}

/** The group of members with this name at the issuer, or null. O(1). */
export function memberGroupNamed(records: RecordReader, name: string): MemberGroupRecord | null {
  for (const group of records.list('member-group', lists.memberGroupsNamed(name))) {
    if (group.group === name) return group
  }
  return null
}

/** Groups of members that the session has, by name. O(groups of the session). */
export function memberGroupsOf(
  records: RecordReader,
  { groups }: Pick<SessionRecord, 'groups'>,
): ReadonlyMap<string, MemberGroupRecord> {
  const found = groups.map(name => [name, memberGroupNamed(records, name)] as const)
  return new Map(found.filter((each): each is [string, MemberGroupRecord] => each[1] !== null))
}

/**
 * Grants of a member who is in `groups`. Grants only add, so that a grant of level `no_access` gives nothing.
 * O(grants).
 */
export function effectiveGrants(
  member: Pick<MemberRecord, 'subject' | 'grants'>,
  { groups }: Pick<SessionRecord, 'groups'>,
  groupsByName: ReadonlyMap<string, MemberGroupRecord>,
  settings: OwnerSettings,
): EffectiveGrant[] {
  const found: EffectiveGrant[] = member.grants.map(grant => ({ grant, via: 'own' }))
  for (const name of groups) {
    for (const grant of groupsByName.get(name)?.grants ?? []) found.push({ grant, via: 'group' })
  }
  const isOwner = member.subject !== null && settings.owners.has(member.subject)
  if (isOwner || groups.some(name => settings.ownerGroups.has(name))) {
    found.push({ grant: OWNER, via: 'settings' })
  }
  return found.filter(({ grant }) => grant.accessLevel !== 'no_access')
}
