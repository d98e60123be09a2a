/**
 * Members of a group (native.md B.3): users with a direct `member` assignment on it, regardless of how it was
 * created.
 */
import type { ReadContext, WriteContext } from '#management/drafts/context.ts'
import { findRole, requireTenant, requireUser } from '#management/drafts/lookups.ts'
import { type Page, pageFrom, pageOfLists } from '#management/paging/paging.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import {
  findAssignment,
  grantAssignment,
  removeAssignment,
  tenantOfInstance,
} from '#management/facts/role-assignments.ts'
import { checkExpiry, expiresAtIn, presentExpiry } from '#management/drafts/fact-expiry.ts'
import { assert } from '#model/assert.ts'
import { AuthzError } from '#model/errors.ts'
import type { Paging } from '#model/wire/paging.ts'
import type { GroupMemberBody, GroupRead, GroupUser } from '#entities/group.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { ensureMemberRole, MEMBER_ROLE, requireGroup } from './group-lookup.ts'
import { presentGroup } from './group-presenter.ts'

interface MemberParams {
  readonly group_instance_key: string
  readonly user_id: string
}

/**
 * Adds a user to a group. If the user is a member already, only the expiration time of the membership is
 * updated (native.md D-4).
 */
export function* addGroupMember(
  context: WriteContext,
  input: { readonly params: MemberParams; readonly body: GroupMemberBody },
): Resumable<GroupRead> {
  checkExpiry(context, input.body, ['body'])
  const { records } = context
  const group = requireGroup(records, input.params.group_instance_key)
  const user = requireUser(records, input.params.user_id)
  const named = requireTenant(records, input.body.tenant)
  const tenant = tenantOfInstance(context, group.instance, named)
  const parts = { user, role: ensureMemberRole(context, group.type), tenant, instance: group.instance }
  grantAssignment(context, parts, expiresAtIn(input.body))
  return yield* presentGroup(context, group)
}

export function removeGroupMember(
  context: WriteContext,
  input: {
    readonly params: MemberParams
    readonly body: { readonly tenant?: string | null } | undefined
  },
): void {
  const { records } = context
  const group = requireGroup(records, input.params.group_instance_key)
  const user = requireUser(records, input.params.user_id)
  const named = input.body?.tenant ? requireTenant(records, input.body.tenant) : null
  const role = findRole(records, group.type, MEMBER_ROLE)
  const tenant = tenantOfInstance(context, group.instance, named)
  const parts = role && { user, role, tenant, instance: group.instance }
  const assignment = parts && findAssignment(context, parts)
  if (!assignment) {
    throw new AuthzError('NOT_FOUND', `user ${JSON.stringify(user.key)} is not a member of this group`)
  }
  removeAssignment(context, assignment, parts)
}

export function* listGroupUsers(
  context: ReadContext,
  input: { readonly params: { readonly group_instance_key: string }; readonly query: Paging },
): Resumable<Page<GroupUser>> {
  const { records } = context
  const group = requireGroup(records, input.params.group_instance_key)
  const role = findRole(records, group.type, MEMBER_ROLE)
  if (!role) return pageFrom<GroupUser>([], 0, 1)
  return yield* pageOfLists(records, {
    kind: 'assignment',
    lists: [lists.holders(group.instance.id, role.id)],
    paging: input.query,
    matches: null,
    present: assignment => {
      const user = records.byId('user', assignment.userId)
      assert(user, 'the user of an assignment exists')
      return { id: user.id, key: user.key, ...presentExpiry(assignment) }
    },
  })
}

export const reads = { listGroupUsers }

export const writes = { addGroupMember, removeGroupMember }
