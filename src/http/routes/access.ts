/** AuthZEN evaluations: single and in batches (authzen.md sections 3 and 4). */
import { PackedQueries } from '#model/packed-queries.ts'
import {
  Decision,
  EvaluationRequest,
  EvaluationsRequest,
  EvaluationsResponse,
  StrictEvaluationRequest,
} from '#model/wire/access.ts'
import type { AccessService } from '#services/access-service.ts'
import type { BatchReader } from '../bytes/batch-reader.ts'
import { REQUIRED_CACHE_CONTROL, REQUIRED_REQUEST_ID } from '../header-fields.ts'
import { defineRoute, type Route } from '../route.ts'
import { Shape } from '../shape.ts'
import { evaluationsAnswer, replyWith } from './bulk-answer.ts'
import { environmentOf } from './caller.ts'

/** Reads one evaluation. Strictly, a resource without an id is refused (contract section 0, row 15). */
export function evaluationReader(isStrict: boolean): (value: unknown) => EvaluationRequest {
  const shape = new Shape(isStrict ? StrictEvaluationRequest : EvaluationRequest, 'body')
  return value => {
    shape.check(value)
    return value as EvaluationRequest
  }
}

export interface AccessRouteOptions {
  readonly isStrict: boolean
  /** Reads batches of the usual kind from their bytes; null: all are parsed. */
  readonly batches: BatchReader | null
}

export function accessRoutes(access: AccessService, { isStrict, batches }: AccessRouteOptions): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/access/v1/evaluation',
      operationId: 'accessEvaluation',
      summary: 'AuthZEN access evaluation',
      family: 'access',
      access: 'environment',
      requireJsonContentType: true,
      headers: [REQUIRED_REQUEST_ID, REQUIRED_CACHE_CONTROL],
      body: isStrict ? StrictEvaluationRequest : EvaluationRequest,
      responses: { 200: { description: 'The decision; a denial is one too.', schema: Decision } },
      handle: ({ principal, body }) => ({
        status: 200,
        body: access.evaluate(environmentOf(principal), body),
      }),
    }),
    defineRoute({
      method: 'POST',
      path: '/access/v1/evaluations',
      operationId: 'accessEvaluations',
      summary: 'AuthZEN access evaluations: a batch with defaults and three semantics',
      family: 'access',
      access: 'environment',
      requireJsonContentType: true,
      headers: [REQUIRED_REQUEST_ID, REQUIRED_CACHE_CONTROL],
      body: EvaluationsRequest,
      responses: {
        200: { description: 'One decision an item, up to the one that stops.', schema: EvaluationsResponse },
      },
      readBytes: batches === null ? undefined : body => batches.read(body),
      handle: ({ principal, body, caller }) => {
        const environmentId = environmentOf(principal)
        if (body instanceof PackedQueries) {
          return replyWith(access.evaluatePacked(environmentId, body, caller), evaluationsAnswer)
        }
        return { status: 200, body: access.evaluateBatch(environmentId, body) }
      },
    }),
  ]
}
