/**
 * `/kong` (conditions.md 10.6): decisions for the Open Policy Agent plugin of the Kong gateway. The plugin
 * sends no credentials. Therefore these decisions have their own port (`KONG_PORT`), for networks in which
 * only the gateway can reach it. All checks on this port are made in one fixed environment. On the main port,
 * `/kong` requires an API key like any other path.
 */
import type { DecisionService } from '#decisions/decision-service.ts'
import { questionAtGateway } from '#decisions/dialects/kong-query.ts'
import { queryOf } from '#decisions/dialects/native-query.ts'
import { PrebuiltReply } from '#http/message/answer.ts'
import { environmentOf } from '#http/routing/route-access.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import { AuthzError } from '#model/errors.ts'
import type { Principal } from '#model/principal.ts'
import { TextQuestion } from '#model/question.ts'
import { prebuiltResponse } from './prebuilt-response.ts'
import { KongQuery, KongResult } from '#model/wire/decisions/kong.ts'

const ANSWERS = [false, true].map(result => new PrebuiltReply(200, { result }))

export function kongRoute(decisions: DecisionService): Route {
  return defineRoute({
    method: 'POST',
    path: '/kong',
    operationId: 'isAllowedKong',
    level: 'decide',
    summary: 'Check whether a consumer can send a request, for the Open Policy Agent plugin of Kong',
    family: 'native',
    access: 'environment',
    body: KongQuery,
    responses: { 200: { description: 'The decision: allow or deny.', schema: KongResult } },
    handle: ({ principal, body, caller }) => {
      const environmentId = environmentOf(principal)
      const question = questionAtGateway(body)
      if (question === null) return ANSWERS[0]!
      const query = queryOf(question, decisions.now())
      return prebuiltResponse(ANSWERS, decisions.evaluate(environmentId, TextQuestion.single(query), caller))
    },
  })
}

/**
 * Routes for clients that send no credentials. Their requests have the access rights of the principal that
 * `caller` returns. It returns null while the environment of this principal is unknown.
 */
export function kongRoutesFor(decisions: DecisionService, caller: () => Principal | null): Route[] {
  const route = kongRoute(decisions)
  return [
    {
      ...route,
      access: 'public',
      level: null,
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
