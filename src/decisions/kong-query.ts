/**
 * A request at a gateway as a question (conditions, section 10.6): may the consumer do what the method says on the type that the
 * path says, in the default tenant?
 */
import { DEFAULT_TENANT } from '#model/decision.ts'
import { hasDotSegments } from '#model/dot-segments.ts'
import type { AllowedQuery } from '#model/wire/decision.ts'
import type { KongQuery } from '#model/wire/kong.ts'

const TYPE_BEHIND_VERSION = /^\/v\d+\/([^/]+)/
const TYPE_IN_FRONT = /^\/([^/]+)/
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
  const [plain] = path.split('?', 1) as [string]
  if (plain === '/') return INDEX_TYPE
  if (hasDotSegments(plain)) return null
  return TYPE_BEHIND_VERSION.exec(plain)?.[1] ?? TYPE_IN_FRONT.exec(plain)?.[1] ?? null
}
