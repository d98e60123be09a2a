/**
 * HTTP server of one thread. Only this file uses uWebSockets.js directly, so that the library can be
 * replaced. Several threads can run a server on the same port.
 *
 * Follows two rules of the library. A request must be read before its handler returns. An app must be closed
 * before its thread ends, otherwise the process aborts. `exchange.ts` follows the rules about responses.
 * This file does not depend on endpoints.
 *
 * A client can pipeline requests that are answered synchronously. If a client sends the next request while a
 * response is pending or a request waits for its turn (`request-scheduler.ts`), the library ends the
 * connection. The library also responds to protocol errors (400, 431, 505), in HTML. A chunked body ends its
 * connection (`chunked-wire.ts`).
 */
import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js'
import { BodyBuffers } from '#http/message/body-buffers.ts'
import type { HeaderList } from '#http/message/header-list.ts'
import { loggedId } from '#http/message/request-id.ts'
import type { ErrorFamily } from '#http/message/request-reply.ts'
import type { Authenticate } from '#http/routing/route-access.ts'
import { Dispatcher, type OnCall, type RevisionGate, type TakeRate } from '#http/routing/dispatch.ts'
import type { LargeBodies } from '#http/routing/large-bodies.ts'
import { familyOfPath } from '#http/routing/path.ts'
import type { Route } from '#http/routing/route.ts'
import type { RouteMatch } from '#http/routing/router.ts'
import { assert } from '#model/assert.ts'
import { requestIds } from './answer-head.ts'
import { longBodiesBytesMax, SegmentStock } from './body-segments.ts'
import { ChunkedWire } from './chunked-wire.ts'
import type { CrossOrigin } from './cross-origin.ts'
import type { ExchangeHost, Receiving, Reusable } from './exchange-host.ts'
import { Exchange } from './exchange.ts'
import { HeldBodies } from './held-bodies.ts'
import { StreamScheduler } from './stream-scheduler.ts'
import type { RequestTracing } from './request-tracing.ts'
import { FairRequestScheduler, type RequestScheduler } from './request-scheduler.ts'
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
  /** Format of errors for paths without a route. Default: the format of the main port (native.md 0.19). */
  readonly familyOf?: (path: string) => ErrorFamily
  /** Waits for the state that a decision requires. If absent, the header is ignored. */
  readonly minRevision?: RevisionGate
  /** Limits the request rate of keys. If absent, there is no limit. */
  readonly takeRate?: TakeRate | null
  /** Reads large bodies on another thread. If absent, this thread reads them. */
  readonly largeBodies?: LargeBodies | null
  /**
   * Memory in which long bodies are collected, shared by several servers. If absent, the server has its own
   * memory.
   */
  readonly segments?: SegmentStock
  /**
   * Called with the ID of each request directly before its handler. Exceptions are treated as defects of the
   * request.
   */
  readonly onCall?: OnCall | null
  readonly limits: {
    /** Maximum length of a body in bytes. Longer bodies are rejected with 413, and the connection ends. */
    readonly bodyBytesMax: number
    /**
     * Time in milliseconds in which a body must arrive. Otherwise the request is rejected with 408, and the
     * connection ends. If absent, only the timeouts of the library apply.
     */
    readonly receiveMsMax?: number
    /**
     * If absent, the number of connections is limited only by the number of files that the process can open.
     */
    readonly connections?: ConnectionLimit
  }
  /** Counts requests and connections. If absent, they are not counted. */
  readonly observer?: RequestObserver | null
  readonly slow?: SlowRequests | null
  readonly tracing?: RequestTracing | null
  /** Origins whose pages have access. If absent, no other origin has access. */
  readonly crossOrigin?: CrossOrigin | null
  /**
   * Called with the cause of every defect that was answered with 500. The owner decides whether the thread
   * must end; it must close the server first. Exceptions of this function are ignored.
   */
  readonly onFault: (error: unknown, requestId: string) => void
}

