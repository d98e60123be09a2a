/**
 * A queue whose items belong to several shares, usually environments. A share with many items does not delay
 * the others: with a time budget, the share that has used the least time is served first; shares that are
 * equal in this, and all shares without a budget, are served round-robin.
 */
import type { TimeBudget } from './time-budget.ts'

export class FairQueue<Item> {
  readonly #budget: TimeBudget | null
  /** Items of each share, in the order in which the shares are served. No list is empty. */
  readonly #lines = new Map<string, Item[]>()

  constructor(budget: TimeBudget | null = null) {
    this.#budget = budget
  }

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
   * Removes the oldest item of the next share for which `hasQuota` returns true, and moves that share to the
   * end. Returns null if there is no such share. O(shares).
   */
  take(hasQuota: (share: string) => boolean = () => true): Item | null {
    let next: string | null = null
    let leastMs = Infinity
    for (const share of this.#lines.keys()) {
      const usedMs = this.#budget?.totalMs(share) ?? 0
      if (usedMs >= leastMs || !hasQuota(share)) continue
      next = share
      leastMs = usedMs
      if (this.#budget === null) break
    }
    if (next === null) return null
    this.#budget?.serve(next)
    const line = this.#lines.get(next)!
    const item = line.shift()!
    this.#lines.delete(next)
    if (line.length > 0) this.#lines.set(next, line)
    return item
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
