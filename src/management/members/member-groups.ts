/**
 * Member groups: permissions for all members whom the issuer puts into a group (administration.md M5, M8,
 * M11). Administrators of different objects give permissions to the same group. Each of them sees and changes
 * only those in its reach.
 */
import { matchesSearch, pageOfLists } from '#management/paging/paging.ts'
import type {
  OrganizationReadContext,
  OrganizationWriteContext,
} from '#management/scopes/organization-context.ts'
import { AuthzError } from '#model/errors.ts'
import { idFrom } from '#model/instance-reference.ts'
import type {
  MemberGroup,
  MemberGroupContent,
  MemberGroupPath,
  MemberGroupsQuery,
} from '#model/wire/organization/member.ts'
import type { MemberGroupRecord } from '#entities/organization-records.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'
import type { AccessGrant } from '#model/principal.ts'
import { holdsAdminOn, notHeld, ON_ORGANIZATION, requireManager, requireMembers } from './authority.ts'
import { memberGroupNamed } from './effective-grants.ts'
import { isSamePlace } from './grants.ts'
import { requireGroupCapacity, requireProjectCapacity } from './member-capacity.ts'
import { presentMemberGroup } from './member-presenter.ts'
import { requireFew, wantedGrants } from './permissions.ts'
import { sees } from './visible-grants.ts'

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

/**
 * Gives a group of the issuer permissions. Other administrators can have given it permissions on other
 * objects. These stay, whether the caller sees them or not.
 */
export function createMemberGroup(
  context: OrganizationWriteContext,
  input: { readonly body: MemberGroupContent },
): MemberGroup {
  requireMembers(context)
  requireManager(context.principal)
  const { group: name, permissions } = input.body
  const grants = wantedGrants(context, permissions)
  const former = memberGroupNamed(context.records, name)
  const before = former?.grants ?? []
  if (grants.some(grant => before.some(other => isSamePlace(grant, other)))) {
    const message = `the member group ${JSON.stringify(name)} has a permission on one of these objects already: replace the permissions of the group`
    throw new AuthzError('DUPLICATE_ENTITY', message)
  }
  const isNew = former === null
  const group = former ?? newGroup(context, name)
  return presentMemberGroup(context, changed(context, group, [...before, ...grants], { isNew }))
}

function newGroup({ newId, now }: OrganizationWriteContext, group: string): MemberGroupRecord {
  return { kind: 'member-group', id: newId(), group, grants: [], createdAt: now, updatedAt: now }
}

/**
 * Replaces the permissions of a group on the objects on which the caller holds `admin`. Other permissions
 * stay. The request can contain those that the caller sees, if it does not change them.
 */
export function replaceMemberGroup(
  context: OrganizationWriteContext,
  input: { readonly params: MemberGroupPath; readonly body: MemberGroupContent },
): MemberGroup {
  const { group, others } = requireManaged(context, input.params)
  const { group: name, permissions } = input.body
  const unchanged = others.filter(grant => sees(context, grant))
  const grants = [...others, ...wantedGrants(context, permissions, unchanged)]
  if (name !== group.group) requireRenaming(context, name)
  return presentMemberGroup(context, changed(context, { ...group, group: name }, grants, { isNew: false }))
}

/**
 * Removes the permissions of a group on the objects on which the caller holds `admin`. Deletes a group
 * without other permissions.
 */
export function deleteMemberGroup(
  context: OrganizationWriteContext,
  input: { readonly params: MemberGroupPath },
): void {
  const { group, others } = requireManaged(context, input.params)
  const isOfOrganization = holdsAdminOn(context.principal, ON_ORGANIZATION)
  if (others.length === group.grants.length && !isOfOrganization) throw notHeld()
  if (others.length === 0) context.records.delete(group)
  else context.records.put({ ...group, grants: others, updatedAt: context.now })
}

/** Stores other permissions of a group. Throws `LIMIT_EXCEEDED`. */
function changed(
  context: OrganizationWriteContext,
  group: MemberGroupRecord,
  grants: readonly AccessGrant[],
  { isNew }: { readonly isNew: boolean },
): MemberGroupRecord {
  requireFew(grants)
  requireProjectCapacity(context.principal, { before: group.grants, after: grants })
  requireGroupCapacity(context, { isNew, added: grants, before: group.grants })
  const stored: MemberGroupRecord = { ...group, grants, updatedAt: context.now }
  context.records.put(stored)
  return stored
}

/** The group of a path, and those of its permissions on whose objects the caller does not hold `admin`. */
function requireManaged(context: OrganizationWriteContext, path: MemberGroupPath) {
  requireMembers(context)
  requireManager(context.principal)
  const group = requireMemberGroup(context, path)
  return { group, others: group.grants.filter(grant => !holdsAdminOn(context.principal, grant)) }
}

/**
 * Throws unless the caller can give a group this name. Only the organization can: the name of a group is also
 * that of permissions that other callers do not see.
 */
function requireRenaming({ records, principal }: OrganizationWriteContext, name: string): void {
  if (!holdsAdminOn(principal, ON_ORGANIZATION)) {
    const message =
      'another name of a member group needs access_level "admin" on the organization: create another group instead'
    throw new AuthzError('FORBIDDEN', message)
  }
  if (memberGroupNamed(records, name) === null) return
  throw new AuthzError('DUPLICATE_ENTITY', `there is a member group ${JSON.stringify(name)} already`)
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

/** Whether the group has a permission that the caller sees. */
function isVisible(context: OrganizationReadContext, { grants }: MemberGroupRecord): boolean {
  return context.principal.kind === 'organization' || grants.some(grant => sees(context, grant))
}
