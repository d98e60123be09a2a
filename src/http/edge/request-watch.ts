/** Observes requests for operators: counts all requests and reports slow ones. */
// Imported because V8 looks up a global at each use, which would cost time in every request.
import { performance } from 'node:perf_hooks'
import { loggedId } from '#http/message/request-id.ts'
import type { RequestNames } from '#http/message/request-reply.ts'
import type { Route } from '#http/routing/route.ts'
import type { LimitName } from '#model/errors.ts'
import type { Principal } from '#model/principal.ts'

/**
 * Purpose of an endpoint: decisions and lists with the key of an environment, management, and everything
 * else.
 */
export type EndpointKind = 'decisions' | 'management' | 'other'

/** Counters. Called for every request, so implementations must not allocate and must not throw. */
export interface RequestObserver {
  /** Number of an endpoint for counting. Null: no route matches. */
  endpoint(operationId: string | null, kind: EndpointKind): number
  began(): void
  /** `status` 0: the client disconnected before the response. */
  ended(endpoint: number, status: number, elapsedMs: number): void
  /** Counts an opened (1) or closed (-1) connection. */
  connected(change: 1 | -1): void
  limitReached(limit: LimitName): void
}

/** A completed request. The names are read only if the request was slow. */
export interface ObservedRequest extends Pick<RequestNames, 'requestId'> {
  /** The caller; null if it was not identified. */
  readonly principal: Principal | null
}

/** A request that took at least `SlowRequests.ms`. */
export interface SlowRequest {
  readonly requestId: string
  /** Null if no route matches. */
  readonly operation: string | null
  /** Id of the environment of the API key. Null if the request has no key of an environment. */
  readonly environment: string | null
  /** Status of the response; 0 if the client disconnected before it. */
  readonly status: number
  readonly elapsedMs: number
}

/** Reporting of slow requests, which take at least `ms` milliseconds. */
export interface SlowRequests {
  readonly ms: number
  readonly onSlow: (request: SlowRequest) => void
}

export class RequestWatch {
  readonly observer: RequestObserver
  readonly #slow: SlowRequests | null
  readonly #endpoints: ReadonlyMap<Route, number>
  readonly #noEndpoint: number
  /** The route that was counted last, and its endpoint. Consecutive requests often have the same route. */
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

  /** Returns the start time, which is an argument of `end`. */
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

function kindOf({ family, access }: Route): EndpointKind {
  if (family === 'management') return 'management'
  return access === 'environment' ? 'decisions' : 'other'
}
