/**
 * Collects the body of one request from the pieces in which it arrives, up to a limit in bytes.
 *
 * The pieces are copied into one buffer, which doubles as needed. When a sufficient part of the body has
 * arrived, the buffer grows to the length that the client announced. A list of pieces is not used: if a
 * client sent single bytes, the list would occupy two hundred times the memory of the body. If the pool
 * contains a buffer of the announced length, the collector uses it immediately, because the number of pooled
 * buffers is limited.
 *
 * Nearly all bodies arrive in one piece. They are neither collected nor copied. If the request is already
 * rejected, its body is counted but not kept.
 */

// This import avoids a lookup: V8 looks up the global `Buffer` at each use, which would cost time in every
// request.
import { Buffer } from 'node:buffer'
import type { BodyBuffers } from '#http/message/body-buffers.ts'
import { viewOf } from '#http/message/byte-views.ts'
import type { WholeBody } from '#http/routing/large-bodies.ts'
import { joined, SEGMENT_BYTES, SegmentedBytes, type SegmentStock } from './body-segments.ts'

const NOTHING = Buffer.alloc(0)

/** Minimum size of a buffer. It is large enough for the second piece of a typical body. */
const COLLECT_BYTES_MIN = 4_096
/**
 * The buffer grows to the announced length only up to this multiple of the received bytes, because a client
 * can announce more than it sends. A large bulk arrives in a few pieces and is therefore copied only once.
 */
const BELIEVED_FACTOR = 4
/** A complete body in memory that it owns until it is released. */
export class OwnBody implements WholeBody {
  readonly bytes: number
  readonly #segmented: SegmentedBytes
  readonly #buffers: BodyBuffers
  /** The buffer that contains the body. Null if the body is stored in segments. */
  #memory: Buffer | null

  constructor(
    bytes: number,
    memory: {
      readonly segmented: SegmentedBytes
      readonly buffer: Buffer | null
      readonly buffers: BodyBuffers
    },
  ) {
    this.bytes = bytes
    this.#segmented = memory.segmented
    this.#memory = memory.buffer
    this.#buffers = memory.buffers
  }

  get view(): DataView {
    this.#memory ??= joined(this.#segmented.segments, this.bytes, this.#buffers.take(this.bytes))
    return viewOf(this.#memory.subarray(0, this.bytes))
  }

  get segments(): readonly SharedArrayBuffer[] {
    const { segments } = this.#segmented
    if (segments.length === 0 && this.#memory !== null) {
      this.#segmented.append(this.#memory.subarray(0, this.bytes))
    }
    return segments
  }

  release(): void {
    const memory = this.#memory
    this.#memory = null
    if (memory !== null) this.#buffers.giveBack(memory)
    this.#segmented.release()
  }
}

/** Settings for collecting long bodies in shared memory. */
export interface SegmentsOfBody {
  readonly stock: SegmentStock
  /** Name of the quota, usually an environment, to which the segments of this body are charged. */
  readonly share: string
  /** A body with more bytes than this is collected in segments. */
  readonly from: number
}

export class BodyCollector {
  readonly #bytesMax: number
  #isKept: boolean
  readonly #buffers: BodyBuffers
  readonly #announcedBytes: number
  readonly #segments: SegmentsOfBody
  #kept: Buffer = NOTHING
  #segmented: SegmentedBytes | null = null
  #bytes = 0

  /** `announcedBytes`: content length that the client announced; 0 if it announced none. */
  constructor(options: {
    bytesMax: number
    announcedBytes: number
    isKept: boolean
    buffers: BodyBuffers
    segments: SegmentsOfBody
  }) {
    this.#segments = options.segments
    this.#bytesMax = options.bytesMax
    this.#announcedBytes = options.announcedBytes
    this.#isKept = options.isKept
    this.#buffers = options.buffers
  }

  /** Number of received bytes, including bytes that were not kept. */
  get bytes(): number {
    return this.#bytes
  }

  /** Whether the body exceeds the limit. The bytes of such a body are not kept. */
  get isTooLarge(): boolean {
    return this.#bytes > this.#bytesMax
  }

  /** Takes the next piece. Throws `OVERLOADED` if there is no memory for a body of this length. */
  take(piece: ArrayBuffer): void {
    const start = this.#bytes
    this.#bytes += piece.byteLength
    if (this.isTooLarge) this.release()
    if (this.isTooLarge || !this.#isKept) return
    if (this.#segmented === null && this.#isLong(this.#segments.from)) {
      this.#segmented = this.#inSegments(start)
    }
    if (this.#segmented !== null) {
      this.#segmented.append(new Uint8Array(piece))
      return
    }
    if (this.#bytes > this.#kept.length) this.#grow()
    this.#kept.set(new Uint8Array(piece), start)
  }

  /**
   * Returns the complete body together with its memory. The returned body is empty if the bytes were not
   * kept.
   */
  own(): OwnBody {
    const buffer = this.#segmented === null ? this.#kept : null
    const segmented = this.#segmented ?? this.#newSegmented()
    this.#kept = NOTHING
    this.#segmented = null
    return new OwnBody(this.#isKept ? this.#bytes : 0, { segmented, buffer, buffers: this.#buffers })
  }

  /** Counts the rest of the body without keeping it, because the body will not be read. */
  discard(): void {
    this.#isKept = false
    this.release()
  }

  /** Releases the memory of the body, because it was read or will not be read. */
  release(): void {
    const kept = this.#kept
    this.#kept = NOTHING
    this.#buffers.giveBack(kept)
    this.#segmented?.release()
    this.#segmented = null
  }

  /**
   * Whether the body is longer than `from`, by its received bytes or by its announced length. The announced
   * length is considered only after a quarter of a segment has arrived.
   */
  #isLong(from: number): boolean {
    if (this.#bytes > from) return true
    return this.#announcedBytes > from && BELIEVED_FACTOR * this.#bytes >= SEGMENT_BYTES
  }

  /** Moves the received bytes into segments. The rest of the body is then also collected in segments. */
  #inSegments(bytes: number): SegmentedBytes {
    const segmented = this.#newSegmented()
    segmented.append(this.#kept.subarray(0, bytes))
    this.#buffers.giveBack(this.#kept)
    this.#kept = NOTHING
    return segmented
  }

  #newSegmented(): SegmentedBytes {
    const { stock, share } = this.#segments
    return new SegmentedBytes(stock, share)
  }

  #grow(): void {
    const believed = Math.min(this.#announcedBytes, BELIEVED_FACTOR * this.#bytes)
    const capacity = Math.max(COLLECT_BYTES_MIN, this.#bytes, 2 * this.#kept.length, believed)
    const wished = Math.max(capacity, this.#announcedBytes)
    const larger = this.#buffers.take(Math.min(capacity, this.#bytesMax), Math.min(wished, this.#bytesMax))
    larger.set(this.#kept)
    this.#buffers.giveBack(this.#kept)
    this.#kept = larger
  }
}
