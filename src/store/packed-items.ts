/**
 * Many short byte strings in few large buffers outside the JavaScript heap, and their order by a key in them: 12 bytes an item
 * beside its own, 12 more while they are being ordered.
 */
import { decodeUint48 } from './row-codec.ts'

const CHUNK_BYTES = 16 * 1024 * 1024
const PREFIX_BYTES = 6

export class PackedItems {
  readonly #chunks: Buffer[] = []
  #chunkUsed = CHUNK_BYTES
  #count = 0
  /** Where each item begins, as chunk and offset in one number, and its length. */
  #places = new Float64Array(1_024)
  #lengths = new Uint32Array(1_024)

  get count(): number {
    return this.#count
  }

  add(bytes: Uint8Array): void {
    if (this.#count === this.#places.length) this.#grow()
    this.#places[this.#count] = this.#keep(bytes)
    this.#lengths[this.#count] = bytes.length
    this.#count += 1
  }

  /** On the memory kept here. */
  at(index: number): Uint8Array {
    const place = this.#places[index]!
    const start = place % CHUNK_BYTES
    return this.#chunks[Math.floor(place / CHUNK_BYTES)]!.subarray(start, start + this.#lengths[index]!)
  }

  /** The items' indices in the order of their keys, those with one key as they came. O(n log n), mostly over numbers. */
  order(keyOf: (item: Uint8Array) => Uint8Array): Uint32Array {
    const order = new Uint32Array(this.#count)
    // The first bytes of a key nearly always decide.
    const prefixes = new Float64Array(this.#count)
    const padded = Buffer.alloc(PREFIX_BYTES)
    for (let index = 0; index < this.#count; index += 1) {
      padded.fill(0).set(keyOf(this.at(index)).subarray(0, PREFIX_BYTES))
      prefixes[index] = decodeUint48(padded)
      order[index] = index
    }
    return order.toSorted(
      (one, other) =>
        prefixes[one]! - prefixes[other]! ||
        Buffer.compare(keyOf(this.at(one)), keyOf(this.at(other))) ||
        one - other,
    )
  }

  #keep(bytes: Uint8Array): number {
    if (this.#chunkUsed + bytes.length > CHUNK_BYTES) {
      // One that is too long for a chunk has a longer one to itself.
      this.#chunks.push(Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, bytes.length)))
      this.#chunkUsed = 0
    }
    const start = this.#chunkUsed
    this.#chunks.at(-1)!.set(bytes, start)
    this.#chunkUsed = Math.min(CHUNK_BYTES, start + bytes.length)
    return (this.#chunks.length - 1) * CHUNK_BYTES + start
  }

  #grow(): void {
    const [places, lengths] = [this.#places, this.#lengths]
    this.#places = new Float64Array(places.length * 2)
    this.#places.set(places)
    this.#lengths = new Uint32Array(lengths.length * 2)
    this.#lengths.set(lengths)
  }
}
