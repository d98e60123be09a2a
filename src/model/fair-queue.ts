/**
 * What waits, of several shares: they have their turns one after the other, however much one of them has waiting. Turns of the main
 * thread, which are slices of time, are in `management/commands/fair-turns.ts`.
 */
export class FairQueue<Item extends object> {
  /** In the order of their turns; none is empty. */
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

  /** Takes the oldest of the first share that may have a turn, which goes to the end. Null: none may. O(shares). */
  take(mayHaveTurn: (share: string) => boolean): Item | null {
    for (const [share, line] of this.#lines) {
      if (!mayHaveTurn(share)) continue
      const item = line.shift()!
      this.#lines.delete(share)
      if (line.length > 0) this.#lines.set(share, line)
      return item
    }
    return null
  }

  /** Takes all of which it is said so, wherever they wait. O(items). */
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
