/**
 * Converts a gateway request to a query (conditions.md 10.6). The query asks whether the consumer may perform
 * the action that the HTTP method names, on the resource type that the path names, in the default tenant.
 */
import { DEFAULT_TENANT } from '#model/decision.ts'
import { readRequestUrl } from '#model/mapping-urls.ts'
import type { AllowedQuery } from '#model/wire/decisions/decision.ts'
import type { KongQuery } from '#model/wire/decisions/kong.ts'

const VERSION = /^v\d+$/
/** Resource type for the path `/`. */
const INDEX_TYPE = 'index'

/**
 * Returns the query. Returns null if the request has no consumer or if the path names no type; the check is
 * then denied.
 */
export function questionAtGateway({ input }: KongQuery): AllowedQuery | null {
  const { method, path } = input.request.http
  const key = input.consumer?.username
  const type = typeOfPath(path)
  if (!key || type === null) return null
  return { user: { key }, action: method.toLowerCase(), resource: { type, tenant: DEFAULT_TENANT } }
}

/** Returns the resource type that the path names, or null if it names none. O(path). */
function typeOfPath(path: string): string | null {
  // No limit on the number of segments: the path of a gateway request can have more segments than a mapping
  // rule.
  const url = path.startsWith('/') ? readRequestUrl(path, Number.POSITIVE_INFINITY) : null
  if (url === null) return null
  const [, first, second] = url.segments
  if (first === undefined) return INDEX_TYPE
  return (VERSION.test(first) && second !== undefined ? second : first) || null
}
