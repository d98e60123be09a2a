/**
 * From a request's head and body to a reply, in plain values: the order in which a request is checked.
 *
 *   head  ─► path and method ─► credentials ─► content type ─┐   (`find`, `admit`: before any body byte is kept)
 *   body  ───────────────────────────────────────────────────┴─► JSON ─► shape ─► handler      (`answer`)
 *
 * A route may take a usual body as bytes (`readBytes`): the handler then gets what was read there.
 * What fails first is what the caller hears of (contract D-38, authzen.md 2.3). Existence and meaning are the handler's.
 * Nothing here waits: a reply is a promise only if the handler returns one, and every refusal is thrown.
 */
import { AuthzError } from '#model/errors.ts'
import { JSON_DEPTH_MAX } from '#model/limits.ts'
import type { Principal } from '#model/principal.ts'
import { type Authenticate, identifyCaller } from './credentials.ts'
import type { HttpRequest, Reply } from './exchange.ts'
import { DECISION_DEPTH_MAX, parseJson } from './json.ts'
import { decodePathPart } from './path.ts'
import type { Route } from './route.ts'
import { type RouteMatch, Router } from './router.ts'

/** A request before its body. */
export type RequestHead = Omit<HttpRequest, 'body'>

const NOTHING: Readonly<Record<never, never>> = Object.freeze({})
const JSON_TYPE = 'application/json'

export class Dispatcher {
  readonly #router: Router
  readonly #authenticate: Authenticate
  readonly #hasStrictHeaders: boolean

  constructor(routes: readonly Route[], authenticate: Authenticate, hasStrictHeaders: boolean) {
    this.#router = new Router(routes)
    this.#authenticate = authenticate
    this.#hasStrictHeaders = hasStrictHeaders
  }

  /** The route for a method and path. Throws the refusal when there is none. */
  find(head: RequestHead): RouteMatch {
    return this.#router.match(head.method, head.path)
  }

  /** Checks what else the head can tell, and says who is calling. Throws the refusal. */
  admit({ route }: RouteMatch, head: RequestHead): Principal | null {
    const principal = identifyCaller(route.access, head.headers.get('authorization'), this.#authenticate)
    if (route.requireJsonContentType && !isJsonType(head.headers.get('content-type'))) {
      throw new AuthzError('MALFORMED_REQUEST', `this request needs Content-Type: ${JSON_TYPE}`)
    }
    if (this.#hasStrictHeaders) requireHeaders(route, head)
    return principal
  }

  /** Checks the rest of an admitted request and calls the handler. The body is not used after this returns. */
  answer(
    match: RouteMatch,
    principal: Principal | null,
    head: RequestHead,
    body: Buffer,
  ): Reply | Promise<Reply> {
    const { route } = match
    const read = route.readBytes?.(body) ?? null
    const value = read ?? readBody(route, body)
    const params = route.paramNames.length === 0 ? NOTHING : readParams(match)
    const query = route.query === null ? NOTHING : route.query.read(head.query)
    if (read === null && value !== undefined) route.body?.shape.check(value)
    return route.handle({ principal, params, query, body: value, headers: head.headers })
  }
}

function requireHeaders(route: Route, head: RequestHead): void {
  const missing = route.strictHeaders.filter(name => !head.headers.has(name))
  if (missing.length === 0) return
  throw new AuthzError('MALFORMED_REQUEST', `this request needs the header ${missing.join(' and ')}`)
}

/** The body as JSON; `undefined` when the route takes none, or may do without and got none. */
function readBody(route: Route, body: Buffer): unknown {
  if (route.body === null) return undefined
  if (body.length === 0 && !route.body.isRequired) return undefined
  return parseJson(body, route.family === 'management' ? JSON_DEPTH_MAX : DECISION_DEPTH_MAX)
}

function readParams({ route, rawParams }: RouteMatch): Readonly<Record<string, string>> {
  const params: Record<string, string> = {}
  for (const [i, name] of route.paramNames.entries()) params[name] = decodePathPart(rawParams[i]!, name)
  route.params?.check(params)
  return params
}

/** Whether a content type is JSON, whatever its parameters. */
function isJsonType(contentType: string | undefined): boolean {
  if (contentType === undefined || contentType === JSON_TYPE) return contentType !== undefined
  const end = contentType.indexOf(';')
  return (end === -1 ? contentType : contentType.slice(0, end)).trim().toLowerCase() === JSON_TYPE
}
