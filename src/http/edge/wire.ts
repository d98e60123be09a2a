/** The HTTP library as conversations see it: the part of its response object that is used, and the head of a request. */
import { HeaderList } from '#http/message/header-list.ts'
import type { RequestHead } from '#http/routing/dispatch.ts'

/** The part of the library's response object that is used here, as it is used. */
export interface Wire {
  onAborted(listener: () => void): unknown
  /** The piece is taken away when the listener returns. */
  onData(listener: (piece: ArrayBuffer, isLast: boolean) => void): unknown
  /** No more pieces for the time being. */
  pause(): unknown
  resume(): unknown
  /** A piece of an answer without a length; false: the socket wants a rest, `onWritable` says when it is over. */
  write(piece: Uint8Array): boolean
  /** Ends the connection as it is. */
  close(): unknown
  cork(write: () => void): unknown
  writeStatus(status: string | ArrayBuffer): unknown
  writeHeader(name: string | Uint8Array, value: string | Uint8Array): unknown
  end(body: string | Uint8Array | ArrayBuffer, closesConnection: boolean): unknown
  endWithoutBody(): unknown
  /** Sends what the socket takes; `onWritable` asks for the rest, from an offset. */
  tryEnd(body: Uint8Array, bytesTotal: number): [isFlushed: boolean, isDone: boolean]
  getWriteOffset(): number
  onWritable(listener: (offset: number) => boolean): unknown
}

/** A request's head as it came off the wire; filled anew for each request of a conversation. */
export class WireHead implements RequestHead {
  method = ''
  /** Whether that is HEAD, which an answer is told by: to compare texts is a call. */
  isHead = false
  path = ''
  query = ''
  readonly headers = new HeaderList()
}

/** The library takes the wire from us before it says so, and every use of it throws then. */
export function isWireGone(wire: Wire): boolean {
  try {
    wire.getWriteOffset()
    return false
  } catch {
    return true
  }
}

/** Writes a piece of an answer, in one packet with what stands before it. False: the socket wants a rest. */
export function writePiece(wire: Wire, piece: Uint8Array): boolean {
  let isTaken = true
  wire.cork(() => {
    isTaken = wire.write(piece)
  })
  return isTaken
}
