/**
 * Wire of a request whose body uses chunked transfer coding. Such a request is the last one of its
 * connection.
 *
 * The HTTP library parses chunks loosely and does not expose their framing. It accepts `: ; < = > ? @` as
 * digits of a size (`0;` is a chunk of eleven bytes) and any two bytes as the end of a chunk or of the body.
 * It parses trailers as the next request. A proxy that forwards chunks unchanged could see one request where
 * the library sees two, and send the second response to another client (request smuggling). Therefore nothing
 * after such a body is ever treated as a request. Each response ends the connection, and no response is
 * written before the library has processed the packet with the last chunk. If that packet contains more data,
 * a response is still pending, so the library ends the connection.
 *
 * Other requests do not use this class, so decisions have no extra cost.
 */
import { InvariantError } from '#model/assert.ts'
import type { Wire } from './wire.ts'

/** Time that a client has to read the end of a streamed response and to close the connection as requested. */
const LINGER_MS = 5_000

export class ChunkedWire implements Wire {
  readonly #wire: Wire
  /**
   * Whether the client requested to close the connection. In that case, the library leaves the `Connection`
   * header of the response to this code.
   */
  readonly #isAskedToClose: boolean
  #isAborted = false
  /** Whether the response was sent or the connection closed. The library has freed the wire. */
  #isOver = false
  /** Whether the last chunk has arrived, reported or not. */
  #isReceived = false
  /** Whether the response is sent in pieces. */
  #isPoured = false

  constructor(wire: Wire, isAskedToClose: boolean) {
    this.#wire = wire
    this.#isAskedToClose = isAskedToClose
  }

  onAborted(listener: () => void): void {
    this.#wire.onAborted(() => {
      this.#isAborted = true
      listener()
    })
  }

  /** Reports the last piece one event-loop iteration after it arrived. */
  onData(listener: (piece: ArrayBuffer, isLast: boolean) => void): void {
    this.#wire.onData((piece, isLast) => {
      if (!isLast) {
        listener(piece, false)
        return
      }
      this.#isReceived = true
      // A copy, because the library frees the piece.
      const kept = piece.slice(0)
      setImmediate(() => {
        if (!this.#isAborted && !this.#isOver) this.#wire.cork(() => listener(kept, true))
      })
    })
  }

  pause(): void {
    if (!this.#isReceived) this.#wire.pause()
  }

  /**
   * Not forwarded after the last chunk: the library would wait for more data and end the connection before a
   * slow response.
   */
  resume(): void {
    if (!this.#isReceived) this.#wire.resume()
  }

  write(piece: Uint8Array): boolean {
    if (!this.#isPoured && !this.#isAskedToClose) this.#wire.writeHeader('Connection', 'close')
    this.#isPoured = true
    return this.#wire.write(piece)
  }

  close(): void {
    this.#isOver = true
    this.#wire.close()
  }

  cork(write: () => void): void {
    this.#wire.cork(write)
  }

  writeStatus(status: string | ArrayBuffer): void {
    this.#wire.writeStatus(status)
  }

  /** Drops `Connection: close` if the header is already written by the library or by `write`. */
  writeHeader(name: string | Uint8Array, value: string | Uint8Array): void {
    if (name !== 'Connection' || this.#isAskedToClose) this.#wire.writeHeader(name, value)
  }

  end(body: string | Uint8Array | ArrayBuffer): void {
    this.#isOver = true
    if (this.#isPoured) this.#endPieces()
    else this.#wire.end(body, true)
  }

  /**
   * Ends a streamed response without notifying the library. If the library ended it and closed the
   * connection, it would write the header for this into the body. If the library ended it without closing, it
   * would process data after the body as a request. Without notification, the library considers the response
   * unfinished and closes the connection when more data arrives. The last chunk is written in the form of a
   * trailer field.
   */
  #endPieces(): void {
    this.#wire.writeHeader('\r\n0\r\nX-End', '1\r\n')
    setTimeout(() => {
      if (!this.#isAborted) this.#wire.close()
    }, LINGER_MS).unref()
  }

  /**
   * Sends a length of 0, although 204 should have none: the library drops a response without a length if it
   * must close the connection.
   */
  endWithoutBody(): void {
    this.#isOver = true
    this.#wire.end('', true)
  }

  /**
   * Not used, because long responses are sent in pieces: the library does not end the connection after a
   * response with a length that is sent in parts.
   */
  tryEnd(): never {
    throw new InvariantError('after a chunked body, a long response is written in pieces')
  }

  getWriteOffset(): number {
    return this.#wire.getWriteOffset()
  }

  onWritable(listener: (offset: number) => boolean): void {
    this.#wire.onWritable(listener)
  }
}
