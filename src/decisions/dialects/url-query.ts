/** Converts a URL request to a query with the mapping rules of the environment (conditions.md 10.3). */
import type { DecisionEngine } from '#engine/engine.ts'
import { AuthzError } from '#model/errors.ts'
import type { AllowedUrlQuery } from '#model/wire/decisions/allowed-url.ts'
import type { AllowedQuery } from '#model/wire/decisions/decision.ts'

/**
 * Returns the query, or null if no mapping rule matches; the check is then denied. The values of placeholders
 * become attributes of the resource; their names can be any text. The query is about the type as a whole.
 * Throws `INVALID_SHAPE` if the request has no method.
 */
export function questionOfUrl(asked: AllowedUrlQuery, engine: DecisionEngine): AllowedQuery | null {
  const { user, url, tenant, context } = asked
  const method = asked.http_method ?? asked.httpMethod
  if (!method) {
    const detail = [{ loc: ['body', 'http_method'], msg: 'is required', type: 'missing' }]
    throw new AuthzError('INVALID_SHAPE', 'http_method: is required', { detail })
  }
  const mapped = engine.mapped(method, url)
  if (mapped === null) return null
  const { type, action, attributes } = mapped
  return { user, action, resource: { type, tenant, attributes }, ...(context && { context }) }
}
