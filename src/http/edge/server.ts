/**
 * One HTTP server in one thread. The only file that knows uWebSockets.js, so that a replacement is possible; several
 * threads may each run one on the same port.
 *
 * Keeps the library's rules about a request (read before the handler returns) and about an app (closed before its thread
 * ends, or the process is aborted); `conversation.ts` keeps those about a response. Knows nothing of endpoints.
 *
 * A caller may pipeline requests as long as they are answered at once. The library ends a connection that sends the
 * next request while an answer is promised or a request waits for its turn (`request-turns.ts`), and answers protocol errors (400, 431, 505)
 * itself, as HTML. A body in chunks ends its connection (`chunked-wire.ts`).
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
import type { ConversationHost, Receiving, Reusable } from './conversation-host.ts'
import { Conversation } from './conversation.ts'
import { HeldBodies } from './held-bodies.ts'
import { LiveTurns } from './live-turns.ts'
import type { RequestTracing } from './request-tracing.ts'
import { RequestTurns, type Turns } from './request-turns.ts'
import { type RequestObserver, RequestWatch, type SlowRequests } from './request-watch.ts'
import type { ListenAddress } from './reserve-port.ts'
import type { WireHead } from './wire.ts'

export interface HttpServerOptions {
  readonly routes: readonly Route[]
  readonly authenticate: Authenticate
  /** Refuse requests without the headers their route documents as required. Default false. */
  readonly hasStrictHeaders?: boolean
  /** The form of errors under paths without a route. Default: that of the main port (native.md 0.19). */
  readonly familyOf?: (path: string) => ErrorFamily
  /** Waits for the state a decision asks for; absent: the header is ignored. */
  readonly minRevision?: RevisionGate
  /** Limits the request rate of keys; absent: keys have no limit. */
  readonly takeRate?: TakeRate | null
  /** Reads large bodies on another thread; absent: they are read in this one. */
  readonly largeBodies?: LargeBodies | null
  /** The memory in which long bodies are collected, shared by several servers; absent: memory of its own. */
  readonly segments?: SegmentStock
  /** Told the name of each request right before its handler is called. What it throws is a defect of the request. */
  readonly onCall?: OnCall | null
  readonly limits: {
    /** A longer body is answered with 413, and the connection ends. */
    readonly bodyBytesMax: number
    /**
     * How long a body may take to arrive. After that it is 408, and the connection ends. Absent: as long as the library
     * lets it.
     */
    readonly receiveMsMax?: number
    /** Absent: as many connections as the process may have open files. */
    readonly connections?: ConnectionLimit
  }
  /** Counts requests and connections; absent: they are not counted. */
  readonly observer?: RequestObserver | null
  readonly slow?: SlowRequests | null
  readonly tracing?: RequestTracing | null
  /** Which pages of other origins may ask; absent: none. */
  readonly crossOrigin?: CrossOrigin | null
  /**
   * Told of every defect that was answered with 500, with its true reason. The owner decides whether the thread must end;
   * it must close the server first. What this throws is lost.
   */
  readonly onFault: (error: unknown, requestId: string) => void
}

/** Connections of all servers that share a limit. */
export interface ConnectionLimit {
  readonly max: number
  /** Adds to the number of open ones, and returns it. */
  add(change: 1 | -1): number
}

/** How long `close` waits for answers that are still being made or sent. */
const DRAIN_MS_DEFAULT = 5_000

/** How long a closing server waits for the first request of a connection that was made. */
const SETTLE_MS = 50

/** How often the server looks for bodies that do not arrive. */
const RECEIVE_LOOK_MS_MAX = 1_000

/** The library's names of the methods. */
const MOUNT = { GET: 'get', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'del' } as const

/** Characters that the library takes for a pattern. No path of ours means one, but `PUBLIC_URL` can have them. */
const PATTERN = /[:*]/

export class HttpServer {
  readonly #routes: readonly Route[]
  readonly #onFault: HttpServerOptions['onFault']
  readonly #limits: HttpServerOptions['limits']
  readonly #observer: RequestObserver | null
  readonly #hasStrictHeaders: boolean
  readonly #host: ConversationHost & { isDraining: boolean; turns: Turns }
  readonly #turns = new RequestTurns()
  readonly #held = new HeldBodies()
  #receiveTimer: NodeJS.Timeout | null = null
  #isToListen = false
  #library: typeof import('uWebSockets.js') | null = null
  #app: TemplatedApp | null = null
  #socket: us_listen_socket | null = null
  #inFlightCount = 0
  /** When the last connection came. */
  #connectedAt = -Infinity
  /**
   * A conversation for the next request. One is enough: a request that is answered at once is answered before the next
   * comes.
   */
  #idle: Reusable | null = null
  /**
   * The headers of the request that is being accepted. A field, since V8 would compile a function made for each request
   * anew.
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
      turns: this.#turns,
      liveTurns: new LiveTurns(),
      familyOf,
      isDraining: false,
      watch: observer === null ? null : new RequestWatch(routes, observer, slow),
      tracing,
      crossOrigin,
      receiving: new Set(),
      report: (error, requestId) => this.#report(error, requestId),
      leave: () => this.#leave(),
      reuse: conversation => {
        this.#idle = conversation
      },
    }
  }

  /**
   * Listens, once in a server's life, and returns the actual port. The port is shared: see `reservePort`. Loads the library, which must
   * not be there before the settings are (`header-ceiling.ts`).
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
   * Goes on taking connections and requests, but answers those that come from now on only at `close`. It is the first of
   * the steps in which several servers on one port stop listening without losing a connection that was made.
   */
  hold(): void {
    this.#host.isDraining = true
    this.#host.turns = this.#held
  }

