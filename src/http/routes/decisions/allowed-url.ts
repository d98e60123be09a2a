/**
 * `/allowed_url` (conditions.md 10.3): checks whether a user can send an HTTP request. Mapping rules define
 * the action and the resource of the request.
 */
import type { DecisionService } from '#decisions/decision-service.ts'
import { questionOfUrl } from '#decisions/dialects/url-query.ts'
import { PrebuiltReply } from '#http/message/answer.ts'
import { REQUIRED_REQUEST_ID } from '#http/message/header-fields.ts'
import { environmentOf } from '#http/routing/route-access.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import { AllowedUrlQuery, AllowedUrlResult, NO_MATCHING_RULE } from '#model/wire/decisions/allowed-url.ts'
import { decided, seesReasons } from './allowed.ts'

const DENIED = { allow: false, result: false }
const NO_RULE = new PrebuiltReply(200, DENIED)
const NO_RULE_TOLD = new PrebuiltReply(200, { ...DENIED, debug: { reason: NO_MATCHING_RULE } })

export function allowedUrlRoute(decisions: DecisionService, hasDebug: boolean): Route {
  return defineRoute({
    method: 'POST',
    path: '/allowed_url',
    operationId: 'isAllowedUrl',
    level: 'decide',
    summary: 'Check whether a user can send an HTTP request, according to the mapping rules of proxy configs',
    family: 'native',
    access: 'environment',
    headers: [REQUIRED_REQUEST_ID],
    body: AllowedUrlQuery,
    responses: { 200: { description: 'The decision: allow or deny.', schema: AllowedUrlResult } },
    handle: ({ principal, body, caller }) => {
      const environmentId = environmentOf(principal)
      const question = questionOfUrl(body, decisions.engine(environmentId))
      const isExplained = hasDebug && seesReasons(principal)
      if (question === null) return isExplained ? NO_RULE_TOLD : NO_RULE
      return decided({ decisions, hasDebug: isExplained }, environmentId, question, caller)
    },
  })
}
