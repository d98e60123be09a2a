/**
 * HTTP server of one thread. Several threads can run a server on the same port. Only this file uses
 * uWebSockets.js directly, so that this library can be replaced. The file contains no code for individual
 * endpoints.
 *
 * The file follows two rules of the library: a request must be read before its handler returns, and an app
 * must be closed before its thread ends, otherwise the process aborts. `exchange.ts` follows the rules about
 * responses.
 *
 * A client can pipeline requests that are answered synchronously. If a client sends another request while a
 * response is pending or while a request is queued (`arrival-scheduler.ts`), the library closes the
 * connection. The library itself responds to protocol errors (400, 431, 505), with a body in HTML. After a
 * request with a chunked body, the connection is closed (`chunked-wire.ts`).
 */
import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js'
import { BodyBuffers } from '#http/message/body-buffers.ts'
import type { HeaderList } from '#http/message/header-list.ts'
import { loggedId } from '#http/message/request-id.ts'
import type { ErrorFamily } from '#http/message/request-reply.ts'
import type { Authenticate } from '#http/routing/route-access.ts'
import { Dispatcher, type RevisionGate, type TakeRate } from '#http/routing/dispatch.ts'
import type { LargeBodies } from '#http/routing/large-bodies.ts'
import { familyOfPath } from '#http/routing/path.ts'
import type { Route } from '#http/routing/route.ts'
import type { RouteMatch } from '#http/routing/router.ts'
import type { SessionAccess } from '#http/routing/session-access.ts'
import { assert } from '#model/assert.ts'
import { requestIds } from './answer-head.ts'
import { longBodiesBytesMax, SegmentStock } from './body-segments.ts'
import { ChunkedWire } from './chunked-wire.ts'
import type { CrossOrigin } from './cross-origin.ts'
import type { ExchangeHost, Receiving, Reusable } from './exchange-host.ts'
import { Exchange } from './exchange.ts'
import { HeldBodies } from './held-bodies.ts'
import { StreamScheduler } from './stream-scheduler.ts'
import { TimeBudget } from '#scheduling/time-budget.ts'
import type { RequestTracing } from './request-tracing.ts'
import { FairArrivalScheduler, type ArrivalScheduler } from './arrival-scheduler.ts'
import { type RequestObserver, RequestWatch, type SlowRequests } from './request-watch.ts'
import type { ListenAddress } from './reserve-port.ts'
import type { WireHead } from './wire.ts'

export interface HttpServerOptions {
  readonly routes: readonly Route[]
  readonly authenticate: Authenticate
  /**
   * Whether to reject requests without the headers that their route documents as required. Default: false.
   */
  readonly hasStrictHeaders?: boolean
  /** Whether decisions are recorded in the decision log, together with claimed actors. Default: false. */
  readonly logsDecisions?: boolean
  /** Format of errors for paths without a route. Default: the format of the main port (native.md 0.19). */
  readonly familyOf?: (path: string) => ErrorFamily
  /**
   * Delays a decision until the node has the revision in `X-Min-Revision`. If absent, the server ignores this
   * header.
   */
  readonly minRevision?: RevisionGate
  /** Limits the request rate of each API key. If absent, the rate is not limited. */
  readonly takeRate?: TakeRate | null
  /** Reads large bodies on another thread. If absent, the thread of the server reads them. */
  readonly largeBodies?: LargeBodies | null
  /**
   * Memory in which long bodies are collected. Several servers can share it. If absent, the server creates
   * its own.
   */
  readonly segments?: SegmentStock
  /** The budget of this thread. If absent, the server has its own. */
  readonly budget?: TimeBudget
  readonly limits: {
    /**
     * Maximum length of a body in bytes. A longer body is rejected with 413, and its connection is closed.
     */
    readonly bodyBytesMax: number
    /**
     * Maximum time in milliseconds for the arrival of a body. If the body takes longer, the request is
     * rejected with 408, and its connection is closed. If absent, only the timeouts of the HTTP library
     * apply.
     */
    readonly receiveMsMax?: number
    /**
     * Limit of connections. If absent, the number of connections is limited only by the number of files that
     * the process can open.
     */
    readonly connections?: ConnectionLimit
  }
  /** Counts requests and connections. If absent, nothing is counted. */
  readonly observer?: RequestObserver | null
  readonly slow?: SlowRequests | null
  readonly tracing?: RequestTracing | null
  /** Origins whose web pages can call the server. If absent, no other origin has access. */
  readonly crossOrigin?: CrossOrigin | null
  /** Authenticates members by the cookie of their session. If absent, cookies are not read. */
  readonly sessions?: SessionAccess | null
  /**
   * Called with the cause of every defect for which the server responded with 500. The owner of the server
   * decides whether the thread must end. Before that, the owner must close the server. Exceptions of this
   * function are ignored.
   */
  readonly onFault: (error: unknown, requestId: string) => void
}

