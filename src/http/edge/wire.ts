/**
 * Interface of the HTTP library for exchanges: the used part of its response object, and the head of a
 * request.
 */
import { HeaderList } from '#http/message/header-list.ts'
import type { RequestHead } from '#http/routing/dispatch.ts'

/** The used part of the library's response object. */
export interface Wire {
  onAborted(listener: () => void): unknown
  /** The library frees the piece when the listener returns. */
  onData(listener: (piece: ArrayBuffer, isLast: boolean) => void): unknown
  /** Stops the delivery of pieces until `resume`. */
  pause(): unknown
  resume(): unknown
  /**
   * Writes a piece of a response without a length. Returns false if the socket is full; `onWritable` reports
   * when it accepts bytes again.
   */
  write(piece: Uint8Array): boolean
  /** Closes the connection immediately. */
  close(): unknown
  cork(write: () => void): unknown
  writeStatus(status: string | ArrayBuffer): unknown
  writeHeader(name: string | Uint8Array, value: string | Uint8Array): unknown
  end(body: string | Uint8Array | ArrayBuffer, closesConnection: boolean): unknown
  endWithoutBody(): unknown
  /** Sends as many bytes as the socket accepts. `onWritable` requests the rest, with its offset. */
  tryEnd(body: Uint8Array, bytesTotal: number): [isFlushed: boolean, isDone: boolean]
  getWriteOffset(): number
  onWritable(listener: (offset: number) => boolean): unknown
}

/** Head of a request as received. Reused for each request of an exchange. */
export class WireHead implements RequestHead {
  method = ''
  /** Whether the method is HEAD. Cached, because comparing strings is a function call. */
  isHead = false
  path = ''
  query = ''
  readonly headers = new HeaderList()
}

/**
 * Whether the library has freed the wire. It does so before it reports the abort, and every use throws after
 * that.
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
 * Writes a piece of a response, in one packet with the bytes written before. Returns false if the socket is
 * full.
 */
export function writePiece(wire: Wire, piece: Uint8Array): boolean {
  let isTaken = true
  wire.cork(() => {
    isTaken = wire.write(piece)
  })
  return isTaken
}
