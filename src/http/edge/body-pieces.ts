/**
 * Streams the body of a request that is too long to be collected. The handler takes the pieces. If it is
 * slower than the client, the connection is paused. A queue holds at most about `QUEUE_BYTES_MAX` bytes.
 */
import type { PieceSource } from '#management/content/content-stream.ts'
import { AuthzError } from '#model/errors.ts'

/** Number of queued bytes at which the connection is paused. */
const QUEUE_BYTES_MAX = 1_048_576

/**
 * Number of bytes that must arrive within the time that a collected body has. Fewer bytes do not count as
 * progress.
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
  /** Whether the last piece has arrived. */
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

  /** Progress of the body, in steps of `PROGRESS_BYTES`. */
  get receivedSteps(): number {
    return Math.floor(this.#receivedBytes / PROGRESS_BYTES)
  }

  /** Takes a piece from the wire. The piece is copied because the library frees it. */
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
   * Called when the client disconnected or the response was sent. A body that has arrived completely remains
   * readable.
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
   * Discards the rest of the body. Resolves when all of it has arrived, so that the response can be written:
   * a client whose upload is cut off does not read the response.
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
   * Not called after the last piece: the library would expect more data within ten seconds and end the
   * connection before a slow response. A paused connection has no timeout.
   */
  #resume(): void {
    if (!this.#isPaused || this.#isLost || this.#isWhole) return
    this.#isPaused = false
    this.#wire.resume()
  }
}
