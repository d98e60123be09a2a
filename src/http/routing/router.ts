/**
 * Finds the route for a method and a path. Fixed parts go before parameters, and a path that no fixed part leads
 * to the end of is tried with the parameters, so that `/users/bulk` and `/users/{user_id}` can stand side by side: the
 * most specific route *that has the method* wins, as in the service whose paths these are.
 *
 * HEAD is answered by whatever answers GET; that no body goes out is up to who writes the answer.
 *
 * Paths are compared as sent: no case folding, no trailing slashes, no decoding of fixed parts.
 * Matching is O(parts). Routes without parameters, hence every decision, never come here when they match: `server.ts` lets
 * the HTTP library find those.
 */
import { assert } from '#model/assert.ts'
import { AuthzError } from '#model/errors.ts'
import { paramNameOf, type Route } from './route.ts'

/** A route and the raw, undecoded path parts at its parameters, in order. */
export interface RouteMatch {
  readonly route: Route
  readonly rawParams: readonly string[]
}

/** A known path, but none of its routes has the method; `allow` lists those that would do. */
export class MethodNotAllowedError extends AuthzError {
  readonly allow: string

  constructor(methods: ReadonlySet<string>) {
    const allow = [...methods].toSorted().join(', ')
    super('METHOD_NOT_ALLOWED', `this path answers to ${allow}`)
    this.allow = allow
  }
}

interface Node {
  readonly fixed: Map<string, Node>
  parameter: Node | null
  readonly routes: Map<string, Route>
}

export class Router {
  readonly #root: Node = newNode()

  constructor(routes: readonly Route[]) {
    for (const route of routes) this.#add(route)
  }

  /** Throws `METHOD_NOT_ALLOWED` or `UNKNOWN_PATH` when there is no such route. */
  match(method: string, path: string): RouteMatch {
    const methods = new Set<string>()
    const wanted = { parts: partsOf(path), method: method === 'HEAD' ? 'GET' : method, methods }
    const match = find(this.#root, wanted, 0, [])
    if (match !== null) return match
    if (methods.has('GET')) methods.add('HEAD')
    if (methods.size > 0) throw new MethodNotAllowedError(methods)
    throw new AuthzError('UNKNOWN_PATH', 'there is nothing under this path')
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

interface Wanted {
  readonly parts: readonly string[]
  readonly method: string
  /** Collects the methods of every route that has this path. */
  readonly methods: Set<string>
}

/** Recursion no deeper than the longest template of ours: below it there are no nodes, however long the path. */
function find(node: Node, wanted: Wanted, depth: number, rawParams: readonly string[]): RouteMatch | null {
  if (depth === wanted.parts.length) {
    const route = node.routes.get(wanted.method)
    if (route !== undefined) return { route, rawParams }
    for (const method of node.routes.keys()) wanted.methods.add(method)
    return null
  }
  const part = wanted.parts[depth]!
  const fixed = node.fixed.get(part)
  const match = fixed === undefined ? null : find(fixed, wanted, depth + 1, rawParams)
  if (match !== null || node.parameter === null || part === '') return match
  return find(node.parameter, wanted, depth + 1, [...rawParams, part])
}

/** The parts between the slashes; the empty one before the first slash is no part. */
function partsOf(path: string): string[] {
  return path.split('/').slice(1)
}

function newNode(): Node {
  return { fixed: new Map(), parameter: null, routes: new Map() }
}
