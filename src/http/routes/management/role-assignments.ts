/** Role assignments (native.md B.8), including the paths `/detailed` and `/bulk`. */
import type { Route } from '#http/routing/route.ts'
import {
  AssignmentsCreated,
  AssignmentsRemoved,
  DetailedRoleAssignmentEnvelope,
  DetailedRoleAssignmentsQuery,
  ReturnDeletedQuery,
  RoleAssignment,
  RoleAssignmentCreate,
  RoleAssignmentList,
  RoleAssignmentRemoval,
  RoleAssignmentsBulk,
  RoleAssignmentsBulkQuery,
  RoleAssignmentsBulkRemoval,
  RoleAssignmentsPath,
  RoleAssignmentsQuery,
} from '#entities/role-assignment.ts'
import { FACTS_BASE, type Manage } from './managed.ts'

const ASSIGNMENTS = `${FACTS_BASE}/role_assignments`
const params = RoleAssignmentsPath

export function roleAssignmentRoutes(manage: Manage): Route[] {
  return [
    manage({
      operation: 'listRoleAssignments',
      level: 'read',
      delegated: 'read',
      method: 'GET',
      path: ASSIGNMENTS,
      summary: 'List role assignments',
      params,
      query: RoleAssignmentsQuery,
      answer: RoleAssignmentList,
    }),
    manage({
      operation: 'listDetailedRoleAssignments',
      level: 'read',
      method: 'GET',
      path: `${ASSIGNMENTS}/detailed`,
      summary: 'List role assignments with their users, roles and tenants or instances',
      params,
      query: DetailedRoleAssignmentsQuery,
      answer: DetailedRoleAssignmentEnvelope,
    }),
    manage({
      operation: 'createRoleAssignment',
      level: 'write_facts',
      delegated: 'write',
      method: 'POST',
      path: ASSIGNMENTS,
      summary: 'Assign a role to a user, in a tenant or on an instance',
      params,
      grant: 'made',
      body: RoleAssignmentCreate,
      answer: RoleAssignment,
    }),
    manage({
      operation: 'deleteRoleAssignment',
      level: 'write_facts',
      delegated: 'write',
      method: 'DELETE',
      path: ASSIGNMENTS,
      summary: 'Revoke a role of a user',
      params,
      grant: 'removed',
      query: ReturnDeletedQuery,
      body: RoleAssignmentRemoval,
      answer: RoleAssignment,
      mayBeEmpty: true,
    }),
    manage({
      operation: 'assignRoles',
      level: 'write_facts',
      delegated: 'write',
      method: 'POST',
      path: `${ASSIGNMENTS}/bulk`,
      summary: 'Assign roles, all or none; existing assignments get the new expiration time',
      params,
      query: RoleAssignmentsBulkQuery,
      body: RoleAssignmentsBulk,
      answer: AssignmentsCreated,
    }),
    manage({
      operation: 'unassignRoles',
      level: 'write_facts',
      delegated: 'write',
      method: 'DELETE',
      path: `${ASSIGNMENTS}/bulk`,
      summary: 'Revoke roles, all or none; missing assignments are skipped',
      params,
      body: RoleAssignmentsBulkRemoval,
      answer: AssignmentsRemoved,
    }),
  ]
}
