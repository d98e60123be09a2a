/**
 * Shared memory for long bodies, in segments of one size: nothing is copied to make room for more, and another thread reads it where
 * it is. V8 does not count it: for ordinary buffers of megabytes that come and go it collected garbage a third of the time.
 */
export const SEGMENT_BYTES = 1_024 * 1_024
/** Kept for the next bodies; more is left to the garbage collector. */
const KEPT_MAX = 64

export class SegmentStock {
  readonly #kept: SharedArrayBuffer[] = []

  /** One with anything in it. */
  take(): SharedArrayBuffer {
    return this.#kept.pop() ?? new SharedArrayBuffer(SEGMENT_BYTES)
  }

  /** Nobody uses them any more. */
  giveBack(segments: readonly SharedArrayBuffer[]): void {
    for (const segment of segments) if (this.#kept.length < KEPT_MAX) this.#kept.push(segment)
  }
}

/** Bytes that come piece by piece, in segments. */
export class SegmentedBytes {
  readonly segments: SharedArrayBuffer[] = []
  readonly #stock: SegmentStock
  #bytes = 0

  constructor(stock: SegmentStock) {
    this.#stock = stock
  }

  append(piece: Uint8Array): void {
    for (let from = 0; from < piece.length;) {
      const at = this.#bytes % SEGMENT_BYTES
      if (at === 0) this.segments.push(this.#stock.take())
      const part = piece.subarray(from, from + SEGMENT_BYTES - at)
      // `set` takes shared memory word by word.
      Buffer.from(this.segments.at(-1)!, at, part.length).fill(part)
      from += part.length
      this.#bytes += part.length
    }
  }

  release(): void {
    this.#stock.giveBack(this.segments.splice(0))
  }
}

/** The bytes of segments, in memory of their own. */
export function joined(segments: readonly SharedArrayBuffer[], bytes: number): Buffer {
  const whole = Buffer.allocUnsafeSlow(bytes)
  for (const [index, segment] of segments.entries()) {
    const from = index * SEGMENT_BYTES
    Buffer.from(segment).copy(whole, from, 0, Math.min(SEGMENT_BYTES, bytes - from))
  }
  return whole
}
