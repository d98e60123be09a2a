/**
 * Shared memory for long bodies, in segments of one size. Nothing is copied to make room for more, and another thread reads
 * it in place.
 *
 * V8 does not count shared memory. Ordinary buffers of megabytes that come and go made it collect garbage a third of the
 * time, while dropped segments would never be collected. So none is ever dropped: there is a fixed number of them, and each
 * is used again.
 */
import { AuthzError } from '#model/errors.ts'

export const SEGMENT_BYTES = 1_024 * 1_024
/** There is room for this many bodies of the greatest length at once, being received or waiting for their answers. */
const LONGEST_BODIES = 8
/** At least so many segments, however small the ceiling of a body: a body that another thread is to read takes one or two. */
const SEGMENTS_MIN = 32
/** The part of all segments that bodies of one share, an environment, may take. */
const SHARE = 1 / 2

/** Bytes of long bodies that a thread has room for. `bodyBytesMax` is the ceiling of one body. */
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

  /** `bytesMax` is the ceiling of all segments together. */
  constructor(bytesMax: number) {
    this.#segmentsMax = Math.floor(bytesMax / SEGMENT_BYTES)
    this.#ofShareMax = Math.floor(SHARE * this.#segmentsMax)
  }

  /** Segments that exist, used or not. */
  get made(): number {
    return this.#made
  }

  /** A segment with any content. Throws `OVERLOADED` when there is none left, or the share has its part already. */
  take(share: string): SharedArrayBuffer {
    const ofShare = this.#takenBy.get(share) ?? 0
    if (ofShare >= this.#ofShareMax) throw tooManyBodies()
    const segment = this.#free.pop() ?? this.#make()
    this.#takenBy.set(share, ofShare + 1)
    return segment
  }

  /** The segments are not used any more; `share` is the one that they were taken for. */
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

/** Collects bytes that come piece by piece, in segments. */
export class SegmentedBytes {
  readonly segments: SharedArrayBuffer[] = []
  readonly #stock: SegmentStock
  readonly #share: string
  #bytes = 0

  constructor(stock: SegmentStock, share: string) {
    this.#stock = stock
    this.#share = share
  }

  /** Throws `OVERLOADED` where there is no room. The piece is not in it then. */
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

  /** Safe to repeat. */
  release(): void {
    this.#bytes = 0
    this.#stock.giveBack(this.#share, this.segments.splice(0))
  }
}

function tooManyBodies(): AuthzError {
  const message = 'too many large bodies are being received or read; try again shortly'
  return new AuthzError('OVERLOADED', message, { limit: 'pool' })
}

/** The bytes of segments as one buffer: a new one, or the one that is given. */
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
