/**
 * Processes a request from its head and body to a reply, as plain values, and defines the order of the
 * checks.
 *
 *   head  ─► path and method ─► credentials ─► content type ─┐   (`find`, `admit`: before the body is kept;
 *                                                            │    also rejects keys of other environments)
 *   body  ───────────────────────────────────────────────────┴─► JSON ─► shape ─► handler      (`answer`)
 *
 * A route can read common bodies directly from their bytes (`readBytes`); the handler then gets that result.
 * Before the credentials, `admit` rejects ambiguous headers (`requireOneReading`). The first failed check
 * determines the error (native.md D-38, authzen.md 2.3). The handler checks whether entities exist and
 * whether the request makes sense. All checks throw synchronously. A reply is a promise only if the handler
 * returns one, or if a decision waits for a revision (`X-Min-Revision`).
 */
import type { RequestClient } from '#decisions/decision-pool.ts'
import { JSON_TYPE } from '#http/message/answer.ts'
import { loggedId } from '#http/message/request-id.ts'
import type { Call, HttpRequest, Reply, RequestNames } from '#http/message/request-reply.ts'
import type { PieceSource } from '#management/content/content-stream.ts'
import { AuthzError } from '#model/errors.ts'
import type { Principal } from '#model/principal.ts'
import { BYTES_HERE_MAX, type LargeBodies, type LargeRequest, type WholeBody } from './large-bodies.ts'
import { decodePathPart } from './path.ts'
import { parseBody } from './read-body.ts'
import { type Authenticate, environmentOf, identifyCaller, requireOwn } from './route-access.ts'
import type { Route } from './route.ts'
import { type RouteMatch, Router } from './router.ts'

/** A request without its body. */
export type RequestHead = Omit<HttpRequest, 'body'>

/** An admitted request: its principal, the client that waits, and its names. */
export interface Admitted {
  readonly principal: Principal | null
  readonly caller: RequestClient & RequestNames
}

const NOTHING: Readonly<Record<never, never>> = Object.freeze({})
/**
 * Maximum number of requests per thread with unknown keys that wait for a revision in which their keys might
 * be known.
 */
export const UNKNOWN_WAITERS_MAX = 100

/** Delays decisions until the node has the revision that the client requires. */
export interface RevisionGate {
  /** Whether the client of that environment need not wait. */
  isReached(text: string, environmentId: string): boolean
  /**
   * Resolves when decisions reflect the required revision. Rejects with the error for the client. `identify`
   * returns the client's environment according to the keys at that time. It throws the error for the client.
   */
  reached(text: string, identify: () => string): Promise<void>
  /** Whether the header contains a revision of the organization that this node has not reached yet. */
  isAhead(text: string): boolean
}

/** Whether a key is below its rate limit. If so, the request is counted. */
export type TakeRate = (keyId: string | null) => boolean

export type OnCall = (requestId: string) => void

export interface DispatchOptions {
  readonly hasStrictHeaders: boolean
  /** Null: `X-Min-Revision` is ignored. */
  readonly minRevision: RevisionGate | null
  /** Null: keys have no rate limit. */
  readonly takeRate: TakeRate | null
  /** Called with the ID of each request directly before its handler. Null: no callback. */
  readonly onCall: OnCall | null
  /** Null: this thread reads all bodies. */
  readonly largeBodies: LargeBodies | null
}

export class Dispatcher {
  readonly #router: Router
  readonly #authenticate: Authenticate
  readonly #hasStrictHeaders: boolean
  readonly #minRevision: RevisionGate | null
  readonly #takeRate: TakeRate | null
  readonly #onCall: OnCall | null
  readonly #largeBodies: LargeBodies | null
  #unknownWaiting = 0

  constructor(routes: readonly Route[], authenticate: Authenticate, options: DispatchOptions) {
    this.#router = new Router(routes)
    this.#authenticate = authenticate
    this.#hasStrictHeaders = options.hasStrictHeaders
    this.#minRevision = options.minRevision
    this.#takeRate = options.takeRate
    this.#onCall = options.onCall
    this.#largeBodies = options.largeBodies
  }

  /** The route for a method and path. Throws the error for the client if there is none. */
  find(head: RequestHead): RouteMatch {
    return this.#router.match(head.method, head.path)
  }

