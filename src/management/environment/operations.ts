/**
 * The table of management operations: every one a pure function of the records it reads, its input and its context,
 * synchronous or, where it may take long, resumable. Routes name them, threads send their names, `EnvironmentService` runs them.
 */
import { listAuditEntries } from '#management/commands/audit.ts'
import type { ReadContext, WriteContext } from '#management/commands/context.ts'
import type { AnswerOf } from '#management/commands/resumable.ts'
import { factReads, factWrites } from '#management/facts/fact-operations.ts'
import { addGroupMember, listGroupUsers, removeGroupMember } from '#management/groups/group-members.ts'
import {
  assignGroup,
  listGroupChildren,
  listGroupParents,
  unassignGroup,
} from '#management/groups/group-nesting.ts'
import { addGroupRole, listGroupRoles, removeGroupRole } from '#management/groups/group-roles.ts'
import {
  createGroup,
  deleteGroup,
  getGroup,
  getGroupRecord,
  listGroupRecords,
  listGroups,
} from '#management/groups/groups.ts'
import {
  createActionGroup,
  deleteActionGroup,
  getActionGroup,
  listActionGroups,
  updateActionGroup,
} from '#management/schema/action-groups.ts'
import {
  createAction,
  deleteAction,
  getAction,
  listActions,
  updateAction,
} from '#management/schema/actions.ts'
import {
  createAttribute,
  createUserAttribute,
  deleteAttribute,
  getAttribute,
  listAttributes,
  listUserAttributes,
  updateAttribute,
} from '#management/schema/attributes.ts'
import { putRolesInBulk } from '#management/schema/bulk-roles.ts'
import {
  createRelation,
  deleteRelation,
  getRelation,
  listRelations,
} from '#management/schema/resource-relations.ts'
import {
  addImplicitGrant,
  addResourceRolePermissions,
  createResourceRole,
  deleteResourceRole,
  getResourceRole,
  listResourceRoles,
  removeImplicitGrant,
  removeResourceRolePermissions,
  setImplicitGrantConditions,
  updateResourceRole,
} from '#management/schema/resource-roles.ts'
import {
  createResource,
  deleteResource,
  getResource,
  listResources,
  replaceResource,
  updateResource,
} from '#management/schema/resources.ts'
import { exportSchema } from '#management/schema/schema-export.ts'
import { importSchema } from '#management/schema/schema-import.ts'
import {
  addTenantRolePermissions,
  createTenantRole,
  deleteTenantRole,
  getTenantRole,
  listTenantRoles,
  removeTenantRolePermissions,
  updateTenantRole,
} from '#management/schema/tenant-roles.ts'
import { countEnvironment } from './environment-counts.ts'

export const readOperations = {
  ...factReads,
  countEnvironment,
  exportSchema,
  getAction,
  getActionGroup,
  getAttribute,
  getGroup,
  getGroupRecord,
  getRelation,
  getResource,
  getResourceRole,
  getTenantRole,
  getUserAttribute: getAttribute,
  listActionGroups,
  listActions,
  listAttributes,
  listAuditEntries,
  listGroupChildren,
  listGroupParents,
  listGroupRecords,
  listGroupRoles,
  listGroups,
  listGroupUsers,
  listRelations,
  listResourceRoles,
  listResources,
  listTenantRoles,
  listUserAttributes,
}

export const writeOperations = {
  ...factWrites,
  addGroupMember,
  addGroupRole,
  addImplicitGrant,
  addResourceRolePermissions,
  addTenantRolePermissions,
  assignGroup,
  createAction,
  createActionGroup,
  createAttribute,
  createGroup,
  createRelation,
  createResource,
  createResourceRole,
  createTenantRole,
  createUserAttribute,
  deleteAction,
  deleteActionGroup,
  deleteAttribute,
  deleteGroup,
  deleteRelation,
  deleteResource,
  deleteResourceRole,
  deleteTenantRole,
  deleteUserAttribute: deleteAttribute,
  importSchema,
  putRolesInBulk,
  removeGroupMember,
  removeGroupRole,
  removeImplicitGrant,
  removeResourceRolePermissions,
  removeTenantRolePermissions,
  replaceResource,
  setImplicitGrantConditions,
  unassignGroup,
  updateAction,
  updateActionGroup,
  updateAttribute,
  updateResource,
  updateResourceRole,
  updateTenantRole,
  updateUserAttribute: updateAttribute,
}

type Operations = typeof readOperations & typeof writeOperations

export type OperationName = keyof Operations
export type OperationInput<Name extends OperationName> = Parameters<Operations[Name]>[1]
export type OperationAnswer<Name extends OperationName> = AnswerOf<ReturnType<Operations[Name]>>

/** An operation whose name is only known at run time; its input was validated against the route's schemas. */
export type ReadOperation = (context: ReadContext, input: unknown) => unknown
export type WriteOperation = (context: WriteContext, input: unknown) => unknown
