/**
 * What the second listener answers (contract A.7): the decision of `/allowed` under the path and in the form in which an
 * Open Policy Agent with the original's policy gives it. Clients that ask their policy engine directly come here.
 *
 * Not on the main port, and no header is required with `STRICT_HEADERS`: the protocol knows none.
 */
import type { DecisionService } from '#decisions/decision-service.ts'
import { queryOf } from '#decisions/native-query.ts'
import { environmentOf } from '#http/routing/route-access.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import { OpaQuery, OpaResult } from '#model/wire/decision.ts'

export function opaRoutes(decisions: DecisionService): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/v1/data/permit/root',
      operationId: 'isAllowedOpa',
      summary: 'May this user do this on that resource? Asked as of an Open Policy Agent',
      family: 'opa',
      access: 'environment',
      body: OpaQuery,
      responses: { 200: { description: 'The decision; a deny is one too.', schema: OpaResult } },
      handle: ({ principal, body }) => {
        const environmentId = environmentOf(principal)
        const query = queryOf(body.input, decisions.readAt(environmentId))
        return { status: 200, body: { result: { allow: decisions.evaluate(environmentId, query) } } }
      },
    }),
  ]
}
