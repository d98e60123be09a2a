/** `/allowed` and `/allowed/bulk`: the native decision interface (contract A.2, A.3). */
import { PackedQueries } from '#model/packed-queries.ts'
import {
  AllowedQuery,
  AllowedResult,
  BulkAllowedResult,
  BulkAuthorizationQuery,
  ExplainedResult,
} from '#model/wire/decision.ts'
import { debugOf } from '#services/decision-debug.ts'
import type { DecisionService } from '#services/decision-service.ts'
import { queryOf } from '#services/native-query.ts'
import { StandingReply } from '../answer.ts'
import { NATIVE } from '../bytes/asked-question.ts'
import { BulkReader } from '../bytes/bulk-reader.ts'
import { SingleReader } from '../bytes/single-reader.ts'
import { REQUIRED_REQUEST_ID } from '../header-fields.ts'
import { defineRoute, type Route } from '../route.ts'
import { bulkAnswer, replyWith } from './bulk-answer.ts'
import { environmentOf } from './caller.ts'

export interface AllowedOptions {
  /** Whether answers explain themselves; takes time, so it is off unless asked for. */
  readonly hasDebug: boolean
  /** Whether bodies of the usual kind are read from their bytes. With debug they are not: it tells the question again. */
  readonly hasBytesPath: boolean
  readonly bulkChecksMax: number
}

/** A deny and an allow. */
const ANSWERS = [false, true].map(allow => new StandingReply(200, { allow, result: allow }))

export function allowedRoutes(decisions: DecisionService, options: AllowedOptions): Route[] {
  const { hasDebug, hasBytesPath, bulkChecksMax } = options
  const isReadFromBytes = hasBytesPath && !hasDebug
  const singles = isReadFromBytes ? new SingleReader(NATIVE) : null
  const bulks = isReadFromBytes ? new BulkReader(bulkChecksMax) : null
  const withDebug = (environmentId: string, question: AllowedQuery, allow: boolean) => {
    const query = queryOf(question)
    const hasTenantRoles = decisions.engine(environmentId).tenantRolesOf(query.user, null, 1).length > 0
    const debug = debugOf(question, query, decisions.explain(environmentId, query), hasTenantRoles)
    const { user, action, resource } = question
    return { allow, result: allow, debug, query: { user, action, resource } }
  }
  const explained = (environmentId: string, question: AllowedQuery) => {
    const allow = decisions.evaluate(environmentId, queryOf(question))
    const { query: _query, ...result } = withDebug(environmentId, question, allow)
    return result
  }
  return [
    defineRoute({
      method: 'POST',
      path: '/allowed',
      operationId: 'isAllowed',
      summary: 'May this user do this on that resource?',
      family: 'native',
      access: 'environment',
      headers: [REQUIRED_REQUEST_ID],
      ignoresHeaders: true,
      body: AllowedQuery,
      responses: { 200: { description: 'The decision; a deny is one too.', schema: AllowedResult } },
      readBytes: singles === null ? undefined : body => singles.read(body),
      handle: ({ principal, body }) => {
        const environmentId = environmentOf(principal)
        if (body instanceof PackedQueries) {
          return ANSWERS[Number(decisions.evaluateFirst(environmentId, body))]!
        }
        const allow = decisions.evaluate(environmentId, queryOf(body))
        if (!hasDebug) return ANSWERS[Number(allow)]!
        return { status: 200, body: withDebug(environmentId, body, allow) }
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/allowed/explain',
      operationId: 'explainAllowed',
      summary: 'The same question, and why it is answered so; slower, whatever `DEBUG_DECISIONS` says',
      family: 'native',
      access: 'environment',
      headers: [REQUIRED_REQUEST_ID],
      body: AllowedQuery,
      responses: { 200: { description: 'The decision with its explanation.', schema: ExplainedResult } },
      handle: ({ principal, body }) => ({ status: 200, body: explained(environmentOf(principal), body) }),
    }),
    defineRoute({
      method: 'POST',
      path: '/allowed/bulk',
      operationId: 'isAllowedBulk',
      summary: 'Many checks, answered in order',
      family: 'native',
      access: 'environment',
      headers: [REQUIRED_REQUEST_ID],
      ignoresHeaders: true,
      body: BulkAuthorizationQuery,
      responses: { 200: { description: 'One result for each check, in order.', schema: BulkAllowedResult } },
      readBytes: bulks === null ? undefined : body => bulks.read(body),
      handle: ({ principal, body, caller }) => {
        const environmentId = environmentOf(principal)
        if (body instanceof PackedQueries) {
          return replyWith(decisions.evaluatePacked(environmentId, body, caller), bulkAnswer)
        }
        const queries = body.map(queryOf)
        if (!hasDebug) return replyWith(decisions.evaluateBulk(environmentId, queries, caller), bulkAnswer)
        const decided = decisions.evaluateAll(environmentId, queries)
        const results = decided.map((allow, index) => withDebug(environmentId, body[index]!, allow))
        return { status: 200, body: { allow: results } }
      },
    }),
  ]
}
