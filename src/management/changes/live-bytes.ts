/** Answers that go on: bytes that are sent as they come, until one side ends them. */

/** Bytes of events: ranges of bytes that readers share. No reader changes them. */
export interface EventBytes {
  readonly bytes: Uint8Array
  /** Begin and end of each range, alternately. The last event can lack its end, which is sent next then. */
  readonly ranges: Uint32Array
  /** Sum of all ranges. */
  readonly length: number
}

/** All of these bytes. */
export function wholeBytes(bytes: Uint8Array): EventBytes {
  return { bytes, ranges: Uint32Array.of(0, bytes.length), length: bytes.length }
}

/** Where bytes go that are sent as they come. */
export interface Outlet {
  /** Bytes that have not been given to the socket. */
  readonly keptBytes: number
  /** Whether the socket takes nothing at present, so that bytes are kept for its reader's sake, and not until their turn comes. */
  readonly isFull: boolean
  readonly isOver: boolean
  /** Sends events, or keeps them until the socket takes more. `whenGone` is called once, when they are not kept any more. */
  send(events: EventBytes, whenGone?: () => void): void
  /** Resolves when nothing is kept any more, or the answer is over. */
  drained(): Promise<void>
  /** Ends the answer with these bytes. What is kept is sent before, or dropped from the next end of an event on. */
  end(bytes: Uint8Array, options: { readonly dropsKept: boolean }): void
  /** Called once, when the answer has ended or its reader has left. */
  whenOver(listener: () => void): void
}

/** An answer without an end of its own: bytes that are sent as they come. */
export class LiveBytes {
  /** Called once, when the head is written. */
  readonly begin: (outlet: Outlet) => void
  /** Called in place of `begin` when the answer is not sent. */
  readonly cancel: () => void

  constructor(begin: (outlet: Outlet) => void, cancel: () => void) {
    this.begin = begin
    this.cancel = cancel
  }
}
