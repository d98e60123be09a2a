/**
 * Processes a request, given as plain values, from its head and body to a reply. This file defines the order
 * of the checks:
 *
 *     head  ─► path and method ─► credentials ─► content type ─┐   (`find`, `admit`: before the body is kept;
 *                                                              │    also rejects keys of other environments)
 *     body  ───────────────────────────────────────────────────┴─► JSON ─► shape ─► handler      (`answer`)
 *
 * The first check that fails determines the error (native.md D-38, authzen.md 2.3). Before it checks the
 * credentials, `admit` rejects ambiguous headers (`requireOneReading`). The handler checks whether entities
 * exist and whether the request makes sense.
 *
 * A route can have a function that reads common bodies directly from their bytes (`readBytes`). The handler
 * then gets the result of this function.
 *
 * All checks throw synchronously. A reply is a promise only if the handler returns a promise, or if a
 * decision waits for a revision (`X-Min-Revision`).
 */
import type { AskingClient, RequestClient } from '#model/caller.ts'
import type { Claim } from '#model/wire/organization/actor.ts'
import { JSON_TYPE } from '#http/message/answer.ts'
import { claimIn, refusedClaim } from '#http/message/claimed-actor.ts'
import type { HeaderList } from '#http/message/header-list.ts'
import type { Call, HttpRequest, Reply, RequestNames } from '#http/message/request-reply.ts'
import type { PieceSource } from '#management/content/content-stream.ts'
import { AuthzError } from '#model/errors.ts'
import { type Principal, quotaIdOf } from '#model/principal.ts'
import { BYTES_HERE_MAX, type LargeBodies, type LargeRequest, type WholeBody } from './large-bodies.ts'
import { decodePathPart } from './path.ts'
import { scopeInPath } from './path-scope.ts'
import { parseBody } from './read-body.ts'
import { type Authenticate, environmentOf, identifyCaller, requireOwn } from './route-access.ts'
import type { Route } from './route.ts'
import { type RouteMatch, Router } from './router.ts'
import type { SessionAccess } from './session-access.ts'

/** A request without its body. */
export type RequestHead = Omit<HttpRequest, 'body'>

/** An admitted request: its principal, the client that waits, and its names. */
export interface Admitted {
  readonly principal: Principal | null
  readonly caller: RequestClient & RequestNames & AskingClient
}

/** For revisions of the organization. */
const NO_ENVIRONMENT = ''
const NOTHING: Readonly<Record<never, never>> = Object.freeze({})
/**
 * Maximum number of requests with unknown keys or sessions, per thread, that wait for a revision. Their keys
 * or sessions might be known in that revision.
 */
export const UNKNOWN_WAITERS_MAX = 100

/** Delays decisions until the node has the revision that the client requires. */
export interface RevisionGate {
  /**
   * Whether the node already has the revision `text` of this environment, so that the request need not wait.
   */
  isReached(text: string, environmentId: string): boolean
  /**
   * Resolves when decisions reflect the required revision. Otherwise rejects with the error for the client.
   * `identify` returns the environment of the client, determined with the keys at the time of the call, or
   * throws the error for the client. `begun`: another revision to wait for, with which a session began.
   */
  reached(text: string, identify: () => string, begun?: string): Promise<void>
  /**
   * Whether the header contains a revision of the organization that this node has not reached. API keys are
   * part of this revision.
   */
  isAhead(text: string): boolean
}

/**
 * Returns whether a key, or a member in a session, is below its rate limit. If so, also counts the request.
 */
export type TakeRate = (quotaId: string | null) => boolean

export interface DispatchOptions {
  readonly hasStrictHeaders: boolean
  /** If null, `X-Min-Revision` is ignored. */
  readonly minRevision: RevisionGate | null
  /** If null, API keys have no rate limit. */
  readonly takeRate: TakeRate | null
  /** Reads large bodies on another thread. If null, this thread reads all bodies. */
  readonly largeBodies: LargeBodies | null
  /** Authenticates members by the cookie of their session. If null, sign-in is not configured. */
  readonly sessions: SessionAccess | null
}

export class Dispatcher {
  readonly #router: Router
  readonly #authenticate: Authenticate
  readonly #hasStrictHeaders: boolean
  readonly #minRevision: RevisionGate | null
  readonly #takeRate: TakeRate | null
  readonly #largeBodies: LargeBodies | null
  readonly #sessions: SessionAccess | null
  #unknownWaiting = 0

