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
import { BulkReader } from '../bytes/bulk-reader.ts'
import { REQUIRED_REQUEST_ID } from '../header-fields.ts'
import { defineRoute, type Route } from '../route.ts'
import { bulkAnswer } from './bulk-answer.ts'
import { environmentOf } from './caller.ts'

export interface AllowedOptions {
  /** Whether answers explain themselves; takes time, so it is off unless asked for. */
  readonly hasDebug: boolean
  /** Whether bulks of the usual kind are read from their bytes. With debug they are not: it tells the question again. */
  readonly hasBulkBytesPath: boolean
  readonly bulkChecksMax: number
}

export function allowedRoutes(decisions: DecisionService, options: AllowedOptions): Route[] {
  const { hasDebug, hasBulkBytesPath, bulkChecksMax } = options
  const reader = hasBulkBytesPath && !hasDebug ? new BulkReader(bulkChecksMax) : null
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
      body: AllowedQuery,
      responses: { 200: { description: 'The decision; a deny is one too.', schema: AllowedResult } },
      handle: ({ principal, body }) => {
        const environmentId = environmentOf(principal)
        const allow = decisions.evaluate(environmentId, queryOf(body))
        return {
          status: 200,
          body: hasDebug ? withDebug(environmentId, body, allow) : { allow, result: allow },
        }
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
      body: BulkAuthorizationQuery,
      responses: { 200: { description: 'One result for each check, in order.', schema: BulkAllowedResult } },
      readBytes: reader === null ? undefined : body => reader.read(body),
      handle: ({ principal, body }) => {
        const environmentId = environmentOf(principal)
        if (body instanceof PackedQueries) {
          return { status: 200, body: bulkAnswer(decisions.evaluatePacked(environmentId, body)) }
        }
        const decided = decisions.evaluateAll(environmentId, body.map(queryOf))
        if (!hasDebug) return { status: 200, body: bulkAnswer(decided) }
        const results = decided.map((allow, index) => withDebug(environmentId, body[index]!, allow))
        return { status: 200, body: { allow: results } }
      },
    }),
  ]
}