/** Limit of connections, shared by several servers. */
export interface ConnectionLimit {
  readonly max: number
  /** Adds to the number of open connections and returns it. */
  add(change: 1 | -1): number
}

/** Default time for which `close` waits for pending and incomplete responses. */
const DRAIN_MS_DEFAULT = 5_000

/** Time for which a closing server waits for the first request of a new connection. */
const SETTLE_MS = 50

/** Maximum interval of the check for bodies that do not arrive. */
const RECEIVE_LOOK_MS_MAX = 1_000

/** Method names of the library. */
const MOUNT = { GET: 'get', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'del' } as const

/** Characters that the library treats as a pattern. No path contains them, except through `PUBLIC_URL`. */
const PATTERN = /[:*]/

export class HttpServer {
  readonly #routes: readonly Route[]
  readonly #onFault: HttpServerOptions['onFault']
  readonly #limits: HttpServerOptions['limits']
  readonly #observer: RequestObserver | null
  readonly #hasStrictHeaders: boolean
  readonly #host: ExchangeHost & { isDraining: boolean; requestScheduler: RequestScheduler }
  readonly #requestScheduler = new FairRequestScheduler()
  readonly #held = new HeldBodies()
  #receiveTimer: NodeJS.Timeout | null = null
  #isToListen = false
  #library: typeof import('uWebSockets.js') | null = null
  #app: TemplatedApp | null = null
  #socket: us_listen_socket | null = null
  #inFlightCount = 0
  /** Time of the last new connection. */
  #connectedAt = -Infinity
  /**
   * An exchange for the next request. One is sufficient: a request that is answered synchronously is
   * complete before the next one is accepted.
   */
  #idle: Reusable | null = null
  /**
   * Headers of the request that is being accepted. A field instead of a closure, because V8 would compile a
   * function that is created per request again each time.
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
      familyOf = familyOfPath,
      minRevision = null,
      takeRate = null,
      onCall = null,
      largeBodies = null,
      segments = new SegmentStock(longBodiesBytesMax(limits.bodyBytesMax)),
      observer = null,
      slow = null,
      tracing = null,
      crossOrigin = null,
    } = options
    this.#routes = routes
    this.#onFault = onFault
    this.#limits = limits
    this.#observer = observer
    this.#hasStrictHeaders = hasStrictHeaders
    this.#host = {
      dispatcher: new Dispatcher(routes, authenticate, {
        hasStrictHeaders,
        minRevision,
        takeRate,
        onCall,
        largeBodies,
      }),
      requestIds: requestIds(),
      bodyBytesMax: limits.bodyBytesMax,
      bodies: new BodyBuffers(),
      segments,
      requestScheduler: this.#requestScheduler,
      streamScheduler: new StreamScheduler(),
      familyOf,
      isDraining: false,
      watch: observer === null ? null : new RequestWatch(routes, observer, slow),
      tracing,
      crossOrigin,
      receiving: new Set(),
      report: (error, requestId) => this.#report(error, requestId),
      leave: () => this.#leave(),
      reuse: exchange => {
        this.#idle = exchange
      },
    }
  }

  /**
   * Starts to listen and returns the actual port. Can be called once. The port is shared: see `reservePort`.
   * Loads the library, which must happen after the settings are applied (`header-ceiling.ts`).
   */
  async listen({ host, port }: ListenAddress): Promise<number> {
    assert(!this.#isToListen, 'a server listens once')
    this.#isToListen = true
    const library = await import('uWebSockets.js')
    if (this.#closing !== null) throw new Error(`not listening on ${host}:${port}: closed before`)
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
   * Continues to accept connections and requests, but holds new requests until `close`. This is the first of
   * the steps in which several servers on one port stop listening without losing an established connection.
   */
  hold(): void {
    this.#host.isDraining = true
    this.#host.requestScheduler = this.#held
  }

  /**
   * Stops accepting connections. Resolves after the connections that were pending in the kernel at the time
   * of the call are accepted.
   */
  async stopListening(): Promise<void> {
    // When the library is notified of a connection, it accepts all pending ones in the same iteration.
    // Waiting for one iteration makes the order of that notification and of this call irrelevant.
    await new Promise(resolve => setImmediate(resolve))
    this.#closeSocket()
  }

  #closeSocket(): void {
    if (this.#socket !== null) this.#library?.us_listen_socket_close(this.#socket)
    this.#socket = null
  }

  /** Continues to serve requests, and asks every client to send its next request over another connection. */
  drain(): void {
    this.#host.isDraining = true
  }

  /**
   * Stops accepting connections, lets in-flight requests complete for at most `withinMs`, then ends all
   * connections. Must be resolved before the thread ends.
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
    // The request of a new connection might not have arrived yet.
    const settledAt = Math.min(until, this.#connectedAt + SETTLE_MS)
    if (performance.now() < settledAt) {
      await new Promise(resolve => setTimeout(resolve, settledAt - performance.now()))
      await this.#idleBy(until)
    }
    // This can run inside a callback of the library, which sends the last response only after the callback
    // has returned.
    await new Promise(resolve => setImmediate(resolve))
    this.#app?.close()
    if (this.#receiveTimer !== null) clearInterval(this.#receiveTimer)
  }

  /** Resolves when no request is in flight, or at `until`. */
  async #idleBy(until: number): Promise<void> {
    if (this.#inFlightCount === 0) return
    const idle = Promise.withResolvers<void>()
    const timeout = setTimeout(idle.resolve, Math.max(0, until - performance.now()))
    this.#onIdle = idle.resolve
    await idle.promise
    clearTimeout(timeout)
  }

  /**
   * Counts an opened or closed connection. A connection above the limit is closed immediately; its end is
   * then counted like any other.
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
   * Periodically checks for bodies that do not arrive in time. A body in one piece, as nearly all are, is
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
   * Registers a route without parameters with the library, which compares paths exactly, like the router.
   * Reading method and path from the library and looking them up would take 5% of the time of a decision.
   */
  #mount(app: TemplatedApp, route: Route): void {
    if (route.paramNames.length > 0 || PATTERN.test(route.path)) return
    const match = { route, rawParams: [] }
    const mount = MOUNT[route.method]
    const { tracing, crossOrigin } = this.#host
    const asksForOthers = this.#hasStrictHeaders || tracing !== null || crossOrigin !== null
    const keepsOthers = !route.ignoresHeaders || asksForOthers
    app[mount](route.path, (res, req) => this.#accept(res, req, match, keepsOthers))
  }

  /** `keepsOthers`: whether the request needs headers that have no field in `HeaderList`. */
  #accept(res: HttpResponse, req: HttpRequest, match: RouteMatch | null, keepsOthers: boolean): void {
    const exchange = this.#idle ?? new Exchange(this.#host)
    this.#idle = null
    const head = exchange.emptyHead(keepsOthers)
    this.#headers = head.headers
    req.forEach(this.#addHeader)
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
      // Rethrowing would end the process from inside the library, and there is no other receiver of the
      // error.
    }
  }
}

function readHead(req: HttpRequest, head: WireHead): void {
  // Methods are case-sensitive: `post` is not POST.
  head.method = req.getCaseSensitiveMethod()
  head.isHead = head.method === 'HEAD'
  head.path = req.getUrl()
  head.query = queryOf(req)
}

/** Fills the head of a request with a known route. The query is read only if the route has one. */
function knownHead(req: HttpRequest, head: WireHead, { method, path, query }: Route): void {
  head.method = method
  head.isHead = false
  head.path = path
  head.query = query === null ? '' : queryOf(req)
}

/** The library returns `undefined` for a request without a query, contrary to its types. */
function queryOf(req: HttpRequest): string {
  return (req.getQuery() as string | undefined) ?? ''
}
