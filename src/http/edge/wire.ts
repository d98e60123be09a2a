/**
 * Interface of the HTTP library, as far as an exchange uses it: a part of the response object, and the head
 * of a request.
 */
import { HeaderList } from '#http/message/header-list.ts'
import type { RequestHead } from '#http/routing/dispatch.ts'

/** The part of the response object of the HTTP library that this code uses. */
export interface Wire {
  onAborted(listener: () => void): unknown
  /**
   * Passes the pieces of the body to the listener. The HTTP library frees a piece when the listener returns.
   */
  onData(listener: (piece: ArrayBuffer, isLast: boolean) => void): unknown
  /** Stops the delivery of pieces until `resume`. */
  pause(): unknown
  resume(): unknown
  /**
   * Writes a piece of a response without a length. Returns false if the socket is full. In this case,
   * `onWritable` is called when the socket accepts bytes again.
   */
  write(piece: Uint8Array): boolean
  /** Closes the connection immediately. */
  close(): unknown
  cork(write: () => void): unknown
  writeStatus(status: string | ArrayBuffer): unknown
  writeHeader(name: string | Uint8Array, value: string | Uint8Array): unknown
  end(body: string | Uint8Array | ArrayBuffer, closesConnection: boolean): unknown
  endWithoutBody(): unknown
  /**
   * Sends as many bytes as the socket accepts. `onWritable` is called with the offset of the remaining bytes
   * when the socket accepts more.
   */
  tryEnd(body: Uint8Array, bytesTotal: number): [isFlushed: boolean, isDone: boolean]
  getWriteOffset(): number
  onWritable(listener: (offset: number) => boolean): unknown
}

/** Head of a request as received. The object is reused for each request of an exchange. */
export class WireHead implements RequestHead {
  method = ''
  /**
   * Whether the method is HEAD. The result is stored because each comparison of strings is a function call.
   */
  isHead = false
  path = ''
  query = ''
  readonly headers = new HeaderList()
}

/**
 * Whether the HTTP library has freed the wire. The library frees the wire before it reports that the
 * connection was aborted. After that, every use of the wire throws an error.
 */
export function isWireGone(wire: Wire): boolean {
  try {
    wire.getWriteOffset()
    return false
  } catch {
    return true
  }
}

/**
 * Writes a piece of a response. Bytes that were written before are sent in the same packet. Returns false if
 * the socket is full.
 */
export function writePiece(wire: Wire, piece: Uint8Array): boolean {
  let isTaken = true
  wire.cork(() => {
    isTaken = wire.write(piece)
  })
  return isTaken
}
