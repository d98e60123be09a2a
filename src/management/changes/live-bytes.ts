/** Streaming responses: bytes are sent as they arrive, until the client or the server ends the response. */

/** Bytes of events: ranges of a byte array that readers share. Readers must not change the array. */
export interface EventBytes {
  readonly bytes: Uint8Array
  /**
   * Begin and end of each range, alternately. The last event can lack its final line, which is then sent
   * next.
   */
  readonly ranges: Uint32Array
  /** Sum of the lengths of all ranges. */
  readonly length: number
}

/** A single range with all bytes. */
export function wholeBytes(bytes: Uint8Array): EventBytes {
  return { bytes, ranges: Uint32Array.of(0, bytes.length), length: bytes.length }
}

/** Destination of a streaming response. */
export interface Outlet {
  /** Bytes that have not been written to the socket. */
  readonly keptBytes: number
  /**
   * Whether the socket accepts no data at present. Bytes are then kept because of a slow reader, and not only
   * until their time slice.
   */
  readonly isFull: boolean
  readonly isOver: boolean
  /**
   * Sends events, or keeps them until the socket accepts more. `whenGone` is called once, when they are no
   * longer kept.
   */
  send(events: EventBytes, whenGone?: () => void): void
  /** Resolves when no bytes are kept, or when the response has ended. */
  drained(): Promise<void>
  /**
   * Ends the response with these bytes. Kept bytes are sent first, or dropped from the next end of an event
   * on.
   */
  end(bytes: Uint8Array, options: { readonly dropsKept: boolean }): void
  /** Registers a callback that is called once, when the response has ended or the client has disconnected. */
  whenOver(listener: () => void): void
}

/** Credential that a stream needs until its end. */
export type StreamHolder = 'key' | 'session'

/** A streaming response without a defined end: bytes are sent as they arrive. */
export class LiveBytes {
  /** Called once, after the response header has been written. */
  readonly begin: (outlet: Outlet) => void
  /** Called instead of `begin` if the response is not sent. */
  readonly cancel: () => void

  constructor(begin: (outlet: Outlet) => void, cancel: () => void) {
    this.begin = begin
    this.cancel = cancel
  }
}
