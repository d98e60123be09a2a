/** A stock of memory for bodies, which is used again. */

// Imported, since the global of that name is looked up anew at each use, and every request would pay for that.
import { Buffer } from 'node:buffer'

/** Bytes kept for the next bodies. Buffers beyond that are left to the garbage collector. */
const KEPT_BYTES_MAX = 32 * 1_024 * 1_024

/**
 * Buffers for the bodies of requests and answers, used again. A fresh megabyte for every large bulk is memory that the garbage collector is called for, and
 * it looks at the whole heap then.
 */
export class BodyBuffers {
  readonly #kept: Buffer[] = []
  #keptBytes = 0

  /**
   * A buffer of at least `bytes` bytes with any content; one of at least `wished` bytes if such a buffer is kept, which costs
   * nothing. Of several the one given back last, since most of it is still in the caches. O(kept buffers).
   */
  take(bytes: number, wished = bytes): Buffer {
    let place = this.#kept.findLastIndex(({ length }) => length >= wished)
    if (place < 0) place = this.#kept.findLastIndex(({ length }) => length >= bytes)
    if (place < 0) return Buffer.allocUnsafeSlow(bytes)
    const [buffer] = this.#kept.splice(place, 1)
    this.#keptBytes -= buffer!.length
    return buffer!
  }

  /** The buffer is not read any more. */
  giveBack(buffer: Buffer): void {
    if (buffer.length === 0 || this.#keptBytes + buffer.length > KEPT_BYTES_MAX) return
    this.#kept.push(buffer)
    this.#keptBytes += buffer.length
  }
}
