/**
 * The table of management operations: every one a synchronous, pure function of the records it reads, its input and its
 * context. Routes name them, threads send their names, `EnvironmentService` runs them.
 */
import type { ReadContext, WriteContext } from './context.ts'
import { addGroupMember, listGroupUsers, removeGroupMember } from './group-members.ts'
import { assignGroup, listGroupChildren, listGroupParents, unassignGroup } from './group-nesting.ts'
import { addGroupRole, listGroupRoles, removeGroupRole } from './group-roles.ts'
import { createGroup, deleteGroup, getGroup, getGroupRecord, listGroupRecords, listGroups } from './groups.ts'
import { createRelation } from './relations.ts'
import { createRelationshipTuple } from './relationship-tuples.ts'
import { createResourceInstance } from './resource-instances.ts'
import { createResource, getResource, listResources } from './resources.ts'
import { createRoleAssignment } from './role-assignments.ts'
import { createResourceRole, createTenantRole, updateResourceRole } from './roles.ts'
import { createTenant } from './tenants.ts'
import { createUser } from './users.ts'

export const readOperations = {
  getGroup,
  getGroupRecord,
  getResource,
  listGroupChildren,
  listGroupParents,
  listGroupRecords,
  listGroupRoles,
  listGroups,
  listGroupUsers,
  listResources,
}

export const writeOperations = {
  addGroupMember,
  addGroupRole,
  assignGroup,
  createGroup,
  createRelation,
  createRelationshipTuple,
  createResource,
  createResourceInstance,
  createResourceRole,
  createRoleAssignment,
  createTenant,
  createTenantRole,
  createUser,
  deleteGroup,
  removeGroupMember,
  removeGroupRole,
  unassignGroup,
  updateResourceRole,
}

/** Operations after which a relation made by the groups API may have lost its last tuple (contract C.5). */
export const tupleRemovals: ReadonlySet<OperationName> = new Set<OperationName>([
  'deleteGroup',
  'removeGroupRole',
  'unassignGroup',
])

type Operations = typeof readOperations & typeof writeOperations

export type OperationName = keyof Operations
export type OperationInput<Name extends OperationName> = Parameters<Operations[Name]>[1]
export type OperationAnswer<Name extends OperationName> = ReturnType<Operations[Name]>

/** An operation whose name is only known at run time; its input was validated against the route's schemas. */
export type ReadOperation = (context: ReadContext, input: unknown) => unknown
export type WriteOperation = (context: WriteContext, input: unknown) => unknown
