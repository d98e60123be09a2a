/**
 * The body of a request that is too long to be kept. It is handed on piece by piece, and the sender is made to wait while
 * nobody takes them. Pieces that came are kept in one queue, of about `QUEUE_BYTES_MAX` at most.
 */
import type { PieceSource } from '#management/content/content-stream.ts'
import { AuthzError } from '#model/errors.ts'

/** At this many queued bytes the sender is made to wait. */
const QUEUE_BYTES_MAX = 1_048_576

/** Bytes that must come of a body in pieces within the time that a whole body has. Fewer bytes count as no progress. */
const PROGRESS_BYTES = 65_536

/** The part of the wire that sets the pace. */
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
  /** The last piece has come. */
  #isWhole = false
  /** The sender has left: the wire must not be touched any more. */
  #isLost = false
  #isDiscarded = false
  #waiting: { resolve(piece: Uint8Array | null): void; reject(error: unknown): void } | null = null
  readonly #passed = Promise.withResolvers<void>()

  constructor(wire: PacedWire) {
    this.#wire = wire
  }

  /** Whether the sender is made to wait. */
  get isPaused(): boolean {
    return this.#isPaused
  }

  /** How far the body has come. */
  get receivedSteps(): number {
    return Math.floor(this.#receivedBytes / PROGRESS_BYTES)
  }

  /** Takes a piece off the wire. The piece is copied, since the library frees it. */
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

  /** The sender has left, or the answer is out. A body that came whole can be read all the same. */
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
   * Discards the rest, and resolves when it has passed and the answer can be written: a sender that is cut off does not get
   * the answer.
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
      waiting.reject(new AuthzError('MALFORMED_REQUEST', 'the body ended before it was whole'))
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
   * Not called once all has come: the library would expect more within its ten seconds, and end the connection before an
   * answer that takes longer. A paused connection may wait for ever.
   */
  #resume(): void {
    if (!this.#isPaused || this.#isLost || this.#isWhole) return
    this.#isPaused = false
    this.#wire.resume()
  }
}
