/**
 * Collects the body of one request from the pieces in which it arrives, up to a ceiling in bytes.
 *
 * A body that comes in one piece is never copied. Otherwise the pieces go into one buffer that doubles: a list of
 * pieces would let a caller who sends single bytes hold two hundred times what they sent.
 * A body nobody will read (the request is already refused) is counted, not kept.
 */

/** The body of a request without one. */
export const EMPTY_BODY: Buffer = Buffer.alloc(0)

/** Smallest buffer to collect into; the usual second piece still fits. */
const COLLECT_BYTES_MIN = 4_096

export class BodyCollector {
  readonly #bytesMax: number
  readonly #isKept: boolean
  #kept: Buffer = EMPTY_BODY
  #bytes = 0

  constructor({ bytesMax, isKept }: { bytesMax: number; isKept: boolean }) {
    this.#bytesMax = bytesMax
    this.#isKept = isKept
  }

  /** Bytes that have come, kept or not. */
  get bytes(): number {
    return this.#bytes
  }

  /** Whether more has come than the ceiling allows; nothing is kept from then on. */
  get isTooLarge(): boolean {
    return this.#bytes > this.#bytesMax
  }

  /**
   * Takes the next piece. Returns the whole body with the last piece, `null` until then. The body may be a view of
   * the piece itself, which the HTTP library takes away when its callback returns: decode it before that.
   */
  take(piece: ArrayBuffer, isLast: boolean): Buffer | null {
    const start = this.#bytes
    this.#bytes += piece.byteLength
    if (this.isTooLarge) this.#kept = EMPTY_BODY
    if (this.isTooLarge || !this.#isKept) return isLast ? EMPTY_BODY : null
    if (isLast && start === 0) return Buffer.from(piece)
    if (this.#bytes > this.#kept.length) this.#grow()
    this.#kept.set(new Uint8Array(piece), start)
    return isLast ? this.#kept.subarray(0, this.#bytes) : null
  }

  #grow(): void {
    const capacity = Math.max(COLLECT_BYTES_MIN, this.#bytes, 2 * this.#kept.length)
    const larger = Buffer.allocUnsafe(Math.min(capacity, this.#bytesMax))
    larger.set(this.#kept)
    this.#kept = larger
  }
}