/** Limit of connections, shared by several servers. */
export interface ConnectionLimit {
  readonly max: number
  /** Adds `change` to the number of open connections and returns the new number. */
  add(change: 1 | -1): number
}

/** Default time in milliseconds for which `close` waits until pending responses are written and sent. */
const DRAIN_MS_DEFAULT = 5_000

/** Time in milliseconds for which a closing server waits for the first request on a new connection. */
const SETTLE_MS = 50

/** Maximum interval in milliseconds between two checks for bodies that do not arrive. */
const RECEIVE_LOOK_MS_MAX = 1_000

/** Name of the registration function of the HTTP library for each method. */
const MOUNT = { GET: 'get', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'del' } as const

/** Characters that the HTTP library treats as a pattern. Paths contain them only if `PUBLIC_URL` does. */
const PATTERN = /[:*]/

export class HttpServer {
  readonly #routes: readonly Route[]
  readonly #onFault: HttpServerOptions['onFault']
  readonly #limits: HttpServerOptions['limits']
  readonly #observer: RequestObserver | null
  /** Whether each request needs headers that have no field in `HeaderList`. */
  readonly #readsAllHeaders: boolean
  readonly #host: ExchangeHost & { isDraining: boolean; requestScheduler: ArrivalScheduler }
  readonly #requestScheduler = new FairArrivalScheduler()
  readonly #held = new HeldBodies()
  #receiveTimer: NodeJS.Timeout | null = null
  #isToListen = false
  #library: typeof import('uWebSockets.js') | null = null
  #app: TemplatedApp | null = null
  #socket: us_listen_socket | null = null
  #inFlightCount = 0
  /** Time at which the last connection was opened. */
  #connectedAt = -Infinity
  /**
   * The exchange for the next request. One idle exchange is sufficient, because a request that is answered
   * synchronously is complete before the next request is accepted.
   */
  #idle: Reusable | null = null
  /**
   * Headers of the request that is being accepted. They are in a field so that `#addHeader` can be created
   * once. A closure that is created per request would be compiled by V8 again each time.
   */
  #headers!: HeaderList
  readonly #addHeader = (name: string, value: string): void => this.#headers.add(name, value)
  #closing: Promise<void> | null = null
  #onIdle: () => void = () => {}

