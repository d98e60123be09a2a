/** Pool of reusable memory for bodies. */

// This import avoids a lookup: V8 looks up the global `Buffer` at each use, which would cost time in every
// request.
import { Buffer } from 'node:buffer'

/** Maximum size in bytes of all buffers in the pool. Buffers beyond it are left to the garbage collector. */
const KEPT_BYTES_MAX = 32 * 1_024 * 1_024

/**
 * Reusable buffers for the bodies of requests and responses. If a megabyte were allocated for every large
 * bulk, the garbage collector would run more often, and each run examines the whole heap.
 */
export class BodyBuffers {
  readonly #kept: Buffer[] = []
  #keptBytes = 0

  /**
   * Returns a buffer of at least `bytes` bytes, whose content is undefined. If the pool contains a buffer of
   * at least `wished` bytes, that buffer is returned. The search begins with the buffer that was given back
   * last, because most of it is still in the CPU caches. O(buffers in the pool).
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
