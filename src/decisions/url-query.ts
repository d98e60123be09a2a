/** A request by its URL as a question (conditions.md 10.3): the one that the mapping rules of the environment make of it. */
import type { DecisionEngine } from '#engine/engine.ts'
import { AuthzError } from '#model/errors.ts'
import type { AllowedUrlQuery } from '#model/wire/allowed-url.ts'
import type { AllowedQuery } from '#model/wire/decision.ts'

/**
 * Null: no rule fits, which is a deny. What its placeholders stand for are attributes of the resource, whatever they are called; the
 * question is about the type as such. Throws `INVALID_SHAPE` without a method.
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
