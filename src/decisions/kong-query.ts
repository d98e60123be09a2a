/**
 * A request at a gateway as a question (conditions.md 10.6): may the consumer do what the method says on the type that the
 * path says, in the default tenant?
 */
import { DEFAULT_TENANT } from '#model/decision.ts'
import { readRequestUrl } from '#model/mapping-urls.ts'
import type { AllowedQuery } from '#model/wire/decision.ts'
import type { KongQuery } from '#model/wire/kong.ts'

const VERSION = /^v\d+$/
/** The type of the path `/`. */
const INDEX_TYPE = 'index'

/** Null where nothing can be asked, which is a deny: nobody asks, or the path says no type. */
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