  constructor(routes: readonly Route[], authenticate: Authenticate, options: DispatchOptions) {
    this.#router = new Router(routes)
    this.#authenticate = authenticate
    this.#hasStrictHeaders = options.hasStrictHeaders
    this.#minRevision = options.minRevision
    this.#takeRate = options.takeRate
    this.#largeBodies = options.largeBodies
    this.#sessions = options.sessions
  }

  /** Finds the route for a method and path. Throws the error for the client if there is none. */
  find(head: RequestHead): RouteMatch {
    return this.#router.match(head.method, head.path)
  }

  /**
   * Performs the checks that need only the head, and identifies the client. Throws the error for the client
   * if a check fails. Returns null in two cases: the route needs no credentials, or the key or session is
   * unknown but the request waits for a revision in which it might exist. In the second case, `answer` checks
   * the client again.
   */
  admit(match: RouteMatch, head: RequestHead): Principal | null {
    requireOneReading(match.route, head)
    try {
      return this.#identify(match, head)
    } catch (error) {
      const isUnknown = error instanceof AuthzError && error.code === 'UNAUTHENTICATED'
      if (isUnknown && this.#mightBecomeKnown(match.route, head)) return null
      throw error
    }
  }

  /**
   * Whether the key or the session of a request might be part of a revision that this node has not reached.
   */
  #mightBecomeKnown(route: Route, head: RequestHead): boolean {
    const gate = this.#minRevision
    if (gate === null) return false
    const wanted = [minRevisionOf(route, head), this.#begunIn(route, head)]
    return wanted.some(text => text !== undefined && gate.isAhead(text))
  }

  /** Revision with which the session of a request began, if the request has the cookie of one. */
  #begunIn({ access }: Route, { headers }: RequestHead): string | undefined {
    return this.#sessions?.begunIn(access, headers) ?? undefined
  }

