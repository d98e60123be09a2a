/**
 * Finds the route for a method and a path. Fixed segments take precedence over parameters. If the fixed
 * segments do not lead to a route, the parameters are tried. Therefore routes such as `/users/bulk` and
 * `/users/{user_id}` can coexist. The router selects the most specific route *that has the method*, like the
 * service with which this API is compatible.
 *
 * A HEAD request gets the route of GET, unless this route changes something. The response writer omits the
 * body.
 *
 * Paths are compared as sent: the router does not ignore case or trailing slashes, and it does not decode
 * fixed segments. Matching is O(segments). The HTTP library itself matches routes without parameters, which
 * include all decisions (see `server.ts`). Requests for these paths reach this code only if the library did
 * not match them.
 */
import { assert } from '#model/assert.ts'
import { AuthzError } from '#model/errors.ts'
import { paramNameOf, type Route } from './route.ts'

/** A route and the values of its path parameters, in order. The values are not decoded. */
export interface RouteMatch {
  readonly route: Route
  readonly rawParams: readonly string[]
}

/**
 * Error for a known path without a route for the method. `allow` lists the methods that exist for the path.
 */
export class MethodNotAllowedError extends AuthzError {
  readonly allow: string

  constructor(methods: ReadonlySet<string>) {
    const allow = [...methods].toSorted().join(', ')
    super('METHOD_NOT_ALLOWED', `this path supports only ${allow}`)
    this.allow = allow
  }
}

interface RouteNode {
  readonly fixed: Map<string, RouteNode>
  parameter: RouteNode | null
  readonly routes: Map<string, Route>
}

export class Router {
  readonly #root: RouteNode = newNode()

  constructor(routes: readonly Route[]) {
    for (const route of routes) this.#add(route)
  }

  /** Throws `METHOD_NOT_ALLOWED` or `UNKNOWN_PATH` if there is no such route. */
  match(method: string, path: string): RouteMatch {
    const methods = new Set<string>()
    const wanted = { parts: partsOf(path), method, methods }
    const match = find(this.#root, wanted, 0, [])
    if (match !== null) return match
    if (methods.size > 0) throw new MethodNotAllowedError(methods)
    throw new AuthzError('UNKNOWN_PATH', 'this path does not exist')
  }

  #add(route: Route): void {
    let node = this.#root
    for (const part of partsOf(route.path)) {
      let next = paramNameOf(part) === null ? node.fixed.get(part) : node.parameter
      if (!next) {
        next = newNode()
        if (paramNameOf(part) === null) node.fixed.set(part, next)
        else node.parameter = next
      }
      node = next
    }
    assert(!node.routes.has(route.method), `two routes for ${route.method} ${route.path}`)
    node.routes.set(route.method, route)
  }
}

interface RouteQuery {
  readonly parts: readonly string[]
  readonly method: string
  /** Receives the methods of all routes that match the path. */
  readonly methods: Set<string>
}

/** The depth of the recursion is limited by the longest route template, even for a longer path. */
function find(
  node: RouteNode,
  wanted: RouteQuery,
  depth: number,
  rawParams: readonly string[],
): RouteMatch | null {
  if (depth === wanted.parts.length) {
    const { method, methods } = wanted
    const route = method === 'HEAD' ? readOf(node) : node.routes.get(method)
    if (route !== undefined) return { route, rawParams }
    for (const each of node.routes.keys()) methods.add(each)
    if (readOf(node) !== undefined) methods.add('HEAD')
    return null
  }
  const part = wanted.parts[depth]!
  const fixed = node.fixed.get(part)
  const match = fixed === undefined ? null : find(fixed, wanted, depth + 1, rawParams)
  if (match !== null || node.parameter === null || part === '') return match
  return find(node.parameter, wanted, depth + 1, [...rawParams, part])
}

/** Route for HEAD requests: that of GET, unless it changes something. */
function readOf({ routes }: RouteNode): Route | undefined {
  const route = routes.get('GET')
  return route?.isRead === true ? route : undefined
}

/** Splits a path into its segments. The empty string before the first slash is not a segment. */
function partsOf(path: string): string[] {
  return path.split('/').slice(1)
}

function newNode(): RouteNode {
  return { fixed: new Map(), parameter: null, routes: new Map() }
}
