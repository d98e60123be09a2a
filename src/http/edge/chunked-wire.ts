/**
 * The wire of a request whose body comes in chunks, which is the last request of its connection.
 *
 * The HTTP library reads chunks loosely, and shows us nothing of how they were framed: `: ; < = > ? @` count as digits of a
 * size (`0;` is a chunk of eleven bytes), any two bytes end a chunk and the body, and trailers begin the next request. A proxy
 * that hands chunks on as they came may therefore see one request where the library sees two, and give the answer to the second
 * one to another caller of its own. So nothing that follows such a body is ever a request: each answer ends the connection, and
 * none is written before the library is done with the packet that brought the last chunk. What else is in that packet finds an
 * answer that is still due, for which the library ends the connection.
 *
 * Others never pass through here, so that decisions pay nothing for it.
 */
import { InvariantError } from '#model/assert.ts'
import type { Wire } from './wire.ts'

/** How long a caller has to read the end of an answer in pieces, and to close the connection as it was asked to. */
const LINGER_MS = 5_000

export class ChunkedWire implements Wire {
  readonly #wire: Wire
  /** Whether the caller has asked for the end of the connection. Then the library leaves the header that says so to us. */
  readonly #isAskedToClose: boolean
  #isAborted = false
  /** The request was answered, or the connection closed: the library frees the wire. */
  #isOver = false
  /** Whether the last chunk has come, reported or not. */
  #isReceived = false
  /** The answer goes out in pieces. */
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

  /** The last piece is reported a turn later than it came. */
  onData(listener: (piece: ArrayBuffer, isLast: boolean) => void): void {
    this.#wire.onData((piece, isLast) => {
      if (!isLast) {
        listener(piece, false)
        return
      }
      this.#isReceived = true
      // A copy, since the library frees the piece.
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
   * Not called once all has come: the library would wait for more, and end the connection before an answer that takes its
   * time.
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

  /** `Connection: close` is written once. */
  writeHeader(name: string | Uint8Array, value: string | Uint8Array): void {
    if (name !== 'Connection' || this.#isAskedToClose) this.#wire.writeHeader(name, value)
  }

  end(body: string | Uint8Array | ArrayBuffer): void {
    this.#isOver = true
    if (this.#isPoured) this.#endPieces()
    else this.#wire.end(body, true)
  }

  /**
   * Ends an answer in pieces without telling the library. Told to end it with the connection, the library writes the header
   * that says so into the middle of the pieces. Told to end it without, it serves what follows. Not told, it takes the
   * answer for unfinished, and closes at whatever follows. The last chunk is written in the form of a trailer field.
   */
  #endPieces(): void {
    this.#wire.writeHeader('\r\n0\r\nX-End', '1\r\n')
    setTimeout(() => {
      if (!this.#isAborted) this.#wire.close()
    }, LINGER_MS).unref()
  }

  /** Has a length of 0, which 204 should not have: told to close without a length, the library drops the answer. */
  endWithoutBody(): void {
    this.#isOver = true
    this.#wire.end('', true)
  }

  /**
   * Long answers go out in pieces: the library does not end the connection after an answer with a length that goes out in
   * parts.
   */
  tryEnd(): never {
    throw new InvariantError('behind a body in chunks, a long answer is in pieces')
  }

  getWriteOffset(): number {
    return this.#wire.getWriteOffset()
  }

  onWritable(listener: (offset: number) => boolean): void {
    this.#wire.onWritable(listener)
  }
}
