/** Clients of requests, as seen by the code that works for them. */
import type { Principal } from './principal.ts'

/** A client that waits for a response. */
export interface WaitingClient {
  /** Whether the client has disconnected, so that no client waits for the response. */
  readonly isGone: boolean
}

/** A client that waits for a response and has sent a body. */
export interface RequestClient extends WaitingClient {
  /** Size of the request body in bytes. 0 if the request has no body, or if the body arrives in chunks. */
  readonly bodyBytes: number
  /**
   * Calls `listener` when the request is over, that is, when the last byte of the response has been sent or
   * the connection is closed. If this has already happened, calls it immediately. Several listeners are
   * called in the order in which they were added.
   */
  whenOver(listener: () => void): void
  /**
   * Checks the key or session of the client again after a wait. Returns its present principal; null if the
   * route needs no credentials. Throws the `AuthzError` for the client if it is no longer admitted.
   */
  identifyAgain(): Principal | null
}

/** A client that asked for a decision. */
export interface AskingClient {
  /** ID of the request in responses and logs. It is valid until the response is sent. */
  readonly requestId: string
  /**
   * Actor that the client claims, in the form of the decision log, or null if it claims none. Only the
   * decision log reads it. Absent if the client cannot send headers.
   */
  readonly actor?: object | null
}

/** A client for a request whose work is canceled when the client disconnects, even if the work is running. */
export type CancelableClient = Pick<RequestClient, 'isGone' | 'whenOver'>

/** Stands for the client of work that is completed even if the client disconnects. */
export const SOMEBODY: WaitingClient = Object.freeze({ isGone: false })
