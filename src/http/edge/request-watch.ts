/** Observes requests for the operators of the service: counts every one, and reports the slow ones. */
// Imported, since the global of that name is looked up anew at each use, and every request would pay for that.
import { performance } from 'node:perf_hooks'
import { loggedId } from '#http/message/request-id.ts'
import type { RequestNames } from '#http/message/request-reply.ts'
import type { Route } from '#http/routing/route.ts'
import type { LimitName } from '#model/errors.ts'

/** What endpoints are for: those that decide or list for an environment's key, those that manage, and the rest. */
export type EndpointKind = 'decisions' | 'management' | 'other'

/** Counts. Called for every request: allocates nothing, never throws. */
export interface RequestObserver {
  /** The number under which an endpoint is counted; null: there was no route. */
  endpoint(operationId: string | null, kind: EndpointKind): number
  began(): void
  /** `status` 0: the caller had left before there was an answer. */
  ended(endpoint: number, status: number, elapsedMs: number): void
  /** A connection came (1) or went (-1). */
  connected(change: 1 | -1): void
  limitReached(limit: LimitName): void
}

/** A request that took at least `SlowRequests.ms`. */
export interface SlowRequest {
  readonly requestId: string
  /** Null: there was no route. */
  readonly operation: string | null
  /** 0: the caller had left before there was an answer. */
  readonly status: number
  readonly elapsedMs: number
}

/** A request of at least `ms` is slow. */
export interface SlowRequests {
  readonly ms: number
  readonly onSlow: (request: SlowRequest) => void
}

export class RequestWatch {
  readonly observer: RequestObserver
  readonly #slow: SlowRequests | null
  readonly #endpoints: ReadonlyMap<Route, number>
  readonly #noEndpoint: number
  /** The route last counted, and its endpoint: successive requests mostly have the same route. */
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

  /** Returns the time of the beginning, to be given to `end`. */
  begin(): number {
    this.observer.began()
    return performance.now()
  }

  end(beganAt: number, route: Route | null, status: number, names: RequestNames): void {
    const elapsedMs = performance.now() - beganAt
    if (route !== this.#route) this.#useRoute(route)
    this.observer.ended(this.#endpoint, status, elapsedMs)
    if (this.#slow !== null && elapsedMs >= this.#slow.ms) {
      this.#slow.onSlow({
        requestId: loggedId(names.requestId),
        operation: route?.operationId ?? null,
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
