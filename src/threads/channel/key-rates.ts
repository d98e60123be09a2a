/**
 * Keeps each key to so many requests a second, in all threads of the process together: one shared cell a key, which holds
 * the second and how many requests came in it. With a new second counting begins anew, so that across the border of two of
 * them twice as many may pass. What is refused is not counted.
 */
import { API_KEYS_MAX } from '#model/limits.ts'
import type { Principal } from '#model/principal.ts'

/** To be posted as it is. */
export type KeyRatesHandle = Int32Array

/** Where the requests with a key are counted. */
interface KeySlot {
  readonly principal: Principal
  readonly slot: number
}

/** One for each key there may be, and one for that of the settings. */
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
    // Its credential was replaced on the way; the next request will not get here.
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
