/**
 * Limits each key to a number of requests a second, in all threads of the process together. Each key has one shared cell
 * with the present second and the number of its requests in it. Counting starts anew with each second, so across the border
 * of two seconds twice as many may pass. Refused requests are not counted.
 */
import { API_KEYS_MAX } from '#model/limits.ts'
import type { Principal } from '#model/principal.ts'

/** Can be posted to a thread as it is. */
export type KeyRatesHandle = Int32Array

/** Where the requests of a key are counted. */
interface KeySlot {
  readonly principal: Principal
  readonly slot: number
}

/** One slot for each possible key, and one for the organization's key of the settings. */
const SLOT_COUNT = API_KEYS_MAX + 1
/** A cell: 12 bits of the second, 20 bits of the count. */
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

  /** `perSecondMax` is at most 1,000,000; `now` gives milliseconds since 1970. */
  constructor(handle: KeyRatesHandle, perSecondMax: number, now: () => number) {
    this.#cells = handle
    this.#perSecondMax = perSecondMax
    this.#now = now
  }

  replaceAll(keys: readonly KeySlot[]): void {
    this.#slots = new Map(keys.map(({ principal, slot }) => [principal.keyId, slot]))
  }

  /** Whether the key may be used once more in this second. */
  readonly take = (keyId: string | null): boolean => {
    const slot = this.#slots.get(keyId)
    // The credential was replaced since it was checked. The next request with it will be refused earlier.
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
