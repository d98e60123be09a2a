/**
 * Recycles shared memory. The first access to fresh memory costs about a millisecond per MiB. V8 does not
 * count shared memory, so unused memory would wait for a collection that it does not trigger. Therefore
 * memory is never freed: the stock is as large as the maximum that was in use at one time. Sizes are powers
 * of two, so that the memory of one bulk fits the next.
 */

const BYTES_MIN = 256 * 1_024

export class MemoryStock {
  readonly #kept: SharedArrayBuffer[] = []

  /**
   * Returns memory of at least `bytes` bytes, with arbitrary content. Prefers the memory of that size that
   * was returned last, because most of it is still in the CPU caches. Otherwise returns the smallest larger
   * one.
   */
  take(bytes: number): SharedArrayBuffer {
    const size = Math.max(BYTES_MIN, 2 ** Math.ceil(Math.log2(bytes)))
    const place = this.#kept.findLastIndex(({ byteLength }) => byteLength === size)
    return place >= 0
      ? this.#kept.splice(place, 1)[0]!
      : (this.#takeLarger(size) ?? new SharedArrayBuffer(size))
  }

  /** Takes back memory that is no longer used. */
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
