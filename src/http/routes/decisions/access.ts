/** AuthZEN evaluations, single and in batches (authzen.md 3 and 4). */
import type { AccessService } from '#decisions/access-service.ts'
import type { DecisionService } from '#decisions/decision-service.ts'
import type { BatchReader } from '#http/bytes/batch-reader.ts'
import type { SingleReader } from '#http/bytes/single-reader.ts'
import { PrebuiltReply } from '#http/message/answer.ts'
import { REQUIRED_CACHE_CONTROL, REQUIRED_REQUEST_ID } from '#http/message/header-fields.ts'
import { environmentOf } from '#http/routing/route-access.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import { Shape } from '#http/routing/shape.ts'
import { PackedQueries } from '#model/packed-queries.ts'
import {
  Decision,
  EvaluationRequest,
  EvaluationsRequest,
  EvaluationsResponse,
  StrictEvaluationRequest,
} from '#model/wire/decisions/access.ts'
import { evaluationsAnswer, replyWith } from './bulk-answer.ts'
import { prebuiltResponse } from './prebuilt-response.ts'

/**
 * Returns a validator for one evaluation. If `isStrict` is true, the validator rejects a resource without an
 * ID (native.md 0.15).
 */
export function evaluationReader(isStrict: boolean): (value: unknown) => EvaluationRequest {
  const shape = new Shape(isStrict ? StrictEvaluationRequest : EvaluationRequest, 'body')
  return value => {
    shape.check(value)
    return value as EvaluationRequest
  }
}

export interface AccessRouteOptions {
  readonly isStrict: boolean
  /** Readers that read common bodies directly from their bytes. If null, all bodies are parsed. */
  readonly bytes: { readonly singles: SingleReader; readonly batches: BatchReader } | null
}

/** Responses to a deny (index 0) and to an allow (index 1). */
const ANSWERS = [false, true].map(decision => new PrebuiltReply(200, { decision }))

export function accessRoutes(
  decisions: DecisionService,
  access: AccessService,
  { isStrict, bytes }: AccessRouteOptions,
): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/access/v1/evaluation',
      operationId: 'accessEvaluation',
      level: 'decide',
      summary: 'AuthZEN access evaluation',
      family: 'access',
      access: 'environment',
      requireJsonContentType: true,
      headers: [REQUIRED_REQUEST_ID, REQUIRED_CACHE_CONTROL],
      ignoresHeaders: true,
      body: isStrict ? StrictEvaluationRequest : EvaluationRequest,
      responses: { 200: { description: 'The decision: allow or deny.', schema: Decision } },
      readBytes: bytes === null ? undefined : body => bytes.singles.read(body),
      handle: ({ principal, body, caller }) => {
        const environmentId = environmentOf(principal)
        if (body instanceof PackedQueries) {
          return prebuiltResponse(ANSWERS, decisions.evaluate(environmentId, body, caller))
        }
        const answer = access.evaluate(environmentId, body, caller)
        if (answer instanceof Promise) return answer.then(made => ({ status: 200, body: made }))
        return { status: 200, body: answer }
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/access/v1/evaluations',
      operationId: 'accessEvaluations',
      level: 'decide',
      summary: 'AuthZEN access evaluations: a batch with defaults and three semantics',
      family: 'access',
      access: 'environment',
      requireJsonContentType: true,
      headers: [REQUIRED_REQUEST_ID, REQUIRED_CACHE_CONTROL],
      ignoresHeaders: true,
      body: EvaluationsRequest,
      responses: {
        200: {
          description: 'One decision per item. If an item ends the batch, its decision is the last one.',
          schema: EvaluationsResponse,
        },
      },
      readBytes: bytes === null ? undefined : body => bytes.batches.read(body),
      handle: ({ principal, body, caller }) => {
        const environmentId = environmentOf(principal)
        if (body instanceof PackedQueries) {
          return replyWith(decisions.evaluate(environmentId, body, caller), evaluationsAnswer)
        }
        const answer = access.evaluateBatch(environmentId, body, caller)
        if (answer instanceof Promise) return answer.then(made => ({ status: 200, body: made }))
        return { status: 200, body: answer }
      },
    }),
  ]
}
