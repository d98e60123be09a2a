/** Groups API (native.md B.3). The path `/direct` takes precedence over `/{group}`. */
import { Type } from 'typebox'
import type { Route } from '#http/routing/route.ts'
import {
  DeprecatedGroupsQuery,
  GroupAddRole,
  GroupCreate,
  GroupLinkEnvelope,
  GroupMemberBody,
  GroupMemberPath,
  GroupMemberRemoval,
  GroupNesting,
  GroupNestingRemoval,
  GroupPath,
  GroupRead,
  GroupRecord,
  GroupRoleEnvelope,
  GroupRoleRemoval,
  GroupsPath,
  GroupRecordsQuery,
  GroupUserEnvelope,
  ListedGroups,
  PageQuery,
} from '#entities/group.ts'
import { managed, type ManagementGateway, SCHEMA_BASE } from './managed.ts'

const GROUPS = `${SCHEMA_BASE}/groups`
const GROUP = `${GROUPS}/{group_instance_key}`

export function groupRoutes(gateway: ManagementGateway): Route[] {
  return [...wholeGroups(gateway), ...membersAndRoles(gateway), ...nesting(gateway)]
}

function wholeGroups(gateway: ManagementGateway): Route[] {
  const manage = managed(gateway)
  return [
    manage({
      operation: 'createGroup',
      level: 'write_facts',
      method: 'POST',
      path: GROUPS,
      summary: 'Create a group',
      params: GroupsPath,
      body: GroupCreate,
      answer: GroupRead,
    }),
    manage({
      operation: 'listGroupRecords',
      level: 'read',
      delegated: 'read',
      method: 'GET',
      path: `${GROUPS}/direct`,
      summary: 'List groups',
      earlyAccess: true,
      params: GroupsPath,
      query: GroupRecordsQuery,
      answer: ListedGroups,
    }),
    manage({
      operation: 'getGroupRecord',
      level: 'read',
      delegated: 'read',
      method: 'GET',
      path: `${GROUPS}/direct/{group_instance_key}`,
      summary: 'Read a group',
      earlyAccess: true,
      params: GroupPath,
      answer: GroupRecord,
    }),
    manage({
      operation: 'listGroups',
      level: 'read',
      method: 'GET',
      path: GROUPS,
      summary: 'List groups with their members and roles',
      deprecated: true,
      params: GroupsPath,
      query: DeprecatedGroupsQuery,
      answer: Type.Array(GroupRead),
    }),
    manage({
      operation: 'getGroup',
      level: 'read',
      delegated: 'read',
      method: 'GET',
      path: GROUP,
      summary: 'Read a group with its members and roles',
      deprecated: true,
      params: GroupPath,
      thing: 'getGroup',
      answer: GroupRead,
    }),
    manage({
      operation: 'deleteGroup',
      level: 'write_facts',
      method: 'DELETE',
      path: GROUP,
      summary: 'Delete a group, with its memberships and grants',
      params: GroupPath,
      thing: 'getGroup',
    }),
  ]
}

function membersAndRoles(gateway: ManagementGateway): Route[] {
  const manage = managed(gateway)
  return [
    manage({
      operation: 'addGroupMember',
      level: 'write_facts',
      delegated: 'write',
      method: 'PUT',
      path: `${GROUP}/users/{user_id}`,
      summary: 'Add a user to a group',
      params: GroupMemberPath,
      grant: 'made',
      body: GroupMemberBody,
      answer: GroupRead,
    }),
    manage({
      operation: 'removeGroupMember',
      level: 'write_facts',
      delegated: 'write',
      method: 'DELETE',
      path: `${GROUP}/users/{user_id}`,
      summary: 'Remove a user from a group',
      params: GroupMemberPath,
      grant: 'removed',
      optionalBody: GroupMemberRemoval,
    }),
    manage({
      operation: 'listGroupUsers',
      level: 'read',
      delegated: 'read',
      method: 'GET',
      path: `${GROUP}/users`,
      summary: 'List the direct members of a group',
      earlyAccess: true,
      params: GroupPath,
      query: PageQuery,
      answer: GroupUserEnvelope,
    }),
    manage({
      operation: 'addGroupRole',
      level: 'write_facts',
      delegated: 'write',
      method: 'POST',
      path: `${GROUP}/roles`,
      summary: 'Grant the members of a group a role on an instance',
      params: GroupPath,
      grant: 'made',
      body: GroupAddRole,
      answer: GroupRead,
    }),
    manage({
      operation: 'removeGroupRole',
      level: 'write_facts',
      delegated: 'write',
      method: 'DELETE',
      path: `${GROUP}/roles`,
      summary: 'Revoke a role of a group',
      params: GroupPath,
      grant: 'removed',
      body: GroupRoleRemoval,
    }),
    manage({
      operation: 'listGroupRoles',
      level: 'read',
      delegated: 'read',
      method: 'GET',
      path: `${GROUP}/roles`,
      summary: 'List the roles granted to a group',
      earlyAccess: true,
      params: GroupPath,
      query: PageQuery,
      answer: GroupRoleEnvelope,
    }),
  ]
}

function nesting(gateway: ManagementGateway): Route[] {
  const manage = managed(gateway)
  return [
    manage({
      operation: 'assignGroup',
      level: 'write_facts',
      delegated: 'write',
      method: 'PUT',
      path: `${GROUP}/assign_group`,
      summary: 'Add the group in the body to this group; its members become members of this group',
      params: GroupPath,
      grant: 'made',
      body: GroupNesting,
      answer: GroupRead,
      refusals: [409],
    }),
    manage({
      operation: 'unassignGroup',
      level: 'write_facts',
      delegated: 'write',
      method: 'DELETE',
      path: `${GROUP}/assign_group`,
      summary: 'Remove the group in the body from this group',
      params: GroupPath,
      grant: 'removed',
      body: GroupNestingRemoval,
    }),
    manage({
      operation: 'listGroupChildren',
      level: 'read',
      delegated: 'read',
      method: 'GET',
      path: `${GROUP}/children`,
      summary: 'List the direct child groups of this group',
      earlyAccess: true,
      params: GroupPath,
      query: PageQuery,
      answer: GroupLinkEnvelope,
    }),
    manage({
      operation: 'listGroupParents',
      level: 'read',
      delegated: 'read',
      method: 'GET',
      path: `${GROUP}/parents`,
      summary: 'List the direct parent groups of this group',
      earlyAccess: true,
      params: GroupPath,
      query: PageQuery,
      answer: GroupLinkEnvelope,
    }),
  ]
}
