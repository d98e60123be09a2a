/**
 * Bytes that are kept for readers of changes, each block once, however many readers need it. There is a limit for all of them, and half of
 * it for those of one environment. Beyond it a block goes that no reader needs any more, or else the oldest: the readers that still need
 * that one are the slowest.
 */

/** A block that is kept. */
export interface Held<Holder> {
  readonly owner: string
  readonly bytes: number
  /** The readers that need it. */
  readonly holders: Set<Holder>
  /** Called once, when it is not kept any more. */
  readonly whenDropped: () => void
}

interface Owned<Holder> {
  bytes: number
  /** The oldest first. */
  readonly blocks: Set<Held<Holder>>
}

export class HeldBytes<Holder> {
  readonly #bytesMax: number
  readonly #onSlow: (holder: Holder) => void
  readonly #owners = new Map<string, Owned<Holder>>()
  #bytes = 0

  /** `onSlow` ends a reader that needs a block which goes; it has let go of the block by then. */
  constructor(bytesMax: number, onSlow: (holder: Holder) => void) {
    this.#bytesMax = bytesMax
    this.#onSlow = onSlow
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Keeps a block of that environment. It may take the place of older ones, and is kept in any case. */
  add(owner: string, bytes: number, whenDropped: () => void): Held<Holder> {
    const held: Held<Holder> = { owner, bytes, holders: new Set(), whenDropped }
    const owned = this.#owners.get(owner) ?? { bytes: 0, blocks: new Set() }
    this.#owners.set(owner, owned)
    owned.blocks.add(held)
    owned.bytes += bytes
    this.#bytes += bytes
    while (owned.bytes > this.#bytesMax / 2 && this.#dropOldest(owned, held));
    while (this.#bytes > this.#bytesMax && this.#dropOldest(this.#largest(), held));
    return held
  }

  /** Keeps the block no more. Safe to repeat. */
  drop(held: Held<Holder>): void {
    const owned = this.#owners.get(held.owner)
    if (!owned?.blocks.delete(held)) return
    owned.bytes -= held.bytes
    this.#bytes -= held.bytes
    if (owned.blocks.size === 0) this.#owners.delete(held.owner)
    held.whenDropped()
  }

  /**
   * Returns whether one was dropped: the oldest that no reader needs, or the oldest of all. Not the newest, whose readers have had no time
   * to take it. O(blocks of the environment).
   */
  #dropOldest({ blocks }: Owned<Holder>, newest: Held<Holder>): boolean {
    let oldest: Held<Holder> | null = null
    for (const block of blocks) {
      if (block === newest) continue
      oldest ??= block
      if (block.holders.size > 0) continue
      oldest = block
      break
    }
    if (oldest === null) return false
    const slow = [...oldest.holders]
    oldest.holders.clear()
    this.drop(oldest)
    for (const holder of slow) this.#onSlow(holder)
    return true
  }

  /** O(environments with blocks), and only at the limit of all. */
  #largest(): Owned<Holder> {
    let largest: Owned<Holder> = { bytes: -1, blocks: new Set() }
    for (const owned of this.#owners.values()) if (owned.bytes > largest.bytes) largest = owned
    return largest
  }
}
