/**
 * A queue of items of several shares. The shares are served round-robin, however many items one of them has.
 * The time slices of the main thread are scheduled in `management/commands/fair-scheduler.ts`.
 */
export class FairQueue<Item extends object> {
  /** In the order in which the shares are served; no list is empty. */
  readonly #lines = new Map<string, Item[]>()

  get isEmpty(): boolean {
    return this.#lines.size === 0
  }

  hasWaiting(share: string): boolean {
    return this.#lines.has(share)
  }

  push(share: string, item: Item): void {
    const line = this.#lines.get(share)
    if (line === undefined) this.#lines.set(share, [item])
    else line.push(item)
  }

  /**
   * Removes the oldest item of the first eligible share and moves that share to the end. Null if no share is
   * eligible. O(shares).
   */
  take(hasQuota: (share: string) => boolean): Item | null {
    for (const [share, line] of this.#lines) {
      if (!hasQuota(share)) continue
      const item = line.shift()!
      this.#lines.delete(share)
      if (line.length > 0) this.#lines.set(share, line)
      return item
    }
    return null
  }

  /** Removes all items that match, of all shares. O(items). */
  takeAll(isMeant: (item: Item) => boolean): Item[] {
    const taken: Item[] = []
    for (const [share, line] of this.#lines) {
      const rest = line.filter(item => !isMeant(item))
      if (rest.length === line.length) continue
      taken.push(...line.filter(isMeant))
      if (rest.length === 0) this.#lines.delete(share)
      else this.#lines.set(share, rest)
    }
    return taken
  }
}
