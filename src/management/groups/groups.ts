/**
 * Groups (native.md B.3, C.3): instances of a group type, in one tenant. The members of a group are the users
 * who hold the role `member` on it. This file creates, reads, lists and removes groups; members, roles and
 * nesting have separate files.
 */
import type { ReadContext, WriteContext } from '#management/drafts/context.ts'
import { tenantFilter, typeFilter } from '#management/paging/fact-filters.ts'
import { findRole, findType, findUser, requireTenant } from '#management/drafts/lookups.ts'
import { arrayOrEnvelope, type Page, pageOfLists } from '#management/paging/paging.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import { presentExpiry } from '#management/drafts/fact-expiry.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { type Filter, matchesAll, pageOfSelection, searchFilter } from '#management/paging/selection.ts'
import { addInstance, removeInstance } from '#management/facts/resource-instances.ts'
import { addType } from '#management/schema/types.ts'
import { assert } from '#model/assert.ts'
import { AuthzError } from '#model/errors.ts'
import { formatInstanceReference, parseInstanceReference } from '#model/instance-reference.ts'
import type { AssignmentRecord, InstanceRecord } from '#entities/records.ts'
import type {
  DeprecatedGroupsQuery,
  GroupCreate,
  GroupRead,
  GroupRecord,
  GroupRecordsQuery,
  GroupsQuery,
  ListedGroup,
} from '#entities/group.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'
import {
  ensureMemberRole,
  GROUP_TYPE_DEFAULT,
  MEMBER_ROLE,
  requireGroup,
  typeOfInstance,
} from './group-lookup.ts'
import { presentGroup, presentGroupKeys } from './group-presenter.ts'
import { GroupTree, typesOfGroups, withPlaces } from './group-tree.ts'

export function* createGroup(
  context: WriteContext,
  input: { readonly body: GroupCreate },
): Resumable<GroupRead> {
  const { records } = context
  const name = groupNameOf(input.body)
  const tenant = requireTenant(records, input.body.group_tenant)
  const type = findType(records, name.type) ?? addType(context, name.type, name.type)
  ensureMemberRole(context, type)
  const taken = records.get('instance', rowKeys.instance(type.id, name.key))
  if (taken) {
    const what = taken.isGroup ? 'group' : 'resource instance'
    const reference = formatInstanceReference({ type: type.key, key: name.key })
    throw new AuthzError('DUPLICATE_ENTITY', `the ${what} ${JSON.stringify(reference)} already exists`)
  }
  const instance = addInstance(context, { type, key: name.key, tenant, isGroup: true })
  return yield* presentGroup(context, { instance, type })
}

/** The type and bare key that a body names. `type:key` sets the type, or must agree with it. */
function groupNameOf(body: GroupCreate): { readonly type: string; readonly key: string } {
  const wantedType = body.group_resource_type_key ?? undefined
  const named = parseInstanceReference(body.group_instance_key)
  if (!named) return { type: wantedType ?? GROUP_TYPE_DEFAULT, key: body.group_instance_key }
  if (wantedType !== undefined && wantedType !== named.type) {
    throw new AuthzError(
      'INVALID_INPUT',
      `group_instance_key names type ${JSON.stringify(named.type)}, but group_resource_type_key names ${JSON.stringify(wantedType)}`,
    )
  }
  return named
}

export function getGroup(
  context: ReadContext,
  input: { readonly params: { readonly group_instance_key: string } },
): Resumable<GroupRead> {
  return presentGroup(context, requireGroup(context.records, input.params.group_instance_key))
}

export function* getGroupRecord(
  context: ReadContext,
  input: { readonly params: { readonly group_instance_key: string } },
): Resumable<GroupRecord> {
  const { records } = context
  const { instance } = requireGroup(records, input.params.group_instance_key)
  return { ...presentGroupKeys(records, instance), ...(yield* new GroupTree(records).placeOf(instance.id)) }
}

/** Removes the group, with all its dependents, from decisions and lists immediately (native.md C.5). */
export function deleteGroup(
  context: WriteContext,
  input: { readonly params: { readonly group_instance_key: string } },
): void {
  const { records } = context
  const { instance } = requireGroup(records, input.params.group_instance_key)
  removeInstance(context, instance)
}

