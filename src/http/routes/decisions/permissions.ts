/** `/user-permissions` and `/authorized_users` (native.md A.4, A.5). */
import type { PermissionService } from '#decisions/permission-service.ts'
import { REQUIRED_REQUEST_ID } from '#http/message/header-fields.ts'
import { environmentOf } from '#http/routing/route-access.ts'
import { type AnswersOfParts, listReply } from '#http/routing/large-answers.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import { AuthzError } from '#model/errors.ts'
import {
  AuthorizedUsers,
  AuthorizedUsersQuery,
  UserPermissions,
  UserPermissionsPage,
  UserPermissionsQuery,
} from '#model/wire/decisions/permissions.ts'

export function permissionRoutes(permissions: PermissionService, answers: AnswersOfParts): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/user-permissions',
      operationId: 'getUserPermissions',
      level: 'decide',
      summary: 'List the permissions of a user by tenant and instance',
      family: 'native',
      access: 'environment',
      headers: [REQUIRED_REQUEST_ID],
      query: UserPermissionsPage,
      body: UserPermissionsQuery,
      responses: {
        200: {
          description: 'The complete result, or the requested page. It is never truncated.',
          schema: UserPermissions,
        },
      },
      handle: ({ principal, body, query, caller }) => {
        const environmentId = environmentOf(principal)
        const listed = permissions.permissionsOf(environmentId, body, pageOf(query), caller)
        return listReply(answers, environmentId, listed)
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/authorized_users',
      operationId: 'getAuthorizedUsers',
      level: 'read',
      summary: 'List the users who can perform an action on a resource, with their assignments',
      family: 'native',
      access: 'environment',
      headers: [REQUIRED_REQUEST_ID],
      body: AuthorizedUsersQuery,
      responses: {
        200: { description: 'The complete result. It is never truncated.', schema: AuthorizedUsers },
      },
      handle: ({ principal, body, caller }) => {
        const environmentId = environmentOf(principal)
        return listReply(answers, environmentId, permissions.authorizedUsers(environmentId, body, caller))
      },
    }),
  ]
}

/**
 * Page that the request asks for; null if it asks for all results. `page` and `per_page` must be given
 * together.
 */
function pageOf({ page, per_page: size }: UserPermissionsPage): { number: number; size: number } | null {
  if (page === undefined && size === undefined) return null
  if (page !== undefined && size !== undefined) return { number: page, size }
  throw new AuthzError('INVALID_INPUT', 'page and per_page: give both or neither')
}
