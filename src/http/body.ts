/**
 * Collects the body of one request from the pieces in which it arrives, up to a ceiling in bytes.
 *
 * The pieces go into one buffer that doubles, or takes what was announced where that is not far: a list of pieces would
 * let a caller who sends single bytes hold two hundred times what they sent. A buffer at hand that holds all that was
 * announced is taken at once: there are few, and others then do without. A body that comes whole, as nearly all do, is not
 * collected: nobody copies it.
 * A body nobody will read (the request is already refused) is counted, not kept.
 */

// The global of that name is looked up anew each time, which every request would pay for.
import { Buffer } from 'node:buffer'
import { assert } from '#model/assert.ts'

const NOTHING = Buffer.alloc(0)

/** The body of a request without one, or of one that nobody reads. */
export const EMPTY_BODY: DataView = viewOf(NOTHING)

/** Smallest buffer to collect into; the usual second piece still fits. */
const COLLECT_BYTES_MIN = 4_096
/** So much of what was announced is believed for each byte that came: a large bulk comes in a few pieces and is copied once. */
const BELIEVED_FACTOR = 4
/** Kept for the next bodies; more is left to the garbage collector. */
const KEPT_BYTES_MAX = 32 * 1_024 * 1_024

/**
 * Buffers that are used again. A fresh megabyte for every large bulk is memory that the garbage collector is called for, and
 * it looks at the whole heap then.
 */
export class BodyBuffers {
  readonly #kept: Buffer[] = []
  #keptBytes = 0

  /**
   * One that holds at least so many bytes, whatever is in it; if there is one at hand that holds `wished`, that one,
   * which costs nothing. Of those that will do the one given back last, since most of it still lies in the caches.
   */
  take(bytes: number, wished = bytes): Buffer {
    let place = this.#kept.findLastIndex(({ length }) => length >= wished)
    if (place < 0) place = this.#kept.findLastIndex(({ length }) => length >= bytes)
    if (place < 0) return Buffer.allocUnsafeSlow(bytes)
    const [buffer] = this.#kept.splice(place, 1)
    this.#keptBytes -= buffer!.length
    return buffer!
  }

  /** Nobody reads it any more. */
  giveBack(buffer: Buffer): void {
    if (buffer.length === 0 || this.#keptBytes + buffer.length > KEPT_BYTES_MAX) return
    this.#kept.push(buffer)
    this.#keptBytes += buffer.length
  }
}

/** A body as it is handed on: the cheapest object over its bytes. Whoever wants bytes makes them (`bytesOf`). */
export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}

/** The same bytes; nothing is copied. */
export function bytesOf({ buffer, byteOffset, byteLength }: DataView): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

/** A whole body in memory that is nobody else's: it may go to another thread, and comes back from there. */
export class OwnBody {
  readonly bytes: number
  readonly #buffers: BodyBuffers
  /** Null while it is elsewhere, and when nobody needs it any more. */
  #memory: Buffer | null

  constructor(memory: Buffer, bytes: number, buffers: BodyBuffers) {
    this.#memory = memory
    this.bytes = bytes
    this.#buffers = buffers
  }

  /** Of one that is here. */
  get view(): DataView {
    assert(this.#memory !== null, 'a body is read where it is')
    return viewOf(this.#memory.subarray(0, this.bytes))
  }

  /** Its memory, with the body at the beginning, to be transferred. */
  leave(): ArrayBuffer {
    assert(this.#memory !== null, 'a body leaves from where it is')
    const { buffer } = this.#memory
    this.#memory = null
    return buffer as ArrayBuffer
  }

  comeBack(memory: ArrayBuffer): void {
    this.#memory = Buffer.from(memory)
  }

  /** Nobody needs it any more: its memory is for the next one. Of one that did not come back, there is none. */
  release(): void {
    const memory = this.#memory
    this.#memory = null
    if (memory !== null) this.#buffers.giveBack(memory)
  }
}

export class BodyCollector {
  readonly #bytesMax: number
  readonly #isKept: boolean
  readonly #buffers: BodyBuffers
  readonly #announcedBytes: number
  #kept: Buffer = NOTHING
  #bytes = 0

  /** `announcedBytes`: what the caller says that the body has; 0 where nothing is said. */
  constructor(options: { bytesMax: number; announcedBytes: number; isKept: boolean; buffers: BodyBuffers }) {
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
   * Takes the next piece. Returns the whole body with the last piece, `null` until then. It is good until `release`.
   */
  take(piece: ArrayBuffer, isLast: boolean): DataView | null {
    const start = this.#bytes
    this.#bytes += piece.byteLength
    if (this.isTooLarge) this.release()
    if (this.isTooLarge || !this.#isKept) return isLast ? EMPTY_BODY : null
    if (this.#bytes > this.#kept.length) this.#grow()
    this.#kept.set(new Uint8Array(piece), start)
    return isLast ? viewOf(this.#kept.subarray(0, this.#bytes)) : null
  }

  /** The whole body, with the memory it is in. */
  own(): OwnBody {
    const own = new OwnBody(this.#kept, this.#bytes, this.#buffers)
    this.#kept = NOTHING
    return own
  }

  /** The body was read: its memory is for the next one. */
  release(): void {
    const kept = this.#kept
    this.#kept = NOTHING
    this.#buffers.giveBack(kept)
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
