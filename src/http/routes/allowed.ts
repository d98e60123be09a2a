/** `/allowed` and `/allowed/bulk`: the native decision interface (contract A.2, A.3). */
import { assert } from '#model/assert.ts'
import type { Principal } from '#model/principal.ts'
import {
  AllowedQuery,
  AllowedResult,
  BulkAllowedResult,
  BulkAuthorizationQuery,
} from '#model/wire/decision.ts'
import type { DecisionService } from '#services/decision-service.ts'
import { defineRoute, type Route } from '../route.ts'

export function allowedRoutes(decisions: DecisionService): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/allowed',
      operationId: 'isAllowed',
      summary: 'May this user do this on that resource?',
      family: 'native',
      access: 'environment',
      body: AllowedQuery,
      responses: { 200: { description: 'The decision; a deny is one too.', schema: AllowedResult } },
      handle: ({ principal, body }) => {
        const allow = decisions.check(environmentOf(principal), body)
        return { status: 200, body: { allow, result: allow } }
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/allowed/bulk',
      operationId: 'isAllowedBulk',
      summary: 'Many checks at one state, answered in order',
      family: 'native',
      access: 'environment',
      body: BulkAuthorizationQuery,
      responses: { 200: { description: 'One result for each check, in order.', schema: BulkAllowedResult } },
      handle: ({ principal, body }) => {
        const decided = decisions.checkAll(environmentOf(principal), body)
        return { status: 200, body: { allow: decided.map(allow => ({ allow, result: allow })) } }
      },
    }),
  ]
}

/** The environment of a caller that got past `access: 'environment'`. */
function environmentOf(principal: Principal | null): string {
  assert(principal?.kind === 'environment', 'only environment keys reach a decision')
  return principal.environmentId
}
