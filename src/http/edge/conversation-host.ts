/** The interfaces between a conversation and its server. */
import type { BodyBuffers } from '#http/message/body-buffers.ts'
import type { RequestIds } from '#http/message/request-id.ts'
import type { ErrorFamily } from '#http/message/request-reply.ts'
import type { Dispatcher } from '#http/routing/dispatch.ts'
import type { RouteMatch } from '#http/routing/router.ts'
import type { SegmentStock } from './body-segments.ts'
import type { CrossOrigin } from './cross-origin.ts'
import type { LiveTurns } from './live-turns.ts'
import type { RequestTracing } from './request-tracing.ts'
import type { Turns } from './request-turns.ts'
import type { RequestWatch } from './request-watch.ts'
import type { Wire, WireHead } from './wire.ts'

/** A request whose body has not come whole. */
export interface Receiving {
  /** How far a body in pieces has come; 0 for other bodies, which have one time for all of it. */
  readonly receivedSteps: number
  /** Whether the sender is made to wait. */
  readonly isPaused: boolean
  /** Refuses the request if its body is not there yet. */
  stopReceiving(): void
}

/** A conversation as its server uses it. */
export interface Reusable {
  /** The empty head for the next request, to be filled before it begins. `keepsOthers`: see `HeaderList.clear`. */
  emptyHead(keepsOthers: boolean): WireHead
  /**
   * Admits the request whose head was filled, and waits for its body, if it has one. `known` is the route, where the server
   * knows it already.
   */
  begin(wire: Wire, known: RouteMatch | null): void
}

export interface ConversationHost {
  readonly dispatcher: Dispatcher
  readonly requestIds: RequestIds
  readonly bodyBytesMax: number
  readonly bodies: BodyBuffers
  readonly segments: SegmentStock
  readonly turns: Turns
  readonly liveTurns: LiveTurns
  /** The form of errors under a path, for requests without a route. */
  familyOf(path: string): ErrorFamily
  /** While draining, answers ask the caller to send the next request elsewhere. */
  readonly isDraining: boolean
  /** Null: requests are not observed. */
  readonly watch: RequestWatch | null
  /** Null: nothing is traced. */
  readonly tracing: RequestTracing | null
  /** Null: pages of other origins may not ask. */
  readonly crossOrigin: CrossOrigin | null
  /** Bodies that come in pieces and whose last piece has not come. */
  readonly receiving: Set<Receiving>
  /** Reports a defect to the owner; never throws. */
  report(error: unknown, requestId: string): void
  /** The request is over: the answer has gone out, or the connection has ended. */
  leave(): void
  /** Nothing else refers to the conversation any more: it may have another request. */
  reuse(conversation: Reusable): void
}
