/**
 * Streams the body of a request that is too long to be collected. The handler takes the pieces one by one. If
 * the handler is slower than the client, the connection is paused, so that the queue holds at most about
 * `QUEUE_BYTES_MAX` bytes.
 */
import type { PieceSource } from '#management/content/content-stream.ts'
import { AuthzError } from '#model/errors.ts'

/** Number of queued bytes at which the connection is paused. */
const QUEUE_BYTES_MAX = 1_048_576

/**
 * Number of bytes that make up one step of progress. A client must send at least one step within the time in
 * which a collected body must arrive completely. Otherwise the body counts as stalled.
 */
const PROGRESS_BYTES = 65_536

/** The part of the wire that controls backpressure. */
export interface PacedWire {
  pause(): unknown
  resume(): unknown
}

export class BodyPieces implements PieceSource {
  readonly #wire: PacedWire
  #queue: Uint8Array[] = []
  #queuedBytes = 0
  #receivedBytes = 0
  #isPaused = false
  /** Whether the last piece of the body has arrived. */
  #isWhole = false
  /** Whether the client disconnected. The wire must not be used any more. */
  #isLost = false
  #isDiscarded = false
  #waiting: { resolve(piece: Uint8Array | null): void; reject(error: unknown): void } | null = null
  readonly #passed = Promise.withResolvers<void>()

  constructor(wire: PacedWire) {
    this.#wire = wire
  }

  /** Whether the connection is paused. */
  get isPaused(): boolean {
    return this.#isPaused
  }

  /** Number of complete steps of `PROGRESS_BYTES` that have arrived. */
  get receivedSteps(): number {
    return Math.floor(this.#receivedBytes / PROGRESS_BYTES)
  }

  /** Takes a piece from the wire and copies it, because the HTTP library frees the original. */
  take(piece: ArrayBuffer, isLast: boolean): void {
    this.#isWhole = isLast
    this.#receivedBytes += piece.byteLength
    if (!this.#isDiscarded && piece.byteLength > 0) {
      this.#queue.push(new Uint8Array(piece.slice(0)))
      this.#queuedBytes += piece.byteLength
    }
    if (this.#queuedBytes >= QUEUE_BYTES_MAX && !this.#isWhole) {
      this.#isPaused = true
      this.#wire.pause()
    }
    this.#hand()
    if (isLast) this.#passed.resolve()
  }

  /**
   * Called when the client disconnected or the response was sent. If the body has arrived completely, the
   * handler can still read the queued pieces.
   */
  lose(): void {
    this.#isLost = true
    if (this.#isWhole) return
    this.#queue = []
    this.#hand()
    this.#passed.resolve()
  }

  next(): Promise<Uint8Array | null> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      this.#hand()
    })
  }

  cancel(): void {
    this.#isDiscarded = true
    this.#queue = []
    this.#queuedBytes = 0
    this.#resume()
  }

  /**
   * Discards the rest of the body, and resolves when all of it has arrived. The response can then be written.
   * If the upload were cut off, the client would not read the response.
   */
  async passed(): Promise<void> {
    this.cancel()
    await this.#passed.promise
    if (this.#isPaused && !this.#isLost) this.#wire.resume()
    this.#isPaused = false
  }

  #hand(): void {
    const waiting = this.#waiting
    if (!waiting) return
    if (this.#isLost && !this.#isWhole) {
      this.#waiting = null
      waiting.reject(new AuthzError('MALFORMED_REQUEST', 'the body ended early'))
    } else if (this.#queue.length > 0) {
      this.#waiting = null
      const pieces = this.#queue
      this.#queue = []
      this.#queuedBytes = 0
      this.#resume()
      waiting.resolve(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces))
    } else if (this.#isWhole || this.#isDiscarded) {
      this.#waiting = null
      waiting.resolve(null)
    }
  }

  /**
   * Resumes the connection if the body is incomplete. After the last piece, the connection stays paused: the
   * HTTP library would expect more data within ten seconds and close the connection before a slow response is
   * ready. A paused connection has no timeout.
   */
  #resume(): void {
    if (!this.#isPaused || this.#isLost || this.#isWhole) return
    this.#isPaused = false
    this.#wire.resume()
  }
}