  #identify(match: RouteMatch, head: RequestHead): Principal | null {
    const principal = this.#callerOf(match, head)
    this.#checkKnown(match, head, principal)
    return principal
  }

  /** Identifies the client by its key or its session. Throws the error for the client. */
  #callerOf(match: RouteMatch, { headers }: RequestHead): Principal | null {
    const { route } = match
    const { authorization } = headers
    if (
      authorization === undefined &&
      this.#sessions !== null &&
      this.#sessions.isSent(route.access, headers)
    )
      return this.#sessions.identify(match, headers)
    return identifyCaller(route, authorization, this.#authenticate)
  }

  /** Identifies a client again that was identified as `principal` before. */
  #callerAgain(match: RouteMatch, head: RequestHead, { session }: Principal): Principal | null {
    if (session === undefined) return this.#callerOf(match, head)
    return this.#sessions!.identifyAgain(session.sessionId, match, head.headers)
  }

  /**
   * Checks the key of an admitted request again and returns its present principal; null for a client that was
   * unknown at first. Throws the error for the client if the key is no longer valid. The check does not count
   * towards the rate limit of the key.
   */
  identifyAgain(match: RouteMatch, { principal }: Admitted, head: RequestHead): Principal | null {
    return principal && this.#callerAgain(match, head, principal)
  }

  /** Like `identifyAgain`, while the handler runs. A client that was unknown at first has become known. */
  identifyHandled(match: RouteMatch, { principal }: Admitted, head: RequestHead): Principal | null {
    return principal ? this.#callerAgain(match, head, principal) : this.#callerOf(match, head)
  }

  /**
   * The client of a request. If its key or session was unknown when the request was admitted, looks it up
   * again. Null for routes that need no credentials, and for clients that are not admitted.
   */
  callerOf(match: RouteMatch, { principal }: Admitted, head: RequestHead): Principal | null {
    if (principal !== null) return principal
    try {
      return this.#callerOf(match, head)
    } catch (error) {
      if (error instanceof AuthzError) return null
      throw error
    }
  }

  /** Performs the checks of the head that need the identity of the client. */
  #checkKnown(match: RouteMatch, head: RequestHead, principal: Principal | null): void {
    const { route } = match
    if (principal !== null && this.#takeRate !== null && !this.#takeRate(quotaIdOf(principal))) {
      const whose = principal.session === undefined ? 'with this key' : 'of this member'
      throw new AuthzError('RATE_LIMITED', `too many requests ${whose}; try again shortly`, { limit: 'rate' })
    }
    if (principal !== null && route.paramNames.length > 0) {
      requireOwn(principal, scopeInPath(match))
    }
    if (route.requireJsonContentType && !isJsonType(head.headers.contentType)) {
      throw new AuthzError('MALFORMED_REQUEST', `this request needs Content-Type: ${JSON_TYPE}`)
    }
    if (this.#hasStrictHeaders) requireHeaders(route, head)
  }

  /**
   * Performs the remaining checks of an admitted request and calls the handler. `body` is not used after this
   * function returns. `pieces`: the body if it is streamed, otherwise null.
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
    // A query from `readBytes` refers to the bytes of the body, which are valid only until this function
    // returns. If the handler must wait, the body is parsed.
    const read = minRevision === null ? (route.readBytes?.(body, principal) ?? null) : null
    const value = read ?? parseBody(route, body, head.headers.contentEncoding)
    const params = route.paramNames.length === 0 ? NOTHING : readParams(match)
    const query = route.query === null ? NOTHING : route.query.read(head.query)
    if (read === null && value !== undefined) route.body?.shape.check(value)
    const { headers } = head
    const claim = route.readsClaim ? claimOf(headers, principal) : null
    const call = { principal, params, query, body: pieces ?? value, headers, caller, names: caller, claim }
    // The wait begins after all checks, so that an invalid request fails immediately.
    return minRevision === null ? route.handle(call) : this.#handleAt(minRevision, match, head, call)
  }

  /** Whether another thread reads the large bodies of this route. */
  takesLarge({ route }: RouteMatch): boolean {
    return this.#largeBodies !== null && this.#largeBodies.takes(route)
  }

  /**
   * Like `answer`, for a large body of a route for which `takesLarge` returns true. Another thread reads the
   * body, unless this thread can read it quickly from its bytes. This function releases the body when it is
   * no longer needed.
   */
  answerLarge(
    match: RouteMatch,
    admitted: Admitted,
    head: RequestHead,
    body: WholeBody,
  ): Reply | Promise<Reply> {
    let isHandedOn = false
    try {
      const { caller } = admitted
      const present = { principal: this.identifyAgain(match, admitted, head), caller }
      const minRevision = this.#awaitedRevision(match, head, present.principal)
      const answered = minRevision === null ? this.#answerFromBytes(match, present, head, body) : null
      if (answered !== null) return answered
      isHandedOn = true
      return minRevision === null
        ? this.#answerElsewhere(match, present, head, body)
        : this.#answerLargeAt(minRevision, match, present, head, body)
    } finally {
      // If the handler returned a promise, it has already copied what it needs from the bytes.
      if (!isHandedOn) body.release()
    }
  }

  /**
   * Reads the body from its bytes and calls the handler. Returns null if the body must be parsed or is too
   * long to be read on this thread.
   */
  #answerFromBytes(
    { route }: RouteMatch,
    { principal, caller }: Admitted,
    { headers }: RequestHead,
    body: WholeBody,
  ): Reply | Promise<Reply> | null {
    const read = body.bytes <= BYTES_HERE_MAX ? (route.readBytes?.(body.view, principal) ?? null) : null
    if (read === null) return null
    const call = {
      principal,
      params: NOTHING,
      query: NOTHING,
      body: read,
      headers,
      caller,
      names: caller,
      claim: null,
    }
    return route.handle(call)
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
      return await this.answer(match, { principal: request.identify(), caller }, head, body.view)
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
    const identify = (): Principal | null => this.identifyAgain(match, { principal, caller }, head)
    return { route: match.route, principal, caller, contentEncoding, body, identify }
  }

  /**
   * Answers a request with a large body after the node has the required revision. As for a small body, the
   * wait begins after all checks. Therefore the other thread reads the body twice: once to check it, and once
   * to answer it.
   */
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
      if (!isChecked) {
        return await this.answer(match, { principal: request.identify(), caller }, head, body.view)
      }
      const present = await this.#whenReached(minRevision, match, head, principal)
      return await this.#answerElsewhere(match, { principal: present, caller }, head, body)
    } finally {
      body.release()
    }
  }

  /**
   * Calls the handler when the node has the required revision. This is a separate function because it
   * contains closures. A function with closures allocates the captured variables at each call, even if the
   * closures are not used.
   */
  #handleAt(minRevision: string, match: RouteMatch, head: RequestHead, call: Call): Promise<Reply> {
    const reached = this.#whenReached(minRevision, match, head, call.principal)
    return reached.then(present => {
      // The session might have been unknown when the claim was read.
      const claim = call.claim && claimOf(head.headers, present)
      return match.route.handle({ ...call, principal: present, claim })
    })
  }

  /**
   * Waits until the node has the required revision. Resolves with the principal, which can differ from
   * `principal`.
   */
  async #whenReached(
    minRevision: string,
    match: RouteMatch,
    head: RequestHead,
    principal: Principal | null,
  ): Promise<Principal | null> {
    let present = principal
    const identify = (): string => {
      // The key is checked again, because it might have been created or revoked during the wait.
      present = principal === null ? this.#callerOf(match, head) : this.#callerAgain(match, head, principal)
      if (principal === null) this.#checkKnown(match, head, present)
      return placeOf(present)
    }
    const gate = this.#minRevision!
    const begun = principal === null ? this.#begunIn(match.route, head) : undefined
    const isAwaited = begun !== undefined && begun !== minRevision && gate.isAhead(begun)
    const wait = () => gate.reached(minRevision, identify, isAwaited ? begun : undefined)
    await (principal === null ? this.#asUnknown(wait) : wait())
    // The key could have been revoked or changed during the wait. If an import replaced the environment, the
    // revision belongs to the one before.
    const last = present === null ? this.#callerOf(match, head) : this.#callerAgain(match, head, present)
    return placeOf(last) === placeOf(present) ? last : present
  }

  /**
   * The revision for which the request must wait. Null if it need not wait. In this case, the key is checked
   * again, and the error for the client is thrown if the key is no longer valid.
   */
  #awaitedRevision(match: RouteMatch, head: RequestHead, principal: Principal | null): string | null {
    const own = minRevisionOf(match.route, head)
    const text = own === undefined && principal === null ? this.#begunIn(match.route, head) : own
    if (text === undefined || this.#minRevision === null) return null
    if (principal === null || !this.#minRevision.isReached(text, placeOf(principal))) return text
    // The key was checked when the head arrived. The body might have taken a long time since then, so the key
    // is checked again.
    this.#callerAgain(match, head, principal)
    return null
  }

  /**
   * Waits for a request with an unknown key or session. The number of such requests is limited, so that they
   * cannot use up the capacity for known clients.
   */
  async #asUnknown(wait: () => Promise<void>): Promise<void> {
    if (this.#unknownWaiting >= UNKNOWN_WAITERS_MAX) {
      const message = `${UNKNOWN_WAITERS_MAX} requests with unknown keys or sessions already wait; try again shortly`
      throw new AuthzError('OVERLOADED', message, { limit: 'waiting' })
    }
    this.#unknownWaiting += 1
    try {
      await wait()
    } finally {
      this.#unknownWaiting -= 1
    }
  }
}