export function* listGroupRecords(
  context: ReadContext,
  input: { readonly query: GroupRecordsQuery },
): Resumable<Page<ListedGroup> | ListedGroup[]> {
  const { records } = context
  const { include_total_count: hasTotal = true, ...query } = input.query
  const page = yield* pageOfGroups(records, { ...query, hasTotal }, (instance, membership) => ({
    ...presentGroupKeys(records, instance),
    ...(membership && presentExpiry(membership)),
  }))
  return arrayOrEnvelope(yield* withPlaces(records, page), hasTotal)
}

/** Deprecated. Lists groups with their lists, as a bare array in every case. */
export function* listGroups(
  context: ReadContext,
  input: { readonly query: DeprecatedGroupsQuery },
): Resumable<GroupRead[]> {
  const { records } = context
  const page = yield* pageOfGroups(records, input.query, instance => instance.id)
  const groups: GroupRead[] = []
  for (const id of page.data) {
    yield
    // A group that was removed while the others were presented is omitted.
    const instance = records.byId('instance', id)
    if (!instance) continue
    groups.push(yield* presentGroup(context, { instance, type: typeOfInstance(records, instance) }))
  }
  return groups
}

/** `membership`: the membership of the user whose groups are listed. */
type Present<Item> = (group: InstanceRecord, membership: AssignmentRecord | null) => Item

/**
 * One page of groups. The filter with the fewest rows supplies the list, and the other filters narrow it. A
 * filter by an unknown reference matches nothing.
 */
function* pageOfGroups<Item>(
  records: RecordReader,
  query: GroupsQuery & { readonly hasTotal?: boolean },
  present: Present<Item>,
): Resumable<Page<Item>> {
  const { tenant, resource, search, top_level, user, hasTotal = true } = query
  const filters = [
    tenantFilter(records, tenant, lists.groupsOfTenant),
    typeFilter(records, resource, lists.groupsOfType),
    searchFilter(search, ({ key }: InstanceRecord) => [key]),
  ]
  const tree = new GroupTree(records)
  const isAtTop = function* (group: InstanceRecord): Resumable<boolean> {
    return !(yield* tree.isNested(group))
  }
  const narrow = top_level === true ? isAtTop : undefined
  if (user !== undefined) return yield* pageOfGroupsOf(records, user, { query, filters, narrow, present })
  return yield* pageOfSelection(records, {
    kind: 'instance',
    all: lists.groups(),
    filters,
    narrow,
    hasTotal,
    paging: query,
    present: instance => present(instance, null),
  })
}

/** The groups of a user. O(types of groups + groups of the user). */
function* pageOfGroupsOf<Item>(
  records: RecordReader,
  reference: string,
  narrowed: {
    readonly query: GroupsQuery
    readonly filters: readonly (Filter<InstanceRecord> | null)[]
    readonly narrow: ((group: InstanceRecord) => Resumable<boolean>) | undefined
    readonly present: Present<Item>
  },
): Resumable<Page<Item>> {
  const { query, narrow, present } = narrowed
  const filters = narrowed.filters.filter(filter => filter !== null)
  const user = findUser(records, reference)
  const types = user ? yield* typesOfGroups(records) : []
  const roles = types.flatMap(type => findRole(records, type, MEMBER_ROLE) ?? [])
  const groupOf = ({ instanceId }: AssignmentRecord): InstanceRecord | null =>
    instanceId === null ? null : records.byId('instance', instanceId)
  return yield* pageOfLists(records, {
    kind: 'assignment',
    lists: user ? roles.map(({ id }) => lists.heldRole(id, user.id)) : [],
    paging: query,
    // A role assignment on an instance that is not a group is not a membership.
    matches: membership => {
      const group = groupOf(membership)
      if (group?.isGroup !== true || !matchesAll(filters, group)) return false
      return narrow?.(group) ?? true
    },
    present: membership => {
      const group = groupOf(membership)
      assert(group, 'the instance of an assignment exists')
      return present(group, membership)
    },
  })
}

export const reads = { getGroup, getGroupRecord, listGroupRecords, listGroups }

export const writes = { createGroup, deleteGroup }
