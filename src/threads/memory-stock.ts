/**
 * Shared memory that is used again: fresh memory costs about a millisecond a MiB when it is touched first. Sizes are
 * powers of two, so that what one bulk gave back fits the next.
 */

const BYTES_MIN = 256 * 1_024
/** Kept for the next bulks; more is left to the garbage collector. */
const KEPT_BYTES_MAX = 64 * 1_024 * 1_024

export class MemoryStock {
  readonly #kept: SharedArrayBuffer[] = []
  #keptBytes = 0

  /** At least so many bytes, with anything in them: those given back last, most of which still lie in the caches. */
  take(bytes: number): SharedArrayBuffer {
    const size = Math.max(BYTES_MIN, 2 ** Math.ceil(Math.log2(bytes)))
    const place = this.#kept.findLastIndex(({ byteLength }) => byteLength === size)
    if (place < 0) return new SharedArrayBuffer(size)
    this.#keptBytes -= size
    return this.#kept.splice(place, 1)[0]!
  }

  /** Nobody uses it any more. */
  giveBack(memory: SharedArrayBuffer): void {
    if (this.#keptBytes + memory.byteLength > KEPT_BYTES_MAX) return
    this.#kept.push(memory)
    this.#keptBytes += memory.byteLength
  }
}
