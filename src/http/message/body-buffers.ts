/** Pool of reusable memory for bodies. */

// Imported because V8 looks up a global at each use, which would cost time in every request.
import { Buffer } from 'node:buffer'

/**
 * Maximum number of bytes that are kept for later bodies. Further buffers are left to the garbage collector.
 */
const KEPT_BYTES_MAX = 32 * 1_024 * 1_024

/**
 * Reusable buffers for the bodies of requests and responses. Allocating a megabyte for every large bulk would
 * trigger the garbage collector, which then examines the whole heap.
 */
export class BodyBuffers {
  readonly #kept: Buffer[] = []
  #keptBytes = 0

  /**
   * Returns a buffer of at least `bytes` bytes with arbitrary content. If a kept buffer has at least `wished`
   * bytes, it is preferred. The buffer that was returned last is used first, because most of it is still in
   * the CPU caches. O(kept buffers).
   */
  take(bytes: number, wished = bytes): Buffer {
    let place = this.#kept.findLastIndex(({ length }) => length >= wished)
    if (place < 0) place = this.#kept.findLastIndex(({ length }) => length >= bytes)
    if (place < 0) return Buffer.allocUnsafeSlow(bytes)
    const [buffer] = this.#kept.splice(place, 1)
    this.#keptBytes -= buffer!.length
    return buffer!
  }

  /** Returns a buffer to the pool. The caller must not use it afterwards. */
  giveBack(buffer: Buffer): void {
    if (buffer.length === 0 || this.#keptBytes + buffer.length > KEPT_BYTES_MAX) return
    this.#kept.push(buffer)
    this.#keptBytes += buffer.length
  }
}
