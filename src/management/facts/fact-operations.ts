/** The operations on facts, half of the table of operations: tenants, users, assignments, instances, tuples. */
import { createRelationshipTuples, deleteRelationshipTuples } from './relationship-tuple-bulk.ts'
import { listDetailedRelationshipTuples, listRelationshipTuples } from './relationship-tuple-lists.ts'
import { createRelationshipTuple, deleteRelationshipTuple } from './relationship-tuples.ts'
import { deleteResourceInstances, replaceResourceInstances } from './resource-instance-bulk.ts'
import { listDetailedResourceInstances, listResourceInstances } from './resource-instance-lists.ts'
import {
  createResourceInstance,
  deleteResourceInstance,
  getResourceInstance,
  updateResourceInstance,
} from './resource-instances.ts'
import { assignRoles, unassignRoles } from './role-assignment-bulk.ts'
import { listDetailedRoleAssignments, listRoleAssignments } from './role-assignment-lists.ts'
import { createRoleAssignment, deleteRoleAssignment } from './role-assignments.ts'
import { createTenants, deleteTenants } from './tenant-bulk.ts'
import { createTenantUser, removeTenantUser } from './tenant-users.ts'
import {
  createTenant,
  deleteTenant,
  getTenant,
  listTenants,
  listTenantsEverywhere,
  updateTenant,
} from './tenants.ts'
import { createUsers, deleteUsers, replaceUsers } from './user-bulk.ts'
import { listTenantUsers, listUsers, listUsersEverywhere } from './user-lists.ts'
import { assignUserRole, unassignUserRole } from './user-roles.ts'
import { createUser, deleteUser, getUser, replaceUser, updateUser } from './users.ts'

export const factReads = {
  getResourceInstance,
  getTenant,
  getUser,
  listDetailedRelationshipTuples,
  listDetailedResourceInstances,
  listDetailedRoleAssignments,
  listRelationshipTuples,
  listResourceInstances,
  listRoleAssignments,
  listTenants,
  listTenantsEverywhere,
  listTenantUsers,
  listUsers,
  listUsersEverywhere,
}

export const factWrites = {
  assignRoles,
  assignUserRole,
  createRelationshipTuple,
  createRelationshipTuples,
  createResourceInstance,
  createRoleAssignment,
  createTenant,
  createTenants,
  createTenantUser,
  createUser,
  createUsers,
  deleteRelationshipTuple,
  deleteRelationshipTuples,
  deleteResourceInstance,
  deleteResourceInstances,
  deleteRoleAssignment,
  deleteTenant,
  deleteTenants,
  deleteUser,
  deleteUsers,
  removeTenantUser,
  replaceResourceInstances,
  replaceUser,
  replaceUsers,
  unassignRoles,
  unassignUserRole,
  updateResourceInstance,
  updateTenant,
  updateUser,
}