  constructor(options: HttpServerOptions) {
    const {
      routes,
      authenticate,
      limits,
      onFault,
      hasStrictHeaders = false,
      logsDecisions = false,
      familyOf = familyOfPath,
      minRevision = null,
      takeRate = null,
      largeBodies = null,
      segments = new SegmentStock(longBodiesBytesMax(limits.bodyBytesMax)),
      budget = new TimeBudget('http'),
      observer = null,
      slow = null,
      tracing = null,
      crossOrigin = null,
      sessions = null,
    } = options
    this.#routes = routes
    this.#onFault = onFault
    this.#limits = limits
    this.#observer = observer
    this.#readsAllHeaders = hasStrictHeaders || logsDecisions || tracing !== null || crossOrigin !== null
    this.#host = {
      dispatcher: new Dispatcher(routes, authenticate, {
        hasStrictHeaders,
        minRevision,
        takeRate,
        largeBodies,
        sessions,
      }),
      requestIds: requestIds(),
      bodyBytesMax: limits.bodyBytesMax,
      bodies: new BodyBuffers(),
      segments,
      requestScheduler: this.#requestScheduler,
      streamScheduler: new StreamScheduler(budget),
      familyOf,
      isDraining: false,
      watch: observer === null ? null : new RequestWatch(routes, observer, slow),
      tracing,
      crossOrigin,
      sessions,
      receiving: new Set(),
      report: (error, requestId) => this.#report(error, requestId),
      leave: () => this.#leave(),
      reuse: exchange => {
        this.#idle = exchange
      },
    }
  }

  /**
   * Starts to listen, and returns the actual port. Can be called only once. The port is shared with other
   * threads (see `reservePort`). This function loads the HTTP library, so `limitHeaderBytes` must be called
   * before (`header-ceiling.ts`).
   */
  async listen({ host, port }: ListenAddress): Promise<number> {
    assert(!this.#isToListen, 'a server listens once')
    this.#isToListen = true
    const library = await import('uWebSockets.js')
    if (this.#closing !== null)
      throw new Error(`the server for ${host}:${port} was closed before it could listen`)
    this.#library = library
    const app = library.App()
    this.#app = app
    app.filter((res, change) => this.#connected(res, change === 1 ? 1 : -1))
    const { receiveMsMax } = this.#limits
    if (receiveMsMax !== undefined) this.#watchReceiving(receiveMsMax)
    for (const route of this.#routes) this.#mount(app, route)
    app.any('/*', (res, req) => this.#accept(res, req, null, true))
    return new Promise((resolve, reject) => {
      app.listen(host, port, socket => {
        if (socket === false) {
          reject(new Error(`cannot listen on ${host}:${port}`))
          return
        }
        this.#socket = socket
        resolve(library.us_socket_local_port(socket))
      })
    })
  }

  /**
   * Starts to hold requests: the server continues to accept connections and requests, but answers new
   * requests only after `close` is called. This is the first step when several servers on one port stop
   * listening without losing an established connection.
   */
  hold(): void {
    this.#host.isDraining = true
    this.#host.requestScheduler = this.#held
  }

  /**
   * Stops accepting connections. Before that, accepts the connections that were pending in the kernel at the
   * time of the call.
   */
  async stopListening(): Promise<void> {
    // When the HTTP library is notified of a connection, it accepts all pending connections in the same
    // iteration. The notification can arrive after this call, so the server waits for one iteration before it
    // closes the socket.
    await new Promise(resolve => setImmediate(resolve))
    this.#closeSocket()
  }

  #closeSocket(): void {
    if (this.#socket !== null) this.#library?.us_listen_socket_close(this.#socket)
    this.#socket = null
  }

  /** Continues to serve requests, but asks every client to send its next request over another connection. */
  drain(): void {
    this.#host.isDraining = true
  }

  /**
   * Stops accepting connections, waits at most `withinMs` milliseconds for in-flight requests to complete,
   * and then closes all connections. The thread must not end before the returned promise is resolved.
   */
  close({ withinMs = DRAIN_MS_DEFAULT } = {}): Promise<void> {
    this.#closing ??= this.#drainAndClose(withinMs)
    return this.#closing
  }

  async #drainAndClose(withinMs: number): Promise<void> {
    const until = performance.now() + withinMs
    this.#host.isDraining = true
    this.#closeSocket()
    this.#host.requestScheduler = this.#requestScheduler
    this.#held.release(this.#requestScheduler)
    await this.#idleBy(until)
    // Connections that were just opened might not have sent their first request yet. Wait for it.
    const settledAt = Math.min(until, this.#connectedAt + SETTLE_MS)
    if (performance.now() < settledAt) {
      await new Promise(resolve => setTimeout(resolve, settledAt - performance.now()))
      await this.#idleBy(until)
    }
    // This code can run inside a callback of the HTTP library. The library sends the last response only after
    // the callback has returned, so the app is closed one iteration later.
    await new Promise(resolve => setImmediate(resolve))
    this.#app?.close()
    if (this.#receiveTimer !== null) clearInterval(this.#receiveTimer)
  }

  /** Waits until no request is in flight, but not longer than until `until`. */
  async #idleBy(until: number): Promise<void> {
    if (this.#inFlightCount === 0) return
    const idle = Promise.withResolvers<void>()
    const timeout = setTimeout(idle.resolve, Math.max(0, until - performance.now()))
    this.#onIdle = idle.resolve
    await idle.promise
    clearTimeout(timeout)
  }

  /**
   * Counts a connection that was opened or closed. If there are too many, the new connection is closed
   * immediately. Its closing is then counted like that of any other connection.
   */
  #connected(res: HttpResponse, change: 1 | -1): void {
    this.#observer?.connected(change)
    if (change === 1) this.#connectedAt = performance.now()
    const { connections } = this.#limits
    if (connections === undefined || connections.add(change) <= connections.max || change === -1) return
    this.#observer?.limitReached('connections')
    res.close()
  }

  /**
   * Checks periodically for bodies that do not arrive in time. Nearly all bodies arrive in one piece and are
   * never checked.
   */
  #watchReceiving(ms: number): void {
    const since = new Map<Receiving, { readonly at: number; readonly steps: number }>()
    const look = (): void => {
      const { receiving } = this.#host
      for (const body of since.keys()) if (!receiving.has(body)) since.delete(body)
      const now = performance.now()
      for (const body of receiving) {
        const from = since.get(body)
        const steps = body.receivedSteps
        if (from === undefined || from.steps !== steps || body.isPaused) {
          since.set(body, { at: now, steps })
        } else if (now - from.at >= ms) body.stopReceiving()
      }
    }
    this.#receiveTimer = setInterval(look, Math.min(RECEIVE_LOOK_MS_MAX, ms / 4)).unref()
  }

  /**
   * Registers a route without parameters in the HTTP library. The library compares paths exactly, like
   * `router.ts`. This saves 5% of the time of a decision, because the server need not read the method and
   * path from the library and search for the route.
   */
  #mount(app: TemplatedApp, route: Route): void {
    if (route.paramNames.length > 0 || PATTERN.test(route.path)) return
    const match = { route, rawParams: [] }
    const mount = MOUNT[route.method]
    const keepsOthers = !route.ignoresHeaders || this.#readsAllHeaders
    app[mount](route.path, (res, req) => this.#accept(res, req, match, keepsOthers))
  }

  /**
   * Accepts a request. `keepsOthers`: whether the request needs headers that have no field in `HeaderList`.
   */
  #accept(res: HttpResponse, req: HttpRequest, match: RouteMatch | null, keepsOthers: boolean): void {
    const exchange = this.#idle ?? new Exchange(this.#host)
    this.#idle = null
    const head = exchange.emptyHead(keepsOthers)
    this.#headers = head.headers
    req.forEach(this.#addHeader)
    // A request without a key can come with a session, whose headers have no field.
    if (!keepsOthers && this.#host.sessions !== null && head.headers.authorization === undefined) {
      exchange.emptyHead(true)
      req.forEach(this.#addHeader)
    }
    if (match === null) readHead(req, head)
    else knownHead(req, head, match.route)
    this.#inFlightCount++
    const { headers } = head
    exchange.begin(headers.comesInChunks ? new ChunkedWire(res, headers.endsConnection) : res, match)
  }

  #leave(): void {
    this.#inFlightCount--
    if (this.#inFlightCount === 0) this.#onIdle()
  }

  #report(error: unknown, requestId: string): void {
    try {
      this.#onFault(error, loggedId(requestId))
    } catch {
      // The error is ignored: no other component could receive it, and rethrowing it into the library would
      // end the process.
    }
  }
}

function readHead(req: HttpRequest, head: WireHead): void {
  // Method names are case-sensitive: `post` is not POST.
  head.method = req.getCaseSensitiveMethod()
  head.isHead = head.method === 'HEAD'
  head.path = req.getUrl()
  head.query = queryOf(req)
}

/** Fills the head of a request whose route is known. The query is read only if the route has a query. */
function knownHead(req: HttpRequest, head: WireHead, { method, path, query }: Route): void {
  head.method = method
  head.isHead = false
  head.path = path
  head.query = query === null ? '' : queryOf(req)
}

/**
 * For a request without a query, the HTTP library returns `undefined`, although its types do not allow this.
 */
function queryOf(req: HttpRequest): string {
  return (req.getQuery() as string | undefined) ?? ''
}
