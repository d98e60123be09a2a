/**
 * Lists over all environments that a key can access (native.md B.14). The responses are plain arrays in
 * pages, sorted by environment.
 */
import { type TSchema, Type } from 'typebox'
import { REVISION } from '#http/message/header-fields.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import type { EverywhereOperation } from '#management/management-service.ts'
import { assert } from '#model/assert.ts'
import { pagingQuery } from '#model/wire/paging.ts'
import { Tenant } from '#entities/tenant.ts'
import { User } from '#entities/user.ts'
import { type ManagementGateway, plainNames, rawJson } from './managed.ts'

export function legacyRoutes(gateway: ManagementGateway): Route[] {
  return [
    listOf(gateway, 'listUsersEverywhere', '/v1/users', User),
    listOf(gateway, 'listTenantsEverywhere', '/v1/tenants', Tenant),
  ]
}

function listOf(
  gateway: ManagementGateway,
  operation: EverywhereOperation,
  path: string,
  item: TSchema,
): Route {
  return defineRoute({
    method: 'GET',
    path,
    operationId: operation,
    level: 'read',
    summary: 'List all environments of the API key',
    family: 'management',
    access: 'any-key',
    deprecated: true,
    query: Type.Object(pagingQuery),
    responses: { 200: { description: 'A page of the list.', schema: Type.Array(item), headers: [REVISION] } },
    handle: async ({ principal, query, names, claim, caller }) => {
      assert(principal, 'a route for any key has a caller')
      const request = {
        about: 'environment',
        operation,
        principal,
        ...plainNames(names),
        claim,
        path: null,
        input: { query },
      } as const
      const { json, revision } = await gateway.execute(request, { caller, isRead: true })
      assert(json !== null, 'a list answers with a body')
      return { status: 200, body: rawJson(json), headers: { 'x-revision': revision } }
    },
  })
}
