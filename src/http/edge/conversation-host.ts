/** What a conversation needs of the server it belongs to, and what the server may ask of those that are being received. */
import type { Dispatcher } from '#http/routing/dispatch.ts'
import type { ErrorFamily } from '#http/routing/exchange.ts'
import type { SegmentStock } from './body-segments.ts'
import type { BodyBuffers } from './body.ts'
import type { BodyTurns } from './large-body-turns.ts'
import type { RequestIds } from './request-id.ts'
import type { RequestTracing } from './request-tracing.ts'
import type { RequestWatch } from './request-watch.ts'

/** A request whose body has not come whole. */
export interface Receiving {
  /** How far a body in pieces has come; 0 for others, which have one time for all of it. */
  readonly receivedSteps: number
  /** Whether the sender waits for us. */
  readonly isHeldUp: boolean
  /** Refuses the request if its body is not there yet. */
  stopReceiving(): void
}

export interface ConversationHost<Conversation> {
  readonly dispatcher: Dispatcher
  readonly requestIds: RequestIds
  readonly bodyBytesMax: number
  readonly bodies: BodyBuffers
  readonly segments: SegmentStock
  readonly bodyTurns: BodyTurns
  /** The form of errors under a path, as long as no route is known. */
  familyOf(path: string): ErrorFamily
  /** While draining, answers ask the caller to go elsewhere. */
  readonly isDraining: boolean
  /** Null: nobody wants to know. */
  readonly watch: RequestWatch | null
  /** Null: nothing is traced. */
  readonly tracing: RequestTracing | null
  /** Those whose bodies come in pieces, until the last one is there. */
  readonly receiving: Set<Receiving>
  /** Tells the owner of a defect; never throws. */
  report(error: unknown, requestId: string): void
  /** The conversation is over: the answer has gone out, or nobody waits for it any more. */
  leave(): void
  /** Nobody else knows the conversation any more: it may have another request. */
  reuse(conversation: Conversation): void
}