  /**
   * Performs the checks that need only the head, and identifies the client. Throws the error for the client.
   * Returns null for a route without credentials, and for an unknown key if the request waits for a revision
   * in which the key might exist: `answer` checks the key again.
   */
  admit(match: RouteMatch, head: RequestHead): Principal | null {
    requireOneReading(match.route, head)
    try {
      return this.#identify(match, head)
    } catch (error) {
      const wanted = minRevisionOf(match.route, head)
      const isUnknown = error instanceof AuthzError && error.code === 'UNAUTHENTICATED'
      if (isUnknown && wanted !== undefined && this.#minRevision?.isAhead(wanted)) return null
      throw error
    }
  }

  #identify(match: RouteMatch, head: RequestHead): Principal | null {
    const { route } = match
    const principal = identifyCaller(route.access, head.headers.authorization, this.#authenticate)
    this.#checkKnown(match, head, principal)
    return principal
  }

  /**
   * Throws the error for the client if the key of an admitted request is no longer valid. Does not count
   * towards the rate limit of the key.
   */
  identifyAgain({ route }: RouteMatch, { principal }: Admitted, head: RequestHead): void {
    if (principal !== null) identifyCaller(route.access, head.headers.authorization, this.#authenticate)
  }

  /** Performs the checks of the head that need the principal. */
  #checkKnown(match: RouteMatch, head: RequestHead, principal: Principal | null): void {
    const { route } = match
    if (principal !== null && this.#takeRate !== null && !this.#takeRate(principal.keyId)) {
      throw new AuthzError('RATE_LIMITED', 'too many requests with this key; try again shortly', {
        limit: 'rate',
      })
    }
    if (principal !== null && route.paramNames.length > 0) {
      requireOwn(principal, { project: named(match, 'proj_id'), environment: named(match, 'env_id') })
    }
    if (route.requireJsonContentType && !isJsonType(head.headers.contentType)) {
      throw new AuthzError('MALFORMED_REQUEST', `this request needs Content-Type: ${JSON_TYPE}`)
    }
    if (this.#hasStrictHeaders) requireHeaders(route, head)
  }

  /**
   * Performs the remaining checks of an admitted request and calls the handler. The body is not used after
   * this returns. `pieces`: the body, if it is streamed.
   */
  answer(
    match: RouteMatch,
    { principal, caller }: Admitted,
    head: RequestHead,
    body: DataView,
    pieces: PieceSource | null = null,
  ): Reply | Promise<Reply> {
    const { route } = match
    const minRevision = this.#awaitedRevision(match, head, principal)
    // Queries that are read from bytes refer to the bytes, so they cannot be passed to a handler that runs
    // after this function has returned.
    const read = minRevision === null ? (route.readBytes?.(body, principal) ?? null) : null
    const value = read ?? parseBody(route, body, head.headers.contentEncoding)
    const params = route.paramNames.length === 0 ? NOTHING : readParams(match)
    const query = route.query === null ? NOTHING : route.query.read(head.query)
    if (read === null && value !== undefined) route.body?.shape.check(value)
    const { headers } = head
    const call = { principal, params, query, body: pieces ?? value, headers, caller, names: caller }
    // Waits after all checks, so that an invalid request fails without waiting.
    return minRevision === null ? this.#handle(route, call) : this.#handleAt(minRevision, match, head, call)
  }

  /** Whether another thread reads large bodies of the route. */
  takesLarge({ route }: RouteMatch): boolean {
    return this.#largeBodies !== null && this.#largeBodies.takes(route)
  }

  /**
   * Like `answer`, for a large body of a route for which `takesLarge` is true. Another thread reads the body,
   * unless it can be read quickly from its bytes. The body is released when it is no longer needed.
   */
  answerLarge(
    match: RouteMatch,
    admitted: Admitted,
    head: RequestHead,
    body: WholeBody,
  ): Reply | Promise<Reply> {
    let isHandedOn = false
    try {
      this.identifyAgain(match, admitted, head)
      const minRevision = this.#awaitedRevision(match, head, admitted.principal)
      const answered = minRevision === null ? this.#answerFromBytes(match, admitted, head, body) : null
      if (answered !== null) return answered
      isHandedOn = true
      return minRevision === null
        ? this.#answerElsewhere(match, admitted, head, body)
        : this.#answerLargeAt(minRevision, match, admitted, head, body)
    } finally {
      // A handler that returns a promise has already copied what it needs from the bytes.
      if (!isHandedOn) body.release()
    }
  }

  /** Null if the body must be parsed or takes long to read. */
  #answerFromBytes(
    { route }: RouteMatch,
    { principal, caller }: Admitted,
    { headers }: RequestHead,
    body: WholeBody,
  ): Reply | Promise<Reply> | null {
    const read = body.bytes <= BYTES_HERE_MAX ? (route.readBytes?.(body.view, principal) ?? null) : null
    if (read === null) return null
    const call = { principal, params: NOTHING, query: NOTHING, body: read, headers, caller, names: caller }
    return this.#handle(route, call)
  }

  async #answerElsewhere(
    match: RouteMatch,
    { principal, caller }: Admitted,
    head: RequestHead,
    body: WholeBody,
  ): Promise<Reply> {
    try {
      const request = this.#largeRequest(match, { principal, caller }, head, body)
      const reply = await this.#largeBodies!.answer(request)
      if (reply !== null) return reply
      request.identify()
      return await this.answer(match, { principal, caller }, head, body.view)
    } finally {
      body.release()
    }
  }

