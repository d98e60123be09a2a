/** Observes requests for operators: counts all requests, and reports slow ones. */
// This import avoids a lookup: V8 looks up the global `performance` at each use, which would cost time in
// every request.
import { performance } from 'node:perf_hooks'
import { loggedId } from '#http/message/request-id.ts'
import type { RequestNames } from '#http/message/request-reply.ts'
import type { Route } from '#http/routing/route.ts'
import type { LimitName } from '#model/errors.ts'
import type { Principal } from '#model/principal.ts'

/**
 * Receives the counts. Its methods are called for every request, so implementations must not allocate memory
 * and must not throw.
 */
export interface RequestObserver {
  /**
   * Returns the number under which an endpoint is counted. `operationId` is null if no route matches. The
   * kind is `decisions` for decisions and lists with the key of an environment.
   */
  endpoint(operationId: string | null, kind: 'decisions' | 'management' | 'other'): number
  began(): void
  /** Counts a completed request. `status` is 0 if the client disconnected before the response. */
  ended(endpoint: number, status: number, elapsedMs: number): void
  /** Counts a connection that was opened (1) or closed (-1). */
  connected(change: 1 | -1): void
  limitReached(limit: LimitName): void
}

/** A completed request. The names are read only if the request was slow. */
export interface ObservedRequest extends Pick<RequestNames, 'requestId'> {
  /** The caller; null if it was not identified. */
  readonly principal: Principal | null
}

/** A request that took at least as long as `SlowRequests.ms`. */
export interface SlowRequest {
  readonly requestId: string
  /** Operation ID of the route. Null if no route matches. */
  readonly operation: string | null
  /** Id of the environment of the API key. Null if the request has no key of an environment. */
  readonly environment: string | null
  /** Status of the response; 0 if the client disconnected before it. */
  readonly status: number
  readonly elapsedMs: number
}

/**
 * Configuration of the reports about slow requests. A request is slow if it takes at least `ms` milliseconds.
 */
export interface SlowRequests {
  readonly ms: number
  readonly onSlow: (request: SlowRequest) => void
}

export class RequestWatch {
  readonly observer: RequestObserver
  readonly #slow: SlowRequests | null
  readonly #endpoints: ReadonlyMap<Route, number>
  readonly #noEndpoint: number
  /**
   * The route of the last counted request, and the number of its endpoint. They are cached because
   * consecutive requests often have the same route.
   */
  #route: Route | null = null
  #endpoint: number

  constructor(routes: readonly Route[], observer: RequestObserver, slow: SlowRequests | null) {
    this.observer = observer
    this.#slow = slow
    this.#endpoints = new Map(
      routes.map(route => [route, observer.endpoint(route.operationId, kindOf(route))]),
    )
    this.#noEndpoint = observer.endpoint(null, 'other')
    this.#endpoint = this.#noEndpoint
  }

  /** Counts the start of a request. Returns the start time, which the caller passes to `end`. */
  begin(): number {
    this.observer.began()
    return performance.now()
  }

  end(beganAt: number, route: Route | null, status: number, request: ObservedRequest): void {
    const elapsedMs = performance.now() - beganAt
    if (route !== this.#route) this.#useRoute(route)
    this.observer.ended(this.#endpoint, status, elapsedMs)
    if (this.#slow !== null && elapsedMs >= this.#slow.ms) {
      const { principal } = request
      this.#slow.onSlow({
        requestId: loggedId(request.requestId),
        operation: route?.operationId ?? null,
        environment: principal?.kind === 'environment' ? principal.environmentId : null,
        status,
        elapsedMs,
      })
    }
  }

  #useRoute(route: Route | null): void {
    this.#route = route
    this.#endpoint = route === null ? this.#noEndpoint : this.#endpoints.get(route)!
  }
}

function kindOf({ family, access }: Route) {
  if (family === 'management') return 'management'
  return access === 'environment' ? 'decisions' : 'other'
}
