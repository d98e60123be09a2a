/** The HTTP library as conversations use it: the part of its response object that they need, and the head of a request. */
import { HeaderList } from '#http/message/header-list.ts'
import type { RequestHead } from '#http/routing/dispatch.ts'

/** The part of the library's response object that is used here. */
export interface Wire {
  onAborted(listener: () => void): unknown
  /** The library frees the piece when the listener returns. */
  onData(listener: (piece: ArrayBuffer, isLast: boolean) => void): unknown
  /** No more pieces come until `resume`. */
  pause(): unknown
  resume(): unknown
  /**
   * Writes a piece of an answer without a length. False: the socket is full, and `onWritable` tells when it is not any
   * more.
   */
  write(piece: Uint8Array): boolean
  /** Ends the connection as it is. */
  close(): unknown
  cork(write: () => void): unknown
  writeStatus(status: string | ArrayBuffer): unknown
  writeHeader(name: string | Uint8Array, value: string | Uint8Array): unknown
  end(body: string | Uint8Array | ArrayBuffer, closesConnection: boolean): unknown
  endWithoutBody(): unknown
  /** Sends as much as the socket takes. `onWritable` asks for the rest, from an offset. */
  tryEnd(body: Uint8Array, bytesTotal: number): [isFlushed: boolean, isDone: boolean]
  getWriteOffset(): number
  onWritable(listener: (offset: number) => boolean): unknown
}

/** A request's head as it came off the wire; filled anew for each request of a conversation. */
export class WireHead implements RequestHead {
  method = ''
  /** Whether the method is HEAD. A field of its own, since comparing texts is a call. */
  isHead = false
  path = ''
  query = ''
  readonly headers = new HeaderList()
}

/** Whether the library has freed the wire. It does so before it reports the abort, and every use throws then. */
export function isWireGone(wire: Wire): boolean {
  try {
    wire.getWriteOffset()
    return false
  } catch {
    return true
  }
}

/** Writes a piece of an answer, in one packet with what was written before. False: the socket is full. */
export function writePiece(wire: Wire, piece: Uint8Array): boolean {
  let isTaken = true
  wire.cork(() => {
    isTaken = wire.write(piece)
  })
  return isTaken
}
