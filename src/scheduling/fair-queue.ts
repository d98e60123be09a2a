/**
 * A queue whose items belong to several shares. The shares are served round-robin, so a share with many items
 * does not delay the others. `scheduling/fair-scheduler.ts` schedules the time slices of the main
 * thread in a similar way.
 */
export class FairQueue<Item extends object> {
  /** Items of each share, in the order in which the shares are served. No list is empty. */
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
   * Removes the oldest item of the first share for which `hasQuota` returns true, and moves that share to the
   * end. Returns null if there is no such share. O(shares).
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

  /** Removes and returns the matching items of all shares. O(items). */
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
