/** Interfaces between an exchange and its server. */
import type { BodyBuffers } from '#http/message/body-buffers.ts'
import type { RequestIds } from '#http/message/request-id.ts'
import type { ErrorFamily } from '#http/message/request-reply.ts'
import type { Dispatcher } from '#http/routing/dispatch.ts'
import type { RouteMatch } from '#http/routing/router.ts'
import type { SessionAccess } from '#http/routing/session-access.ts'
import type { SegmentStock } from './body-segments.ts'
import type { CrossOrigin } from './cross-origin.ts'
import type { StreamScheduler } from './stream-scheduler.ts'
import type { RequestTracing } from './request-tracing.ts'
import type { ArrivalScheduler } from './arrival-scheduler.ts'
import type { RequestWatch } from './request-watch.ts'
import type { Wire, WireHead } from './wire.ts'

/** A request whose body is being received. */
export interface Receiving {
  /**
   * Progress of a streamed body (`BodyPieces.receivedSteps`). Always 0 for other bodies, because they have a
   * single timeout for the whole body.
   */
  readonly receivedSteps: number
  /** Whether the connection is paused. */
  readonly isPaused: boolean
  /** Rejects the request if its body is still incomplete. */
  stopReceiving(): void
}

/** An exchange, as the server that reuses it sees it. */
export interface Reusable {
  /**
   * Returns the head for the next request after emptying it. The server fills the head and then calls
   * `begin`. `keepsOthers`: see `HeaderList.clear`.
   */
  emptyHead(keepsOthers: boolean): WireHead
  /**
   * Admits the request whose head was filled, and receives its body if there is one. `known`: the route if
   * the server has already found it, otherwise null.
   */
  begin(wire: Wire, known: RouteMatch | null): void
}

export interface ExchangeHost {
  readonly dispatcher: Dispatcher
  readonly requestIds: RequestIds
  readonly bodyBytesMax: number
  readonly bodies: BodyBuffers
  readonly segments: SegmentStock
  readonly requestScheduler: ArrivalScheduler
  readonly streamScheduler: StreamScheduler
  /** Returns the format of errors for a path. Used for requests without a route. */
  familyOf(path: string): ErrorFamily
  /**
   * Whether the server is draining. While it is, responses ask clients to send their next request over
   * another connection.
   */
  readonly isDraining: boolean
  /** Observer of the requests. Null if requests are not observed. */
  readonly watch: RequestWatch | null
  /** Null if tracing is disabled. */
  readonly tracing: RequestTracing | null
  /** Null if no other origin has access. */
  readonly crossOrigin: CrossOrigin | null
  /** Null if sign-in is not configured. */
  readonly sessions: SessionAccess | null
  /** Requests whose bodies arrive in several pieces and are still incomplete. */
  readonly receiving: Set<Receiving>
  /** Reports a defect to the owner of the server. Never throws. */
  report(error: unknown, requestId: string): void
  /** Called when the request is over: the response was sent, or the connection ended. */
  leave(): void
  /** Called when no other object refers to the exchange. The server can then use it for another request. */
  reuse(exchange: Reusable): void
}
