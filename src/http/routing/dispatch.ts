/**
 * From a request's head and body to a reply, in plain values: the order in which a request is checked.
 *
 *   head  ─► path and method ─► credentials ─► content type ─┐   (`find`, `admit`: before any body byte is kept;
 *                                                            │    credentials that are for another path are refused, too)
 *   body  ───────────────────────────────────────────────────┴─► JSON ─► shape ─► handler      (`answer`)
 *
 * A route may take a usual body as bytes (`readBytes`): the handler then gets what was read there.
 * Before the credentials, `admit` refuses a header that has two readings (`requireOneReading`).
 * What fails first is what the caller hears of (native.md D-38, authzen.md 2.3). Existence and meaning are
 * the handler's. Nothing here waits, but for a decision that asks for a state still to come
 * (`X-Min-Revision`): otherwise a reply is a promise only if the handler returns one, and every refusal is
 * thrown.
 */
import type { Caller } from '#decisions/decision-pool.ts'
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

/** A request before its body. */
export type RequestHead = Omit<HttpRequest, 'body'>

/** About an admitted request: the principal, the caller who waits, and its names. */
export interface Admitted {
  readonly principal: Principal | null
  readonly caller: Caller & RequestNames
}

const NOTHING: Readonly<Record<never, never>> = Object.freeze({})
/** Ceiling of requests in one thread whose keys are unknown, but may be known in the state that they wait for. */
export const UNKNOWN_WAITERS_MAX = 100

/** Makes a decision wait for the state that its caller asks for. */
export interface RevisionGate {
  /** Whether a caller of that environment has nothing to wait for. */
  isReached(text: string, environmentId: string): boolean
  /**
   * Resolves when decisions see what the header asks for. Rejects with the refusal. `identify` returns the caller's
   * environment by the keys that are in force by then; it throws the refusal.
   */
  reached(text: string, identify: () => string): Promise<void>
  /** Whether the header names a state of the organization that this node has not reached yet. */
  isAhead(text: string): boolean
}

/** Whether a key may be used once more now. If so, the use is counted. */
export type TakeRate = (keyId: string | null) => boolean

export type OnCall = (requestId: string) => void

export interface DispatchOptions {
  readonly hasStrictHeaders: boolean
  /** Null: `X-Min-Revision` is ignored. */
  readonly minRevision: RevisionGate | null
  /** Null: keys have no rate limit. */
  readonly takeRate: TakeRate | null
  /** Told the name of each request right before its handler is called; null: nobody is. */
  readonly onCall: OnCall | null
  /** Null: this thread reads every body. */
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

  /** The route for a method and path. Throws the refusal when there is none. */
  find(head: RequestHead): RouteMatch {
    return this.#router.match(head.method, head.path)
  }

  /**
   * Checks what else the head can tell, and identifies the caller. Throws the refusal. Null for a route without
   * credentials, and for a key that may become known in the state that the request waits for: `answer` checks it again.
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
   * Throws the refusal if the key of an admitted request is not valid any more. That does not count as another use of the
   * key.
   */
  identifyAgain({ route }: RouteMatch, { principal }: Admitted, head: RequestHead): void {
    if (principal !== null) identifyCaller(route.access, head.headers.authorization, this.#authenticate)
  }

  /** Checks what the head tells once the caller is known. */
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
   * Checks the rest of an admitted request and calls the handler. The body is not used after this returns. `pieces` is a
   * body that goes on.
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
    // What is read from bytes still refers to them, so not for a handler that is called after this has returned.
    const read = minRevision === null ? (route.readBytes?.(body, principal) ?? null) : null
    const value = read ?? parseBody(route, body, head.headers.contentEncoding)
    const params = route.paramNames.length === 0 ? NOTHING : readParams(match)
    const query = route.query === null ? NOTHING : route.query.read(head.query)
    if (read === null && value !== undefined) route.body?.shape.check(value)
    const { headers } = head
    const call = { principal, params, query, body: pieces ?? value, headers, caller, names: caller }
    // Waits after all checks, so that a wait is never in vain.
    return minRevision === null ? this.#handle(route, call) : this.#handleAt(minRevision, match, head, call)
  }

  /** Whether another thread reads a large body of the route. */
  takesLarge({ route }: RouteMatch): boolean {
    return this.#largeBodies !== null && this.#largeBodies.takes(route)
  }

  /**
   * As `answer`, for a large body of a route for which `takesLarge` is true. Another thread reads it, unless it is quickly
   * read from its bytes. The body is released when it is not needed any more.
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
      // A handler that promises an answer has taken what it needs of the bytes.
      if (!isHandedOn) body.release()
    }
  }

  /** Null for a body that has to be parsed, or is not quickly read. */
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

  /** Waits after all checks, as for a smaller body. For that the body is read twice. */
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
   * Calls the handler when the state that the request waits for is there. A function of its own: a function that makes
   * closures allocates what they capture at each call, used or not.
   */
  #handleAt(minRevision: string, match: RouteMatch, head: RequestHead, call: Call): Promise<Reply> {
    const reached = this.#whenReached(minRevision, match, head, call.principal)
    return reached.then(present => this.#handle(match.route, { ...call, principal: present }))
  }

  /** Resolves with the caller when the state that the request waits for is there. */
  async #whenReached(
    minRevision: string,
    match: RouteMatch,
    head: RequestHead,
    principal: Principal | null,
  ): Promise<Principal | null> {
    const { route } = match
    let present = principal
    const identify = (): string => {
      // The state that was awaited may have made the key, or revoked it.
      present = identifyCaller(route.access, head.headers.authorization, this.#authenticate)
      if (principal === null) this.#checkKnown(match, head, present)
      return environmentOf(present)
    }
    const wait = () => this.#minRevision!.reached(minRevision, identify)
    await (principal === null ? this.#asUnknown(wait) : wait())
    return present
  }

  /** The revision to wait for; null: none. Throws the refusal if the key is not valid any more in the present state. */
  #awaitedRevision({ route }: RouteMatch, head: RequestHead, principal: Principal | null): string | null {
    const text = minRevisionOf(route, head)
    if (text === undefined || this.#minRevision === null) return null
    if (principal === null || !this.#minRevision.isReached(text, environmentOf(principal))) return text
    // The caller was identified when the head came, and the body may have taken long.
    identifyCaller(route.access, head.headers.authorization, this.#authenticate)
    return null
  }

  /** Callers with unknown keys have a bounded number of places, so that they cannot take those of known ones. */
  async #asUnknown(wait: () => Promise<void>): Promise<void> {
    if (this.#unknownWaiting >= UNKNOWN_WAITERS_MAX) {
      const message = `${UNKNOWN_WAITERS_MAX} requests with keys not known yet are waiting already; try again shortly`
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

/** The value of the header for a decision. Other routes do not read it. */
function minRevisionOf(route: Route, head: RequestHead): string | undefined {
  return route.access === 'environment' ? head.headers.minRevision : undefined
}

/**
 * A parameter before its shape is checked: null when the path has none of that name, `undefined` when it cannot be decoded.
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

/** Throws `INVALID_INPUT` if the caller or the question depends on which of two values of a header counts. */
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

/** Whether a content type is JSON, whatever its parameters. */
function isJsonType(contentType: string | undefined): boolean {
  if (contentType === undefined || contentType === JSON_TYPE) return contentType !== undefined
  const end = contentType.indexOf(';')
  return (end === -1 ? contentType : contentType.slice(0, end)).trim().toLowerCase() === JSON_TYPE
}
