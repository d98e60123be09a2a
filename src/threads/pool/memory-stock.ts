/**
 * A stock of shared memory that is used again. Fresh memory costs about a millisecond a MiB when it is first touched. And
 * V8 does not count shared memory, so dropped memory would wait for a collection that nothing causes. So none is ever
 * dropped: the stock is as large as what was once in use together. Sizes are powers of two, so that what one bulk gave back
 * fits the next.
 */

const BYTES_MIN = 256 * 1_024

export class MemoryStock {
  readonly #kept: SharedArrayBuffer[] = []

  /**
   * Returns memory of at least so many bytes, with any content. Takes the memory of that size that was given back last,
   * most of which is still in the caches; else the smallest that is larger.
   */
  take(bytes: number): SharedArrayBuffer {
    const size = Math.max(BYTES_MIN, 2 ** Math.ceil(Math.log2(bytes)))
    const place = this.#kept.findLastIndex(({ byteLength }) => byteLength === size)
    return place >= 0
      ? this.#kept.splice(place, 1)[0]!
      : (this.#takeLarger(size) ?? new SharedArrayBuffer(size))
  }

  /** Takes back memory that is not used any more. */
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
