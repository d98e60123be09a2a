/**
 * Members that a caller sees: those with a grant that it sees (administration.md M8). Callers of the
 * organization see all members.
 */
import type { MemberRecord } from '#entities/organization-records.ts'
import type { MemberSettings } from '#management/scopes/member-settings.ts'
import type { GrantPlace } from '#management/scopes/named-objects.ts'
import type { OrganizationReadContext } from '#management/scopes/organization-context.ts'
import type { AccessGrant } from '#model/principal.ts'
import { memberGroupNamed, settingsGrants } from './effective-grants.ts'
import { isAlong } from './grants.ts'
import { groupNamesOf } from './member-presenter.ts'
import { sees } from './visible-grants.ts'

/**
 * Whether the caller sees a member. `place` narrows this to the grants that concern an object. The result can
 * be used for many members: it examines each group once in each state of the records.
 */
export function memberVisibility(
  context: OrganizationReadContext,
  { owners }: MemberSettings,
  place: GrantPlace | null = null,
): (member: MemberRecord) => boolean {
  const { records } = context
  if (seesAll(context, place)) return () => true
  const isShown = (grant: AccessGrant): boolean =>
    sees(context, grant) && (place === null || isAlong(grant, place))
  const known = new Map<string, boolean>()
  let sequence = records.sequence
  const isGroupShown = (name: string): boolean => {
    if (sequence !== records.sequence) known.clear()
    sequence = records.sequence
    const before = known.get(name)
    if (before !== undefined) return before
    const grants = memberGroupNamed(records, name)?.grants ?? []
    const shown = grants.some(grant => grant.accessLevel !== 'no_access' && isShown(grant))
    known.set(name, shown)
    return shown
  }
  return member => {
    if (member.grants.some(isShown)) return true
    const groups = groupNamesOf(context, member)
    return settingsGrants(member, { groups }, owners).some(isShown) || groups.some(isGroupShown)
  }
}

/** Whether all members are visible. */
export function seesAll({ principal }: OrganizationReadContext, place: GrantPlace | null): boolean {
  return principal.kind === 'organization' && place === null
}
