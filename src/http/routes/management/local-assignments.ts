/**
 * `GET /local/role_assignments` (conditions.md 10.7): role assignments in the short format of a decision
 * point.
 */
import { RawBytes, RawJson, type Reply } from '#http/message/request-reply.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import { assert } from '#model/assert.ts'
import { LocalRoleAssignments, LocalRoleAssignmentsQuery } from '#entities/local-assignments.ts'
import {
  type RoleAssignment,
  RoleAssignmentList,
  RoleAssignmentsPath,
  RoleAssignmentsQuery,
} from '#entities/role-assignment.ts'
import { FACTS_BASE, managed, type ManagementGateway } from './managed.ts'
import { inOwnEnvironment } from './own-environment.ts'

/** Page number from which a list is always empty, because no environment has that many assignments. */
const PAGES_MAX = 1_000_000_000

export function localAssignmentsRoute(gateway: ManagementGateway): Route {
  const listing = managed(gateway)({
    operation: 'listRoleAssignments',
    level: 'read',
    method: 'GET',
    path: `${FACTS_BASE}/role_assignments`,
    summary: 'List role assignments',
    params: RoleAssignmentsPath,
    query: RoleAssignmentsQuery,
    answer: RoleAssignmentList,
  })
  return defineRoute({
    method: 'GET',
    path: '/local/role_assignments',
    operationId: 'listLocalRoleAssignments',
    level: 'read',
    summary: 'List the role assignments that decisions use, oldest first',
    family: 'native',
    access: 'environment',
    query: LocalRoleAssignmentsQuery,
    responses: { 200: { description: 'A page of role assignments.', schema: LocalRoleAssignments } },
    handle: async call => {
      const { user, role, tenant, ...query } = call.query
      if (Object.values(call.query).includes('') || (query.page ?? 1) > PAGES_MAX)
        return { status: 200, body: [] }
      const filters = {
        ...(user && { user: [user] }),
        ...(role && { role: [role] }),
        ...(tenant && { tenant: [tenant] }),
      }
      const listed = await listing.handle(inOwnEnvironment({ ...call, query: { ...query, ...filters } }))
      return { status: 200, body: assignmentsIn(listed).map(inFewWords) }
    },
  })
}

/**
 * Extracts the role assignments from the response of the list. The response is an array because the request
 * does not ask for a total.
 */
function assignmentsIn({ body }: Reply): RoleAssignment[] {
  assert(body instanceof RawJson || body instanceof RawBytes, 'the response with a list is JSON')
  return JSON.parse(
    body instanceof RawJson ? body.text : Buffer.from(body.bytes).toString(),
  ) as RoleAssignment[]
}

function inFewWords({ user, role, tenant, resource_instance: instance, expires_at }: RoleAssignment) {
  const where = instance !== null && { resource_instance: instance }
  return { user, role, tenant, ...where, ...(expires_at !== undefined && { expires_at }) }
}
