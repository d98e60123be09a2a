/**
 * Member groups: permissions for all members whom the issuer puts into a group (administration.md M5, M8,
 * M11).
 */
import { matchesSearch, pageOfLists } from '#management/paging/paging.ts'
import {
  type OrganizationReadContext,
  type OrganizationWriteContext,
  requireCapacity,
} from '#management/scopes/organization-context.ts'
import { AuthzError } from '#model/errors.ts'
import { idFrom } from '#model/instance-reference.ts'
import { MEMBER_GROUPS_MAX } from '#model/limits.ts'
import type {
  MemberGroup,
  MemberGroupContent,
  MemberGroupPath,
  MemberGroupsQuery,
} from '#model/wire/organization/member.ts'
import type { MemberGroupRecord } from '#entities/organization-records.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'
import { concerns, ON_ORGANIZATION, requireAdminOn, requireManager, requireMembers } from './authority.ts'
import { memberGroupNamed } from './effective-grants.ts'
import { presentMemberGroup } from './member-presenter.ts'
import { wantedGrants } from './permissions.ts'

/** Lists member groups as a bare array in every case. Without sign-in, there are none. */
export function* listMemberGroups(
  context: OrganizationReadContext,
  input: { readonly query: MemberGroupsQuery },
): Resumable<MemberGroup[]> {
  if (context.members === null) return []
  const { search } = input.query
  const page = yield* pageOfLists(context.records, {
    kind: 'member-group',
    lists: [lists.all('member-group')],
    paging: input.query,
    matches: group =>
      isVisible(context, group) && (search === undefined || matchesSearch(search, [group.group])),
    hasTotal: false,
    present: group => presentMemberGroup(context, group),
  })
  return page.data
}

export function getMemberGroup(
  context: OrganizationReadContext,
  input: { readonly params: MemberGroupPath },
): MemberGroup {
  return presentMemberGroup(context, requireMemberGroup(context, input.params))
}

export function createMemberGroup(
  context: OrganizationWriteContext,
  input: { readonly body: MemberGroupContent },
): MemberGroup {
  requireMembers(context)
  requireManager(context.principal)
  const { records, now } = context
  const { group: name, permissions } = input.body
  const grants = wantedGrants(context, permissions)
  requireUnused(context, name)
  const count = records.count(lists.all('member-group'))
  requireCapacity(context, count, { what: 'member groups', maximum: MEMBER_GROUPS_MAX })
  const id = context.newId()
  const group: MemberGroupRecord = {
    kind: 'member-group',
    id,
    group: name,
    grants,
    createdAt: now,
    updatedAt: now,
  }
  records.put(group)
  return presentMemberGroup(context, group)
}

/** Replaces name and permissions of a group. The caller must hold `admin` on the former objects as well. */
export function replaceMemberGroup(
  context: OrganizationWriteContext,
  input: { readonly params: MemberGroupPath; readonly body: MemberGroupContent },
): MemberGroup {
  const group = requireAdministered(context, input.params)
  const { group: name, permissions } = input.body
  const grants = wantedGrants(context, permissions)
  if (name !== group.group) {
    requireUnused(context, name)
    requireCapacity(context, 0, { what: 'member groups', maximum: MEMBER_GROUPS_MAX })
  }
  const changed: MemberGroupRecord = { ...group, group: name, grants, updatedAt: context.now }
  context.records.put(changed)
  return presentMemberGroup(context, changed)
}

export function deleteMemberGroup(
  context: OrganizationWriteContext,
  input: { readonly params: MemberGroupPath },
): void {
  context.records.delete(requireAdministered(context, input.params))
}

/** The group of a path, if the caller holds `admin` on each of its objects. */
function requireAdministered(context: OrganizationWriteContext, path: MemberGroupPath): MemberGroupRecord {
  requireMembers(context)
  requireManager(context.principal)
  const group = requireMemberGroup(context, path)
  requireAdminOn(context.principal, group.grants.length === 0 ? [ON_ORGANIZATION] : group.grants)
  return group
}

/** Finds a group by id. Throws `NOT_FOUND`, including for groups that the caller must not see. */
function requireMemberGroup(
  context: OrganizationReadContext,
  { member_group_id: reference }: MemberGroupPath,
): MemberGroupRecord {
  const id = context.members === null ? null : idFrom(reference)
  const group = id === null ? null : context.records.get('member-group', rowKeys.memberGroup(id))
  if (group && isVisible(context, group)) return group
  throw new AuthzError('NOT_FOUND', `there is no member group ${JSON.stringify(reference)}`)
}

/** Whether the group has a permission that concerns what the caller reaches. */
function isVisible({ principal }: OrganizationReadContext, { grants }: MemberGroupRecord): boolean {
  return principal.kind === 'organization' || grants.some(grant => concerns(principal, grant))
}

/** Throws `DUPLICATE_ENTITY` if the group of the issuer has permissions already. */
function requireUnused({ records }: OrganizationWriteContext, name: string): void {
  if (memberGroupNamed(records, name) === null) return
  throw new AuthzError('DUPLICATE_ENTITY', `there is a member group ${JSON.stringify(name)} already`)
}
