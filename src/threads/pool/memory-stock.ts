/**
 * Shared memory that is used again: fresh memory costs about a millisecond a MiB when it is touched first, and V8 does not count
 * it, so that what was dropped would wait for a collection that nothing brings about. None is ever dropped: there is as much as was
 * in use at once. Sizes are powers of two, so that what one bulk gave back fits the next.
 */

const BYTES_MIN = 256 * 1_024

export class MemoryStock {
  readonly #kept: SharedArrayBuffer[] = []

  /**
   * At least so many bytes, with anything in them: those given back last, most of which still lie in the caches; of none of that size
   * the smallest that is larger.
   */
  take(bytes: number): SharedArrayBuffer {
    const size = Math.max(BYTES_MIN, 2 ** Math.ceil(Math.log2(bytes)))
    const place = this.#kept.findLastIndex(({ byteLength }) => byteLength === size)
    return place >= 0
      ? this.#kept.splice(place, 1)[0]!
      : (this.#takeLarger(size) ?? new SharedArrayBuffer(size))
  }

  /** The memory is not used any more. */
  giveBack(memory: SharedArrayBuffer): void {
    this.#kept.push(memory)
  }

  #takeLarger(size: number): SharedArrayBuffer | null {
    let place = -1
    for (const [index, { byteLength }] of this.#kept.entries()) {
      if (byteLength > size && (place < 0 || byteLength < this.#kept[place]!.byteLength)) place = index
    }
    return place < 0 ? null : this.#kept.splice(place, 1)[0]!
  }
}
