/**
 * `/kong` (conditions.md 10.6): decisions for the Open Policy Agent plugin of the Kong gateway. The plugin sends no
 * credentials. So there is a listener of its own (`KONG_PORT`), for networks where the gateway alone reaches it; what is asked there
 * is about one environment. On the main port the path takes a key, as all others do.
 */
import type { DecisionService } from '#decisions/decision-service.ts'
import { questionAtGateway } from '#decisions/kong-query.ts'
import { queryOf } from '#decisions/native-query.ts'
import { StandingReply } from '#http/message/answer.ts'
import { environmentOf } from '#http/routing/route-access.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import { AuthzError } from '#model/errors.ts'
import type { Principal } from '#model/principal.ts'
import { standingAnswer } from './standing-answer.ts'
import { KongQuery, KongResult } from '#model/wire/kong.ts'

const ANSWERS = [false, true].map(result => new StandingReply(200, { result }))

export function kongRoute(decisions: DecisionService): Route {
  return defineRoute({
    method: 'POST',
    path: '/kong',
    operationId: 'isAllowedKong',
    summary: 'May this consumer send this request? Asked by the Open Policy Agent plugin of Kong',
    family: 'native',
    access: 'environment',
    body: KongQuery,
    responses: { 200: { description: 'The decision; a deny is one too.', schema: KongResult } },
    handle: ({ principal, body, caller }) => {
      const environmentId = environmentOf(principal)
      const question = questionAtGateway(body)
      if (question === null) return ANSWERS[0]!
      const query = queryOf(question, decisions.readAt(environmentId))
      return standingAnswer(ANSWERS, decisions.evaluate(environmentId, query, caller))
    },
  })
}

/** The same for callers without credentials. `caller` stands for them; null while the environment that they ask is not known. */
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
          'the environment in KONG_ENVIRONMENT is not there, or has no API key',
        )
      },
    },
  ]
}