  #largeRequest(
    match: RouteMatch,
    { principal, caller }: Admitted,
    head: RequestHead,
    body: WholeBody,
  ): LargeRequest {
    const { contentEncoding } = head.headers
    const identify = (): void => this.identifyAgain(match, { principal, caller }, head)
    return { route: match.route, principal, caller, contentEncoding, body, identify }
  }

  /** Waits after all checks, as for a smaller body. For this purpose, the body is read twice. */
  async #answerLargeAt(
    minRevision: string,
    match: RouteMatch,
    { principal, caller }: Admitted,
    head: RequestHead,
    body: WholeBody,
  ): Promise<Reply> {
    try {
      const request = this.#largeRequest(match, { principal, caller }, head, body)
      const isChecked = await this.#largeBodies!.check(request)
      if (!isChecked) return await this.answer(match, { principal, caller }, head, body.view)
      const present = await this.#whenReached(minRevision, match, head, principal)
      return await this.#answerElsewhere(match, { principal: present, caller }, head, body)
    } finally {
      body.release()
    }
  }

  /**
   * Calls the handler when the node has the required revision. Separate function, because a function that
   * contains closures allocates the captured variables at each call, even if the closures are not used.
   */
  #handleAt(minRevision: string, match: RouteMatch, head: RequestHead, call: Call): Promise<Reply> {
    const reached = this.#whenReached(minRevision, match, head, call.principal)
    return reached.then(present => this.#handle(match.route, { ...call, principal: present }))
  }

  /** Resolves with the principal when the node has the required revision. */
  async #whenReached(
    minRevision: string,
    match: RouteMatch,
    head: RequestHead,
    principal: Principal | null,
  ): Promise<Principal | null> {
    const { route } = match
    let present = principal
    const identify = (): string => {
      // The key might have been created or revoked during the wait.
      present = identifyCaller(route.access, head.headers.authorization, this.#authenticate)
      if (principal === null) this.#checkKnown(match, head, present)
      return environmentOf(present)
    }
    const wait = () => this.#minRevision!.reached(minRevision, identify)
    await (principal === null ? this.#asUnknown(wait) : wait())
    return present
  }

  /**
   * The revision to wait for; null if there is none. Throws the error for the client if the key is no longer
   * valid in the current state.
   */
  #awaitedRevision({ route }: RouteMatch, head: RequestHead, principal: Principal | null): string | null {
    const text = minRevisionOf(route, head)
    if (text === undefined || this.#minRevision === null) return null
    if (principal === null || !this.#minRevision.isReached(text, environmentOf(principal))) return text
    // The client was identified when the head arrived. The body might have taken a long time.
    identifyCaller(route.access, head.headers.authorization, this.#authenticate)
    return null
  }

  /**
   * Limits the number of waiting requests with unknown keys, so that they cannot use up the capacity for
   * known clients.
   */
  async #asUnknown(wait: () => Promise<void>): Promise<void> {
    if (this.#unknownWaiting >= UNKNOWN_WAITERS_MAX) {
      const message = `${UNKNOWN_WAITERS_MAX} requests with unknown keys already wait; try again shortly`
      throw new AuthzError('OVERLOADED', message, { limit: 'waiting' })
    }
    this.#unknownWaiting += 1
    try {
      await wait()
    } finally {
      this.#unknownWaiting -= 1
    }
  }

  #handle(route: Route, call: Call): Reply | Promise<Reply> {
    if (this.#onCall !== null) this.#onCall(loggedId(call.names.requestId))
    return route.handle(call)
  }
}

/** Value of `X-Min-Revision` for a decision. Other routes do not read it. */
function minRevisionOf(route: Route, head: RequestHead): string | undefined {
  return route.access === 'environment' ? head.headers.minRevision : undefined
}

/**
 * A path parameter before validation. Null if the path has no such parameter, `undefined` if it cannot be
 * decoded.
 */
function named({ route, rawParams }: RouteMatch, name: string): string | null | undefined {
  const index = route.paramNames.indexOf(name)
  if (index < 0) return null
  try {
    return decodePathPart(rawParams[index]!, name)
  } catch {
    return undefined
  }
}

/**
 * Throws `INVALID_INPUT` if a repeated header with different values makes the identity of the client or the
 * meaning of the request ambiguous.
 */
function requireOneReading({ singleHeaders }: Route, { headers }: RequestHead): void {
  const name = headers.contradiction(singleHeaders)
  if (name === null) return
  throw new AuthzError('INVALID_INPUT', `the header ${name} occurs twice with different values; send it once`)
}

function requireHeaders(route: Route, head: RequestHead): void {
  const missing = route.strictHeaders.filter(name => !head.headers.has(name))
  if (missing.length === 0) return
  throw new AuthzError('MALFORMED_REQUEST', `this request needs the header ${missing.join(' and ')}`)
}

function readParams({ route, rawParams }: RouteMatch): Readonly<Record<string, string>> {
  const params: Record<string, string> = {}
  for (const [i, name] of route.paramNames.entries()) params[name] = decodePathPart(rawParams[i]!, name)
  route.params?.check(params)
  return params
}

/** Whether a content type is JSON, with any parameters. */
function isJsonType(contentType: string | undefined): boolean {
  if (contentType === undefined || contentType === JSON_TYPE) return contentType !== undefined
  const end = contentType.indexOf(';')
  return (end === -1 ? contentType : contentType.slice(0, end)).trim().toLowerCase() === JSON_TYPE
}
