/**
 * Shared memory for long bodies, in segments of a fixed size. Growing needs no copy, and another thread can
 * read the memory in place.
 *
 * V8 does not account for shared memory. With ordinary buffers of several megabytes, the garbage collector
 * ran a third of the time, and unreferenced segments would never be collected. Therefore the number of
 * segments is limited, and each one is reused and never dropped.
 */
import { AuthzError } from '#model/errors.ts'

export const SEGMENT_BYTES = 1_024 * 1_024
/**
 * Number of bodies of the maximum length for which there is memory at the same time, while they are received
 * or wait for their responses.
 */
const LONGEST_BODIES = 8
/**
 * Minimum number of segments, even if the limit of a body is small. A body that another thread reads takes
 * one or two.
 */
const SEGMENTS_MIN = 32
/** Fraction of all segments that the bodies of one environment can occupy. */
const SHARE = 1 / 2

/** Capacity of a thread for long bodies, in bytes. `bodyBytesMax`: limit of one body. */
export function longBodiesBytesMax(bodyBytesMax: number): number {
  const ofBody = Math.ceil(bodyBytesMax / SEGMENT_BYTES)
  return SEGMENT_BYTES * Math.max(SEGMENTS_MIN, LONGEST_BODIES * ofBody)
}

export class SegmentStock {
  readonly #segmentsMax: number
  readonly #ofShareMax: number
  readonly #free: SharedArrayBuffer[] = []
  readonly #takenBy = new Map<string, number>()
  #made = 0

  /** `bytesMax`: limit of all segments together. */
  constructor(bytesMax: number) {
    this.#segmentsMax = Math.floor(bytesMax / SEGMENT_BYTES)
    this.#ofShareMax = Math.floor(SHARE * this.#segmentsMax)
  }

  /** Number of segments that were created, whether in use or free. */
  get made(): number {
    return this.#made
  }

  /**
   * Returns a segment with arbitrary content. Throws `OVERLOADED` if no segment is free or the quota of
   * `share` is used up.
   */
  take(share: string): SharedArrayBuffer {
    const ofShare = this.#takenBy.get(share) ?? 0
    if (ofShare >= this.#ofShareMax) throw tooManyBodies()
    const segment = this.#free.pop() ?? this.#make()
    this.#takenBy.set(share, ofShare + 1)
    return segment
  }

  /** Returns segments to the stock. `share`: the quota for which they were taken. */
  giveBack(share: string, segments: readonly SharedArrayBuffer[]): void {
    if (segments.length === 0) return
    this.#free.push(...segments)
    const ofShare = this.#takenBy.get(share)! - segments.length
    if (ofShare === 0) this.#takenBy.delete(share)
    else this.#takenBy.set(share, ofShare)
  }

  #make(): SharedArrayBuffer {
    if (this.#made >= this.#segmentsMax) throw tooManyBodies()
    const segment = new SharedArrayBuffer(SEGMENT_BYTES)
    this.#made += 1
    return segment
  }
}

/** Collects bytes that arrive in pieces, in segments. */
export class SegmentedBytes {
  readonly segments: SharedArrayBuffer[] = []
  readonly #stock: SegmentStock
  readonly #share: string
  #bytes = 0

  constructor(stock: SegmentStock, share: string) {
    this.#stock = stock
    this.#share = share
  }

  /** Appends a piece. If there is no memory, releases all segments and throws `OVERLOADED`. */
  append(piece: Uint8Array): void {
    try {
      for (let from = 0; from < piece.length;) {
        const at = this.#bytes % SEGMENT_BYTES
        if (at === 0) this.segments.push(this.#stock.take(this.#share))
        const part = piece.subarray(from, from + SEGMENT_BYTES - at)
        // `set` would copy into shared memory word by word.
        Buffer.from(this.segments.at(-1)!, at, part.length).fill(part)
        from += part.length
        this.#bytes += part.length
      }
    } catch (error) {
      this.release()
      throw error
    }
  }

  /** Releases all segments. Safe to repeat. */
  release(): void {
    this.#bytes = 0
    this.#stock.giveBack(this.#share, this.segments.splice(0))
  }
}

function tooManyBodies(): AuthzError {
  const message = 'too many large bodies are being received or read; try again shortly'
  return new AuthzError('OVERLOADED', message, { limit: 'pool' })
}

/** Copies the bytes of segments into one buffer: a new one, or `whole`. */
export function joined(
  segments: readonly SharedArrayBuffer[],
  bytes: number,
  whole: Buffer = Buffer.allocUnsafeSlow(bytes),
): Buffer {
  for (const [index, segment] of segments.entries()) {
    const from = index * SEGMENT_BYTES
    Buffer.from(segment).copy(whole, from, 0, Math.min(SEGMENT_BYTES, bytes - from))
  }
  return whole
}
