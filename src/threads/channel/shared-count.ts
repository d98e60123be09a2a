/**
 * Numbers that all threads of the process keep together, each in a shared cell: what is open or under way right now, and
 * how many connections have been accepted.
 */

/** The cell of each count. */
const CELLS = { connections: 0, management: 1, accepted: 2 } as const

/** Can be posted to a thread as it is. */
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

  /** Adds, and returns the sum. Atomic: when several threads take the last place, one gets it. */
  add(change: 1 | -1): number {
    return Atomics.add(this.#cells, this.#index, change) + change
  }
}
