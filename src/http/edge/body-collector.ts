/**
 * Collects the body of one request from the pieces in which it arrives, up to a ceiling in bytes.
 *
 * The pieces go into one buffer that doubles, or takes what was announced where that is not far: a list of pieces would
 * let a caller who sends single bytes hold two hundred times what they sent. A buffer at hand that holds all that was
 * announced is taken at once: there are few, and others then do without. A body that comes whole, as nearly all do, is not
 * collected, and not copied.
 * A body that will not be read (the request is already refused) is counted, not kept.
 */

// Imported, since the global of that name is looked up anew at each use, and every request would pay for that.
import { Buffer } from 'node:buffer'
import type { BodyBuffers } from '#http/message/body-buffers.ts'
import { viewOf } from '#http/message/byte-views.ts'
import type { WholeBody } from '#http/routing/large-bodies.ts'
import { joined, SEGMENT_BYTES, SegmentedBytes, type SegmentStock } from './body-segments.ts'

const NOTHING = Buffer.alloc(0)

/** Smallest buffer to collect into; the usual second piece still fits. */
const COLLECT_BYTES_MIN = 4_096
/** How many announced bytes are believed for each byte that came: a large bulk comes in a few pieces and is copied once. */
const BELIEVED_FACTOR = 4
/** A whole body in memory of its own, for as long as that is not released. */
export class OwnBody implements WholeBody {
  readonly bytes: number
  readonly #segmented: SegmentedBytes
  readonly #buffers: BodyBuffers
  /** Null: the body is in segments. */
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

/** The shared memory in which long bodies are collected. */
export interface SegmentsOfBody {
  readonly stock: SegmentStock
  /** The share, of those that use the stock, to which the segments count. */
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

  /** `announcedBytes` is the length that the caller has announced; 0: none. */
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

  /** Bytes that have come, kept or not. */
  get bytes(): number {
    return this.#bytes
  }

  /** Whether more has come than the ceiling allows; nothing is kept from then on. */
  get isTooLarge(): boolean {
    return this.#bytes > this.#bytesMax
  }

  /**
   * Takes the next piece. Throws `OVERLOADED` when there is no room for a body as long.
   */
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

  /** The whole body, with the memory it is in. It has no bytes if the body was not kept. */
  own(): OwnBody {
    const buffer = this.#segmented === null ? this.#kept : null
    const segmented = this.#segmented ?? this.#newSegmented()
    this.#kept = NOTHING
    this.#segmented = null
    return new OwnBody(this.#isKept ? this.#bytes : 0, { segmented, buffer, buffers: this.#buffers })
  }

  /** The body will not be read: the rest of it is counted and not kept. */
  discard(): void {
    this.#isKept = false
    this.release()
  }

  /** The body was read, or will not be: its memory is free for the next one. */
  release(): void {
    const kept = this.#kept
    this.#kept = NOTHING
    this.#buffers.giveBack(kept)
    this.#segmented?.release()
    this.#segmented = null
  }

  /** Whether the body is or will be longer than that. The announced length counts once enough has come for a segment. */
  #isLong(from: number): boolean {
    if (this.#bytes > from) return true
    return this.#announcedBytes > from && BELIEVED_FACTOR * this.#bytes >= SEGMENT_BYTES
  }

  /** The bytes that have come, moved into segments in which the rest is collected. */
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
