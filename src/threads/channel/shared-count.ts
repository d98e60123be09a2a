/**
 * Counters that all threads of the process share, each in a shared cell: open or in-flight work, and the
 * number of accepted connections.
 */

/** Index of the cell of each counter. */
const CELLS = { connections: 0, management: 1, accepted: 2 } as const

/** Can be posted to a thread without conversion. */
export type SharedCountsHandle = Int32Array

export function createSharedCounts(): SharedCountsHandle {
  return new Int32Array(new SharedArrayBuffer(Object.keys(CELLS).length * Int32Array.BYTES_PER_ELEMENT))
}

export class SharedCount {
  readonly #cells: Int32Array
  readonly #index: number

  constructor(handle: SharedCountsHandle, name: keyof typeof CELLS) {
    this.#cells = handle
    this.#index = CELLS[name]
  }

  get value(): number {
    return Atomics.load(this.#cells, this.#index)
  }

  /**
   * Adds the change and returns the sum. Atomic: if several threads compete for the last slot, one of them
   * gets it.
   */
  add(change: 1 | -1): number {
    return Atomics.add(this.#cells, this.#index, change) + change
  }
}
