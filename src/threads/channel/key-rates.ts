/**
 * Limits the requests per second of each key, across all threads of the process. Each key has one shared cell
 * that contains the current second and the number of requests in it. Counting restarts with each second, so
 * up to twice the limit can pass around the boundary of two seconds. Rejected requests are not counted.
 */
import { API_KEYS_MAX, OWNER_SESSIONS_RESERVE, SESSIONS_MAX } from '#model/limits.ts'
import type { Principal } from '#model/principal.ts'

/** Can be posted to a thread without conversion. */
export type KeyRatesHandle = Int32Array

/** Location of the counter of a key. */
interface KeySlot {
  readonly principal: Principal
  readonly slot: number
}

/** One slot for each possible key, and one for the configured key of the organization. */
const KEY_SLOTS = API_KEYS_MAX + 1
/** One slot for each member that can have a session. */
const MEMBER_SLOTS = SESSIONS_MAX + OWNER_SESSIONS_RESERVE
/** Layout of a cell: 12 bits for the second, 20 bits for the count. */
const COUNT_BITS = 20
const COUNT_MASK = (1 << COUNT_BITS) - 1
const SECOND_MASK = 0xfff

/**
 * `hasSessions`: whether members can sign in. Each member with a session then has a slot after those of the
 * keys.
 */
export function createKeyRates({
  hasSessions = false,
}: { readonly hasSessions?: boolean } = {}): KeyRatesHandle {
  const count = KEY_SLOTS + (hasSessions ? MEMBER_SLOTS : 0)
  return new Int32Array(new SharedArrayBuffer(count * Int32Array.BYTES_PER_ELEMENT))
}

export class KeyRates {
  readonly #cells: Int32Array
  readonly #perSecondMax: number
  readonly #now: () => number
  readonly #slotOfMember: (memberId: string) => number | undefined
  #slots = new Map<string | null, number>()

  /**
   * `perSecondMax` is at most 1,000,000; `now` returns milliseconds since 1970. `slotOfMember` returns the
   * slot of a member with a session, among those of the members.
   */
  constructor(
    handle: KeyRatesHandle,
    perSecondMax: number,
    now: () => number,
    slotOfMember: (memberId: string) => number | undefined = () => undefined,
  ) {
    this.#slotOfMember = slotOfMember
    this.#cells = handle
    this.#perSecondMax = perSecondMax
    this.#now = now
  }

  replaceAll(keys: readonly KeySlot[]): void {
    this.#slots = new Map(keys.map(({ principal, slot }) => [principal.keyId, slot]))
  }

  /** Whether the key or the member can be used once more in this second. Counts the use if it can. */
  readonly take = (quotaId: string | null): boolean => {
    const slot = this.#slots.get(quotaId) ?? this.#memberSlot(quotaId)
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

  #memberSlot(memberId: string | null): number | undefined {
    const slot = memberId === null ? undefined : this.#slotOfMember(memberId)
    return slot === undefined ? undefined : KEY_SLOTS + slot
  }
}
