/**
 * Limits the requests per second of each key, across all threads of the process. Each key has one shared cell
 * that contains the current second and the number of requests in it. Counting restarts with each second, so
 * up to twice the limit can pass around the boundary of two seconds. Rejected requests are not counted.
 */
import { API_KEYS_MAX } from '#model/limits.ts'
import type { Principal } from '#model/principal.ts'

/** Can be posted to a thread without conversion. */
export type KeyRatesHandle = Int32Array

/** Location of the counter of a key. */
interface KeySlot {
  readonly principal: Principal
  readonly slot: number
}

/** One slot for each possible key, and one for the configured key of the organization. */
const SLOT_COUNT = API_KEYS_MAX + 1
/** Layout of a cell: 12 bits for the second, 20 bits for the count. */
const COUNT_BITS = 20
const COUNT_MASK = (1 << COUNT_BITS) - 1
const SECOND_MASK = 0xfff

export function createKeyRates(): KeyRatesHandle {
  return new Int32Array(new SharedArrayBuffer(SLOT_COUNT * Int32Array.BYTES_PER_ELEMENT))
}

export class KeyRates {
  readonly #cells: Int32Array
  readonly #perSecondMax: number
  readonly #now: () => number
  #slots = new Map<string | null, number>()

  /** `perSecondMax` is at most 1,000,000; `now` returns milliseconds since 1970. */
  constructor(handle: KeyRatesHandle, perSecondMax: number, now: () => number) {
    this.#cells = handle
    this.#perSecondMax = perSecondMax
    this.#now = now
  }

  replaceAll(keys: readonly KeySlot[]): void {
    this.#slots = new Map(keys.map(({ principal, slot }) => [principal.keyId, slot]))
  }

  /** Whether the key can be used once more in this second. Counts the use if it can. */
  readonly take = (keyId: string | null): boolean => {
    const slot = this.#slots.get(keyId)
    // The credential was replaced after authentication. The next request with it will already fail
    // authentication.
    if (slot === undefined) return true
    const second = Math.floor(this.#now() / 1_000) & SECOND_MASK
    for (;;) {
      const cell = Atomics.load(this.#cells, slot)
      const count = cell >>> COUNT_BITS === second ? cell & COUNT_MASK : 0
      if (count >= this.#perSecondMax) return false
      const next = (second << COUNT_BITS) | (count + 1)
      if (Atomics.compareExchange(this.#cells, slot, cell, next) === cell) return true
    }
  }
}
