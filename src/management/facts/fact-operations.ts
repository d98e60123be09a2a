/** The operations on facts, half of the table of operations: tenants, users, assignments, instances, tuples. */
import { assignRoles, unassignRoles } from '#management/facts/assignments/role-assignment-bulk.ts'
import {
  listDetailedRoleAssignments,
  listRoleAssignments,
} from '#management/facts/assignments/role-assignment-lists.ts'
import { createRoleAssignment, deleteRoleAssignment } from '#management/facts/assignments/role-assignments.ts'
import {
  deleteResourceInstances,
  replaceResourceInstances,
} from '#management/facts/instances/resource-instance-bulk.ts'
import {
  listDetailedResourceInstances,
  listResourceInstances,
} from '#management/facts/instances/resource-instance-lists.ts'
import {
  createResourceInstance,
  deleteResourceInstance,
  getResourceInstance,
  updateResourceInstance,
} from '#management/facts/instances/resource-instances.ts'
import { createTenants, deleteTenants } from '#management/facts/tenants/tenant-bulk.ts'
import { createTenantUser, removeTenantUser } from '#management/facts/tenants/tenant-users.ts'
import {
  createTenant,
  deleteTenant,
  getTenant,
  listTenants,
  listTenantsEverywhere,
  updateTenant,
} from '#management/facts/tenants/tenants.ts'
import {
  createRelationshipTuples,
  deleteRelationshipTuples,
} from '#management/facts/tuples/relationship-tuple-bulk.ts'
import {
  listDetailedRelationshipTuples,
  listRelationshipTuples,
} from '#management/facts/tuples/relationship-tuple-lists.ts'
import {
  createRelationshipTuple,
  deleteRelationshipTuple,
} from '#management/facts/tuples/relationship-tuples.ts'
import { createUsers, deleteUsers, replaceUsers } from '#management/facts/users/user-bulk.ts'
import { listTenantUsers, listUsers, listUsersEverywhere } from '#management/facts/users/user-lists.ts'
import { assignUserRole, unassignUserRole } from '#management/facts/users/user-roles.ts'
import { createUser, deleteUser, getUser, replaceUser, updateUser } from '#management/facts/users/users.ts'

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