/**
 * Value of `X-Min-Revision` if the route makes decisions, or reads a session that another node might just
 * have begun. Other routes do not read this header.
 */
function minRevisionOf({ access }: Route, head: RequestHead): string | undefined {
  return access === 'environment' || access === 'cookie' ? head.headers.minRevision : undefined
}

/** The environment whose revisions a request can wait for. */
function placeOf(principal: Principal | null): string {
  return principal !== null && principal.session !== undefined && principal.kind !== 'environment'
    ? NO_ENVIRONMENT
    : environmentOf(principal)
}

/** The actor that the client claims. A member in a session must not claim another (administration.md N8). */
function claimOf(headers: HeaderList, principal: Principal | null): Claim | null {
  const claim = claimIn(headers)
  if (claim === null || principal === null || principal.session === undefined) return claim
  throw refusedClaim('a session already states who acts: send this header with an API key')
}

/**
 * Throws `INVALID_INPUT` if a header is repeated with different values and is one of those that determine the
 * identity of the client or the meaning of the request.
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

/** Whether a content type is JSON. Parameters such as `charset` are ignored. */
function isJsonType(contentType: string | undefined): boolean {
  if (contentType === undefined || contentType === JSON_TYPE) return contentType !== undefined
  const end = contentType.indexOf(';')
  return (end === -1 ? contentType : contentType.slice(0, end)).trim().toLowerCase() === JSON_TYPE
}
