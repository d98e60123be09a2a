/**
 * Groups (contract B.3, C.3): instances of a group type, in one tenant, whose members are those who hold the role
 * `member` on them. Here they are made, shown, listed and removed; members, roles and nesting have their own files.
 */
import { AuthzError } from '#model/errors.ts'
import { formatInstanceReference, parseInstanceReference } from '#model/instance-reference.ts'
import type { InstanceRecord, TypeRecord } from '#model/records.ts'
import type {
  DeprecatedGroupsQuery,
  GroupCreate,
  GroupRead,
  GroupRecord,
  GroupsQuery,
} from '#model/wire/group.ts'
import { lists, rowKeys } from '#store/keyspace.ts'
import type { ListName } from '#store/view.ts'
import type { ReadContext, WriteContext } from './context.ts'
import { ensureMemberRole, GROUP_TYPE_DEFAULT, requireGroup, typeOfInstance } from './group-lookup.ts'
import { presentGroup, presentGroupRecord } from './group-present.ts'
import { findTenant, findType, requireTenant } from './lookups.ts'
import { matchesSearch, type Page, pageFrom, pageOf } from './paging.ts'
import { deleteDependants } from './instance-purge.ts'
import { addInstance, instanceKeyOf } from './resource-instances.ts'
import { putType } from './resources.ts'

export function createGroup(context: WriteContext, input: { readonly body: GroupCreate }): GroupRead {
  const { records } = context
  const name = groupNameOf(input.body)
  const tenant = requireTenant(records, input.body.group_tenant)
  const type = findType(records, name.type) ?? addGroupType(context, name.type)
  ensureMemberRole(context, type)
  if (records.get('instance', rowKeys.instance(type.id, name.key))) {
    throw new AuthzError(
      'DUPLICATE_ENTITY',
      `there is a ${JSON.stringify(formatInstanceReference({ type: type.key, key: name.key }))} already`,
    )
  }
  const instance = addInstance(context, { type, key: name.key, tenant, isGroup: true })
  return presentGroup(context, { instance, type })
}

/** The type and bare key a body names; `type:key` sets the type, or must agree with it. */
function groupNameOf(body: GroupCreate): { readonly type: string; readonly key: string } {
  const wantedType = body.group_resource_type_key ?? undefined
  const named = parseInstanceReference(body.group_instance_key)
  if (!named) return { type: wantedType ?? GROUP_TYPE_DEFAULT, key: body.group_instance_key }
  if (wantedType !== undefined && wantedType !== named.type) {
    throw new AuthzError(
      'INVALID_INPUT',
      `group_instance_key names type ${JSON.stringify(named.type)}, group_resource_type_key ${JSON.stringify(wantedType)}`,
    )
  }
  return named
}

function addGroupType(context: WriteContext, key: string): TypeRecord {
  const type: TypeRecord = {
    kind: 'type',
    id: context.newId(),
    key,
    name: key,
    urn: null,
    description: null,
    actions: [],
    attributes: [],
    typeAttributes: null,
    createdAt: context.now,
    updatedAt: context.now,
  }
  putType(context, type)
  return type
}

export function getGroup(
  context: ReadContext,
  input: { readonly params: { readonly group_instance_key: string } },
): GroupRead {
  return presentGroup(context, requireGroup(context.records, input.params.group_instance_key))
}

export function getGroupRecord(
  context: ReadContext,
  input: { readonly params: { readonly group_instance_key: string } },
): GroupRecord {
  const group = requireGroup(context.records, input.params.group_instance_key)
  return presentGroupRecord(context.records, group.instance)
}

/**
 * Removes the group from decisions and lists at once, with everything tied to it (contract C.5). The purge takes what does
 * not fit into this commit, and what others tied to the group between this look at it and the commit: afterwards nobody
 * can, for they rely on the instance.
 */
export function deleteGroup(
  context: WriteContext,
  input: { readonly params: { readonly group_instance_key: string } },
): void {
  const { records } = context
  const { instance } = requireGroup(records, input.params.group_instance_key)
  records.delete(instance, { kind: 'instance-removed', instance: instanceKeyOf(records, instance) })
  deleteDependants(context, instance.id)
  records.put({ kind: 'purge', id: context.newId(), targetId: instance.id })
}

export function listGroupRecords(
  context: ReadContext,
  input: { readonly query: GroupsQuery },
): Page<GroupRecord> {
  return pageOfGroups(context, input.query, instance => presentGroupRecord(context.records, instance))
}

/** Deprecated: whole groups, always a bare array. */
export function listGroups(
  context: ReadContext,
  input: { readonly query: DeprecatedGroupsQuery },
): GroupRead[] {
  return pageOfGroups(context, input.query, instance =>
    presentGroup(context, { instance, type: typeOfInstance(context.records, instance) }),
  ).data
}

/** Filters by what is unknown match nothing. The first filter picks the list, the others narrow it. */
function pageOfGroups<Item>(
  context: ReadContext,
  query: GroupsQuery,
  present: (instance: InstanceRecord) => Item,
): Page<Item> {
  const { records } = context
  const type = query.resource === undefined ? undefined : findType(records, query.resource)
  const tenant = query.tenant === undefined ? undefined : findTenant(records, query.tenant)
  if (type === null || tenant === null) return pageFrom<Item>([], 0, 1)
  const { search } = query
  const filters: ((instance: InstanceRecord) => boolean)[] = []
  let list: ListName = lists.groups()
  if (tenant) list = lists.groupsOfTenant(tenant.id)
  if (type && tenant) filters.push(instance => instance.typeId === type.id)
  else if (type) list = lists.groupsOfType(type.id)
  if (search !== undefined) filters.push(instance => matchesSearch(search, [instance.key]))
  const matches = (instance: InstanceRecord) => filters.every(filter => filter(instance))
  return pageOf(records, {
    kind: 'instance',
    list,
    paging: query,
    matches: filters.length === 0 ? null : matches,
    present,
  })
}