  /** Takes no more connections. Resolves after the connections that the kernel had when it was called. */
  async stopListening(): Promise<void> {
    // In the turn in which the library hears of a connection it takes all there are, in whatever order it hears of that and
    // of this.
    await new Promise(resolve => setImmediate(resolve))
    this.#closeSocket()
  }

  #closeSocket(): void {
    if (this.#socket !== null) this.#library?.us_listen_socket_close(this.#socket)
    this.#socket = null
  }

  /** Goes on serving, and asks every caller to take the next request elsewhere. */
  drain(): void {
    this.#host.isDraining = true
  }

  /**
   * Takes no more connections, lets what is in flight finish for at most `withinMs`, then ends every connection.
   * Must have resolved before the thread ends.
   */
  close({ withinMs = DRAIN_MS_DEFAULT } = {}): Promise<void> {
    this.#closing ??= this.#drainAndClose(withinMs)
    return this.#closing
  }

  async #drainAndClose(withinMs: number): Promise<void> {
    const until = performance.now() + withinMs
    this.#host.isDraining = true
    this.#closeSocket()
    this.#host.turns = this.#turns
    this.#held.release(this.#turns)
    await this.#idleBy(until)
    // The request of a connection that was made a moment ago may still be on its way.
    const settledAt = Math.min(until, this.#connectedAt + SETTLE_MS)
    if (performance.now() < settledAt) {
      await new Promise(resolve => setTimeout(resolve, settledAt - performance.now()))
      await this.#idleBy(until)
    }
    // This may run inside a callback of the library, which sends the last answer only when that callback returned.
    await new Promise(resolve => setImmediate(resolve))
    this.#app?.close()
    if (this.#receiveTimer !== null) clearInterval(this.#receiveTimer)
  }

  /** Resolves when nothing is in flight, and at `until` at the latest. */
  async #idleBy(until: number): Promise<void> {
    if (this.#inFlightCount === 0) return
    const idle = Promise.withResolvers<void>()
    const timeout = setTimeout(idle.resolve, Math.max(0, until - performance.now()))
    this.#onIdle = idle.resolve
    await idle.promise
    clearTimeout(timeout)
  }

  /** A connection above the ceiling is closed at once. It has been counted, and its end is counted, too. */
  #connected(res: HttpResponse, change: 1 | -1): void {
    this.#observer?.connected(change)
    if (change === 1) this.#connectedAt = performance.now()
    const { connections } = this.#limits
    if (connections === undefined || connections.add(change) <= connections.max || change === -1) return
    this.#observer?.limitReached('connections')
    res.close()
  }

  /** A body in one piece, as nearly all are, is never looked at here. */
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
   * Lets the library find a route without parameters, which it does by exact comparison as our router would. Reading method
   * and path from it and looking them up costs a twentieth of a decision.
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

  /** `keepsOthers`: whether a header without a field in `HeaderList` may be asked for. */
  #accept(res: HttpResponse, req: HttpRequest, match: RouteMatch | null, keepsOthers: boolean): void {
    const conversation = this.#idle ?? new Conversation(this.#host)
    this.#idle = null
    const head = conversation.emptyHead(keepsOthers)
    this.#headers = head.headers
    req.forEach(this.#addHeader)
    if (match === null) readHead(req, head)
    else knownHead(req, head, match.route)
    this.#inFlightCount++
    const { headers } = head
    conversation.begin(headers.comesInChunks ? new ChunkedWire(res, headers.endsConnection) : res, match)
  }

  #leave(): void {
    this.#inFlightCount--
    if (this.#inFlightCount === 0) this.#onIdle()
  }

  #report(error: unknown, requestId: string): void {
    try {
      this.#onFault(error, loggedId(requestId))
    } catch {
      // Rethrown, it would end the process from inside the library; there is no one else to report it to.
    }
  }
}

function readHead(req: HttpRequest, head: WireHead): void {
  // The case of a method matters: `post` is not POST.
  head.method = req.getCaseSensitiveMethod()
  head.isHead = head.method === 'HEAD'
  head.path = req.getUrl()
  head.query = queryOf(req)
}

/** Fills the head of a request whose route is known. The query is read only if the route has one. */
function knownHead(req: HttpRequest, head: WireHead, { method, path, query }: Route): void {
  head.method = method
  head.isHead = false
  head.path = path
  head.query = query === null ? '' : queryOf(req)
}

/** Where a request has no query the library returns `undefined`, whatever its types say. */
function queryOf(req: HttpRequest): string {
  return (req.getQuery() as string | undefined) ?? ''
}
