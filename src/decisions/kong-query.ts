/**
 * Converts a gateway request to a query (conditions.md 10.6): can the consumer perform the action of the HTTP
 * method on the resource type of the path, in the default tenant?
 */
import { DEFAULT_TENANT } from '#model/decision.ts'
import { readRequestUrl } from '#model/mapping-urls.ts'
import type { AllowedQuery } from '#model/wire/decision.ts'
import type { KongQuery } from '#model/wire/kong.ts'

const VERSION = /^v\d+$/
/** Resource type for the path `/`. */
const INDEX_TYPE = 'index'

/** Returns null if the request has no consumer or the path names no type. The result is then a denial. */
export function questionAtGateway({ input }: KongQuery): AllowedQuery | null {
  const { method, path } = input.request.http
  const key = input.consumer?.username
  const type = typeOfPath(path)
  if (!key || type === null) return null
  return { user: { key }, action: method.toLowerCase(), resource: { type, tenant: DEFAULT_TENANT } }
}

/** O(path). */
function typeOfPath(path: string): string | null {
  // The path of a gateway can have more segments than a mapping rule.
  const url = path.startsWith('/') ? readRequestUrl(path, Number.POSITIVE_INFINITY) : null
  if (url === null) return null
  const [, first, second] = url.segments
  if (first === undefined) return INDEX_TYPE
  return (VERSION.test(first) && second !== undefined ? second : first) || null
}
