/**
 * `/user-permissions` and `/authorized_users` (contract A.4, A.5). Their members are named by callers' keys, so the JSON
 * is put together here: an object of ours would reorder keys that look like numbers and trip over `__proto__`.
 */
import {
  AuthorizedUsers,
  AuthorizedUsersQuery,
  UserPermissions,
  UserPermissionsQuery,
} from '#model/wire/permissions.ts'
import type { PermissionService } from '#services/permission-service.ts'
import { RawJson } from '../exchange.ts'
import { REQUIRED_REQUEST_ID } from '../header-fields.ts'
import { defineRoute, type Route } from '../route.ts'
import { environmentOf } from './caller.ts'

export function permissionRoutes(permissions: PermissionService): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/user-permissions',
      operationId: 'getUserPermissions',
      summary: 'What a user may do, by tenant and instance',
      family: 'native',
      access: 'environment',
      headers: [REQUIRED_REQUEST_ID],
      body: UserPermissionsQuery,
      responses: { 200: { description: 'All of it; never a part.', schema: UserPermissions } },
      handle: ({ principal, body }) => {
        const entries = permissions.permissionsOf(environmentOf(principal), body)
        const members = entries.map(({ name, ...entry }) => [name, entry] as const)
        return { status: 200, body: new RawJson(objectText(members)) }
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/authorized_users',
      operationId: 'getAuthorizedUsers',
      summary: 'Who may do an action on a resource, and by which assignments',
      family: 'native',
      access: 'environment',
      headers: [REQUIRED_REQUEST_ID],
      body: AuthorizedUsersQuery,
      responses: { 200: { description: 'All of them; never a part.', schema: AuthorizedUsers } },
      handle: ({ principal, body }) => {
        const { type, key = null, tenant = null } = body.resource
        const question = { action: body.action, type, key, tenant }
        const { users, ...listing } = permissions.authorizedUsers(environmentOf(principal), question)
        const head = JSON.stringify(listing).slice(0, -1)
        return { status: 200, body: new RawJson(`${head},"users":${objectText(users)}}`) }
      },
    }),
  ]
}

/** A JSON object with these members in this order. */
function objectText(members: Iterable<readonly [string, unknown]>): string {
  const texts = Array.from(members, ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
  return `{${texts.join(',')}}`
}
