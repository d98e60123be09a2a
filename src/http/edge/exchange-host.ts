/** Interfaces between an exchange and its server. */
import type { BodyBuffers } from '#http/message/body-buffers.ts'
import type { RequestIds } from '#http/message/request-id.ts'
import type { ErrorFamily } from '#http/message/request-reply.ts'
import type { Dispatcher } from '#http/routing/dispatch.ts'
import type { RouteMatch } from '#http/routing/router.ts'
import type { SegmentStock } from './body-segments.ts'
import type { CrossOrigin } from './cross-origin.ts'
import type { StreamScheduler } from './stream-scheduler.ts'
import type { RequestTracing } from './request-tracing.ts'
import type { RequestScheduler } from './request-scheduler.ts'
import type { RequestWatch } from './request-watch.ts'
import type { Wire, WireHead } from './wire.ts'

/** A request whose body has not arrived completely. */
export interface Receiving {
  /** Progress of a streamed body. Always 0 for other bodies, which have one timeout for the whole body. */
  readonly receivedSteps: number
  /** Whether the connection is paused. */
  readonly isPaused: boolean
  /** Rejects the request if its body has not arrived. */
  stopReceiving(): void
}

/** An exchange as seen by its server. */
export interface Reusable {
  /**
   * Returns the empty head for the next request. The server fills it before it calls `begin`. `keepsOthers`:
   * see `HeaderList.clear`.
   */
  emptyHead(keepsOthers: boolean): WireHead
  /**
   * Admits the request whose head was filled, and receives its body if there is one. `known`: the route, if
   * the server has already found it.
   */
  begin(wire: Wire, known: RouteMatch | null): void
}

export interface ExchangeHost {
  readonly dispatcher: Dispatcher
  readonly requestIds: RequestIds
  readonly bodyBytesMax: number
  readonly bodies: BodyBuffers
  readonly segments: SegmentStock
  readonly requestScheduler: RequestScheduler
  readonly streamScheduler: StreamScheduler
  /** Format of errors for a path, for requests without a route. */
  familyOf(path: string): ErrorFamily
  /**
   * Whether the server is draining. Responses then ask the client to send its next request over another
   * connection.
   */
  readonly isDraining: boolean
  /** Null if requests are not observed. */
  readonly watch: RequestWatch | null
  /** Null if tracing is disabled. */
  readonly tracing: RequestTracing | null
  /** Null if pages of other origins have no access. */
  readonly crossOrigin: CrossOrigin | null
  /** Bodies that arrive in several pieces and are incomplete. */
  readonly receiving: Set<Receiving>
  /** Reports a defect to the owner of the server. Never throws. */
  report(error: unknown, requestId: string): void
  /** Called when the request is over: the response was sent, or the connection ended. */
  leave(): void
  /** Called when no other object refers to the exchange, so that it can handle another request. */
  reuse(exchange: Reusable): void
}
