/** `/allowed/all-tenants` and `/user-tenants` (conditions.md 10.1 and 10.2). */
import type { DecisionService } from '#decisions/decision-service.ts'
import { queryOf } from '#decisions/dialects/native-query.ts'
import type { TenantService } from '#decisions/tenant-service.ts'
import { REQUIRED_REQUEST_ID } from '#http/message/header-fields.ts'
import { environmentOf } from '#http/routing/route-access.ts'
import { type AnswersOfParts, listReply } from '#http/routing/large-answers.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import { AllowedQuery } from '#model/wire/decisions/decision.ts'
import { AllowedTenants, UserTenants, UserTenantsQuery } from '#model/wire/decisions/tenant-lists.ts'
import { presentForm } from './older-questions.ts'

export function tenantListRoutes(
  decisions: DecisionService,
  tenants: TenantService,
  answers: AnswersOfParts,
): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/allowed/all-tenants',
      operationId: 'getAllowedTenants',
      level: 'decide',
      summary: 'List the tenants in which a user can perform an action. The tenant of the request is ignored',
      family: 'native',
      access: 'environment',
      headers: [REQUIRED_REQUEST_ID],
      body: AllowedQuery,
      presentForm,
      responses: {
        200: { description: 'The complete result. It is never truncated.', schema: AllowedTenants },
      },
      handle: ({ principal, body, caller }) => {
        const environmentId = environmentOf(principal)
        const query = queryOf(body, decisions.now())
        return listReply(answers, environmentId, tenants.allowed(environmentId, query, caller))
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/user-tenants',
      operationId: 'getUserTenants',
      level: 'decide',
      summary: 'List the tenants in which a user has a role',
      family: 'native',
      access: 'environment',
      headers: [REQUIRED_REQUEST_ID],
      body: UserTenantsQuery,
      responses: { 200: { description: 'The complete result. It is never truncated.', schema: UserTenants } },
      handle: ({ principal, body, caller }) => {
        const environmentId = environmentOf(principal)
        return listReply(answers, environmentId, tenants.heldIn(environmentId, body.user.key, caller))
      },
    }),
  ]
}
