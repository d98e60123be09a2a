/** Limits how many memory-heavy operations run at once: in all, and for one environment. */
import { AuthzError } from '#model/errors.ts'

export class ConcurrencyLimit {
  readonly #max: number
  readonly #shareMax: number
  /** What is limited, as a refusal names it. */
  readonly #what: string
  #count = 0
  readonly #countOfShares = new Map<string, number>()

  /** `max` for all together, `shareMax` for one share. */
  constructor({ max, shareMax }: { readonly max: number; readonly shareMax: number }, what: string) {
    this.#max = max
    this.#shareMax = shareMax
    this.#what = what
  }

  /**
   * Returns the function to call at the end, one or more times. Throws `RATE_LIMITED` when that share has too many,
   * `OVERLOADED` when all together have too many.
   */
  acquire(share: string): () => void {
    const own = this.#countOfShares.get(share) ?? 0
    if (own >= this.#shareMax) {
      const message = `${own} ${this.#what} of this environment are under way, which is as many as may be; try again shortly`
      throw new AuthzError('RATE_LIMITED', message, { limit: 'content' })
    }
    if (this.#count >= this.#max) {
      const message = `${this.#max} ${this.#what} are under way, which is as many as may be; try again shortly`
      throw new AuthzError('OVERLOADED', message, { limit: 'content' })
    }
    this.#add(share, 1)
    let isOver = false
    return () => {
      if (!isOver) this.#add(share, -1)
      isOver = true
    }
  }

  #add(share: string, change: 1 | -1): void {
    this.#count += change
    const own = (this.#countOfShares.get(share) ?? 0) + change
    if (own === 0) this.#countOfShares.delete(share)
    else this.#countOfShares.set(share, own)
  }
}
