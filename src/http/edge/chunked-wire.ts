/**
 * Wire of a request whose body uses chunked transfer coding. This request is the last one on its connection.
 *
 * The HTTP library parses chunks loosely and does not expose their framing. It accepts the characters `: ; <
 * = > ? @` as digits of a size (`0;` is a chunk of eleven bytes). It accepts any two bytes as the end of a
 * chunk or of the body. It parses trailers as the next request. A proxy that forwards chunks unchanged could
 * therefore see one request where the library sees two, and send the second response to another client
 * (request smuggling).
 *
 * To prevent this, no bytes after such a body are ever treated as a request. Every response ends the
 * connection. No response is written until the library has processed the whole packet that contains the last
 * chunk. If this packet contains more data, the library finds that a response is still pending, and closes
 * the connection.
 *
 * Other requests do not use this class, so decisions have no extra cost.
 */
import { InvariantError } from '#model/assert.ts'
import type { Wire } from './wire.ts'

/**
 * Time in milliseconds that a client has to read the end of a streamed response and to close the connection.
 * After this time, the service closes it.
 */
const LINGER_MS = 5_000

export class ChunkedWire implements Wire {
  readonly #wire: Wire
  /**
   * Whether the client requested to close the connection. If so, the HTTP library does not write the
   * `Connection` header of the response, and this code writes it.
   */
  readonly #isAskedToClose: boolean
  #isAborted = false
  /**
   * Whether the response was sent or the connection closed. In both cases, the HTTP library has freed the
   * wire.
   */
  #isOver = false
  /** Whether the last chunk has arrived. The listener might not have received it yet. */
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

  /** Passes pieces to the listener. The last piece is passed one event-loop iteration after it arrived. */
  onData(listener: (piece: ArrayBuffer, isLast: boolean) => void): void {
    this.#wire.onData((piece, isLast) => {
      if (!isLast) {
        listener(piece, false)
        return
      }
      this.#isReceived = true
      // The piece is copied because the HTTP library frees it.
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
   * Has no effect after the last chunk: the HTTP library would wait for more data and close the connection
   * before a slow response is ready.
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

  /** Skips a `Connection` header if the HTTP library or `write` writes this header. */
  writeHeader(name: string | Uint8Array, value: string | Uint8Array): void {
    if (name !== 'Connection' || this.#isAskedToClose) this.#wire.writeHeader(name, value)
  }

  end(body: string | Uint8Array | ArrayBuffer): void {
    this.#isOver = true
    if (this.#isPoured) this.#endPieces()
    else this.#wire.end(body, true)
  }

  /**
   * Ends a streamed response without calling `end` of the HTTP library. If the library closed the connection
   * with the response, it would write the `Connection` header into the body. If the library ended the
   * response without closing, it would process data after the body as a request. Without the call, the
   * library considers the response unfinished and closes the connection when more data arrives.
   *
   * The last chunk is written with `writeHeader`, in the form of a trailer field.
   */
  #endPieces(): void {
    this.#wire.writeHeader('\r\n0\r\nX-End', '1\r\n')
    setTimeout(() => {
      if (!this.#isAborted) this.#wire.close()
    }, LINGER_MS).unref()
  }

  /**
   * Sends a length of 0, although a 204 response should have no length. The HTTP library drops a response
   * without a length if it must close the connection.
   */
  endWithoutBody(): void {
    this.#isOver = true
    this.#wire.end('', true)
  }

  /**
   * Not used here, because long responses to chunked requests are sent in pieces. If a response with a length
   * were sent in parts, the HTTP library would not close the connection after it.
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
