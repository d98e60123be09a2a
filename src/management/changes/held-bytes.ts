/**
 * Limits the memory of blocks that are cached for change-stream readers. Each block is stored once, however
 * many readers need it. The limit applies to all blocks, and half of it to the blocks of one environment.
 * Over the limit, a block that no reader needs is dropped. If there is none, the oldest block is dropped,
 * because its readers are the slowest.
 */

/** A cached block. */
export interface Held<Holder> {
  readonly owner: string
  readonly bytes: number
  /** Readers that need it. */
  readonly holders: Set<Holder>
  /** Called once, when the block is dropped. */
  readonly whenDropped: () => void
}

interface Owned<Holder> {
  bytes: number
  /** Blocks of the environment, oldest first. */
  readonly blocks: Set<Held<Holder>>
}

export class HeldBytes<Holder> {
  readonly #bytesMax: number
  readonly #onSlow: (holder: Holder) => void
  readonly #owners = new Map<string, Owned<Holder>>()
  #bytes = 0

  /**
   * `onSlow` disconnects a reader whose block was dropped. At that time, the reader is no longer a holder of
   * the block.
   */
  constructor(bytesMax: number, onSlow: (holder: Holder) => void) {
    this.#bytesMax = bytesMax
    this.#onSlow = onSlow
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Caches a block of that environment. Older blocks may be dropped for it; the new block is always kept. */
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

  /** Drops the block. Idempotent. */
  drop(held: Held<Holder>): void {
    const owned = this.#owners.get(held.owner)
    if (!owned?.blocks.delete(held)) return
    owned.bytes -= held.bytes
    this.#bytes -= held.bytes
    if (owned.blocks.size === 0) this.#owners.delete(held.owner)
    held.whenDropped()
  }

  /**
   * Drops the oldest block that no reader needs, or the oldest of all. Returns whether a block was dropped.
   * Never drops the newest, whose readers had no time to read it. O(blocks of the environment).
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

  /**
   * The environment with the most bytes of blocks. O(environments with blocks); called only if the limit of
   * all blocks is exceeded.
   */
  #largest(): Owned<Holder> {
    let largest: Owned<Holder> = { bytes: -1, blocks: new Set() }
    for (const owned of this.#owners.values()) if (owned.bytes > largest.bytes) largest = owned
    return largest
  }
}
