/** Users and their roles (native.md B.7, B.11). Queries and bodies are declared in `entities/user.ts`. */
import type { Route } from '#http/routing/route.ts'
import { BulkIdents } from '#model/wire/references.ts'
import { Empty } from '#model/wire/common-fields.ts'
import { ReturnDeletedQuery, RoleAssignment, UserRoleRemoval } from '#entities/role-assignment.ts'
import {
  User,
  UserCreate,
  UserEnvelope,
  UserPath,
  UserRoleAssignment,
  UsersBulkCreate,
  UsersPath,
  UsersQuery,
  UserUpdate,
} from '#entities/user.ts'
import { FACTS_BASE, type Manage } from './managed.ts'

const USERS = `${FACTS_BASE}/users`
const USER = `${USERS}/{user_id}`
const BULK = `${FACTS_BASE}/bulk/users`

export function userRoutes(manage: Manage): Route[] {
  return [
    manage({
      operation: 'listUsers',
      level: 'read',
      method: 'GET',
      path: USERS,
      summary: 'List users',
      params: UsersPath,
      query: UsersQuery,
      answer: UserEnvelope,
    }),
    manage({
      operation: 'createUser',
      level: 'write_facts',
      method: 'POST',
      path: USERS,
      summary: 'Create a user, with role assignments if given',
      params: UsersPath,
      body: UserCreate,
      answer: User,
    }),
    manage({
      operation: 'getUser',
      level: 'read',
      method: 'GET',
      path: USER,
      summary: 'Read a user',
      params: UserPath,
      thing: 'getUser',
      answer: User,
    }),
    manage({
      operation: 'replaceUser',
      level: 'write_facts',
      method: 'PUT',
      path: USER,
      summary: 'Create a user or replace its profile; assignments are added, never removed',
      params: UserPath,
      thing: 'getUser',
      body: UserCreate,
      answer: User,
      mayCreate: true,
    }),
    manage({
      operation: 'updateUser',
      level: 'write_facts',
      method: 'PATCH',
      path: USER,
      summary: 'Change a user; each given field replaces the whole old value',
      params: UserPath,
      thing: 'getUser',
      body: UserUpdate,
      answer: User,
    }),
    manage({
      operation: 'deleteUser',
      level: 'write_facts',
      method: 'DELETE',
      path: USER,
      summary: 'Delete a user and its roles',
      params: UserPath,
      thing: 'getUser',
    }),
    manage({
      operation: 'assignUserRole',
      level: 'write_facts',
      delegated: 'write',
      method: 'POST',
      path: `${USER}/roles`,
      summary: 'Assign a role to a user, in a tenant or on an instance',
      params: UserPath,
      grant: 'made',
      body: UserRoleAssignment,
      answer: RoleAssignment,
    }),
    manage({
      operation: 'unassignUserRole',
      level: 'write_facts',
      delegated: 'write',
      method: 'DELETE',
      path: `${USER}/roles`,
      summary: 'Revoke a role of a user',
      params: UserPath,
      grant: 'removed',
      query: ReturnDeletedQuery,
      body: UserRoleRemoval,
      answer: RoleAssignment,
      mayBeEmpty: true,
    }),
    manage({
      operation: 'createUsers',
      level: 'write_facts',
      method: 'POST',
      path: BULK,
      summary: 'Create users, all or none',
      params: UsersPath,
      body: UsersBulkCreate,
      answer: Empty,
    }),
    manage({
      operation: 'replaceUsers',
      level: 'write_facts',
      method: 'PUT',
      path: BULK,
      summary: 'Create users or replace their profiles, all or none',
      params: UsersPath,
      body: UsersBulkCreate,
      answer: Empty,
    }),
    manage({
      operation: 'deleteUsers',
      level: 'write_facts',
      method: 'DELETE',
      path: BULK,
      summary: 'Delete users, all or none',
      params: UsersPath,
      body: BulkIdents,
      answer: Empty,
    }),
  ]
}
