/** Converts the bytes of a body to the value that the handler of its route gets. */
import { bytesOf } from '#http/message/byte-views.ts'
import { AuthzError } from '#model/errors.ts'
import { JSON_DEPTH_MAX } from '#model/limits.ts'
import { DECISION_DEPTH_MAX, malformed, parseJson, withoutByteOrderMark } from './json.ts'
import type { Principal } from '#model/principal.ts'
import type { Route } from './route.ts'

/**
 * Parses the body as JSON without validating it. Returns `undefined` if the route has no body, or if its body
 * is optional and absent. Throws the error for the client if the body is not valid JSON. `contentEncoding`:
 * value of this request header.
 */
export function parseBody(route: Route, body: DataView, contentEncoding: string | undefined): unknown {
  if (route.body === null) return undefined
  const bytes = withoutByteOrderMark(bytesOf(body))
  if (bytes.length === 0 && !route.body.isRequired) return undefined
  if (route.body.isForm) return formIn(bytes)
  try {
    const value = parseJson(bytes, route.family === 'management' ? JSON_DEPTH_MAX : DECISION_DEPTH_MAX)
    return route.presentForm === null ? value : route.presentForm(value)
  } catch (error) {
    const isCoded = (contentEncoding ?? 'identity') !== 'identity'
    const isReadable = !(error instanceof AuthzError) || error.code !== 'MALFORMED_REQUEST'
    if (!isCoded || isReadable || bytes.length === 0) throw error
    throw malformed('the body must be uncompressed JSON: send it without Content-Encoding')
  }
}

/** The fields of a form. A field that occurs several times has no single value, so it is left out. */
function formIn(bytes: Uint8Array): Readonly<Record<string, string>> {
  const fields = new Map<string, string | null>()
  for (const [name, value] of new URLSearchParams(Buffer.from(bytes).toString())) {
    fields.set(name, fields.has(name) ? null : value)
  }
  const single = Array.from(fields).filter((field): field is [string, string] => field[1] !== null)
  return Object.fromEntries(single)
}

/**
 * Reads a common body directly from its bytes. If this is not possible, parses and validates the body. Only
 * for routes that use no other part of a request.
 */
export function readBody(
  route: Route,
  body: DataView,
  { principal, contentEncoding }: { principal: Principal | null; contentEncoding: string | undefined },
): unknown {
  const read = route.readBytes?.(body, principal) ?? null
  if (read !== null) return read
  const value = parseBody(route, body, contentEncoding)
  if (value !== undefined) route.body?.shape.check(value)
  return value
}
