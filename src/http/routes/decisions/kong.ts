/**
 * `/kong` (conditions.md 10.6): decisions for the Open Policy Agent plugin of the Kong gateway. The plugin
 * sends no credentials. Therefore it has a separate listener (`KONG_PORT`), for networks in which only the
 * gateway can reach it. Checks on this listener are about one fixed environment. On the main port, the path
 * requires a key, like all others.
 */
import type { DecisionService } from '#decisions/decision-service.ts'
import { questionAtGateway } from '#decisions/kong-query.ts'
import { queryOf } from '#decisions/native-query.ts'
import { PrebuiltReply } from '#http/message/answer.ts'
import { environmentOf } from '#http/routing/route-access.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import { AuthzError } from '#model/errors.ts'
import type { Principal } from '#model/principal.ts'
import { prebuiltResponse } from './prebuilt-response.ts'
import { KongQuery, KongResult } from '#model/wire/kong.ts'

const ANSWERS = [false, true].map(result => new PrebuiltReply(200, { result }))

export function kongRoute(decisions: DecisionService): Route {
  return defineRoute({
    method: 'POST',
    path: '/kong',
    operationId: 'isAllowedKong',
    summary: 'Check whether a consumer can send a request, for the Open Policy Agent plugin of Kong',
    family: 'native',
    access: 'environment',
    body: KongQuery,
    responses: { 200: { description: 'The decision: allow or deny.', schema: KongResult } },
    handle: ({ principal, body, caller }) => {
      const environmentId = environmentOf(principal)
      const question = questionAtGateway(body)
      if (question === null) return ANSWERS[0]!
      const query = queryOf(question, decisions.readAt(environmentId))
      return prebuiltResponse(ANSWERS, decisions.evaluate(environmentId, query, caller))
    },
  })
}

/**
 * Routes for clients without credentials. `caller` returns the principal on whose behalf they are evaluated,
 * or null while its environment is unknown.
 */
export function kongRoutesFor(decisions: DecisionService, caller: () => Principal | null): Route[] {
  const route = kongRoute(decisions)
  return [
    {
      ...route,
      access: 'public',
      handle: call => {
        const principal = caller()
        if (principal !== null) return route.handle({ ...call, principal })
        throw new AuthzError(
          'NOT_READY',
          'the environment in KONG_ENVIRONMENT does not exist or has no API key',
        )
      },
    },
  ]
}
