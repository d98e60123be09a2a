/**
 * Shared memory for long bodies, in segments of a fixed size. A body grows by another segment without being
 * copied, and another thread can read the segments in place.
 *
 * The number of segments is limited, and segments are reused and never dropped, for two reasons. With
 * ordinary buffers of several megabytes, the garbage collector ran for a third of the time. Shared memory
 * would not be collected in time, because V8 does not account for its size.
 */
import { AuthzError } from '#model/errors.ts'

export const SEGMENT_BYTES = 1_024 * 1_024
/**
 * Number of bodies of the maximum length that the memory can hold at the same time. A body occupies its
 * segments while it is received and until it is no longer needed for its response.
 */
const LONGEST_BODIES = 8
/**
 * Minimum number of segments, which applies if the limit of a body is small. A body that another thread reads
 * takes one or two segments.
 */
const SEGMENTS_MIN = 32
/** Fraction of all segments that the bodies of one environment can occupy together. */
const SHARE = 1 / 2

/** Memory of a thread for long bodies, in bytes. `bodyBytesMax`: maximum length of one body. */
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

  /** `bytesMax`: maximum size of all segments together. */
  constructor(bytesMax: number) {
    this.#segmentsMax = Math.floor(bytesMax / SEGMENT_BYTES)
    this.#ofShareMax = Math.floor(SHARE * this.#segmentsMax)
  }

  /** Number of created segments, both in use and free. */
  get made(): number {
    return this.#made
  }

  /**
   * Returns a segment, whose content is undefined. Throws `OVERLOADED` if no segment is free or if the quota
   * of `share` is used up.
   */
  take(share: string): SharedArrayBuffer {
    const ofShare = this.#takenBy.get(share) ?? 0
    if (ofShare >= this.#ofShareMax) throw tooManyBodies()
    const segment = this.#free.pop() ?? this.#make()
    this.#takenBy.set(share, ofShare + 1)
    return segment
  }

  /** Returns segments to the stock. `share`: name of the quota to which they were charged. */
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

/** Collects the pieces of a body in segments. */
export class SegmentedBytes {
  readonly segments: SharedArrayBuffer[] = []
  readonly #stock: SegmentStock
  readonly #share: string
  #bytes = 0

  constructor(stock: SegmentStock, share: string) {
    this.#stock = stock
    this.#share = share
  }

  /** Appends a piece. If there is no memory for it, releases all segments and throws `OVERLOADED`. */
  append(piece: Uint8Array): void {
    try {
      for (let from = 0; from < piece.length;) {
        const at = this.#bytes % SEGMENT_BYTES
        if (at === 0) this.segments.push(this.#stock.take(this.#share))
        const part = piece.subarray(from, from + SEGMENT_BYTES - at)
        // `fill` is used because `set` would copy into shared memory word by word.
        Buffer.from(this.segments.at(-1)!, at, part.length).fill(part)
        from += part.length
        this.#bytes += part.length
      }
    } catch (error) {
      this.release()
      throw error
    }
  }

  /** Releases all segments. Repeated calls have no effect. */
  release(): void {
    this.#bytes = 0
    this.#stock.giveBack(this.#share, this.segments.splice(0))
  }
}

function tooManyBodies(): AuthzError {
  const message = 'too many large bodies are being received or read; try again shortly'
  return new AuthzError('OVERLOADED', message, { limit: 'pool' })
}

/**
 * Copies the bytes from the segments into one buffer: into `whole` if it is given, otherwise into a new
 * buffer.
 */
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
