/** Limits the number of concurrent memory-heavy operations: in total, and per environment. */
import { AuthzError } from '#model/errors.ts'

export class ConcurrencyLimit {
  readonly #max: number
  readonly #shareMax: number
  /** Name of the operations for error messages. */
  readonly #what: string
  #count = 0
  readonly #countOfShares = new Map<string, number>()

  /** `max` is the limit of all shares together, `shareMax` that of one share. */
  constructor({ max, shareMax }: { readonly max: number; readonly shareMax: number }, what: string) {
    this.#max = max
    this.#shareMax = shareMax
    this.#what = what
  }

  /**
   * Returns a function that ends the operation; it is idempotent. Throws `RATE_LIMITED` if the share has too
   * many operations, and `OVERLOADED` if all shares together have too many.
   */
  acquire(share: string): () => void {
    const own = this.#countOfShares.get(share) ?? 0
    if (own >= this.#shareMax) {
      const message = `${own} ${this.#what} of this environment are in progress, which is the maximum; try again shortly`
      throw new AuthzError('RATE_LIMITED', message, { limit: 'content' })
    }
    if (this.#count >= this.#max) {
      const message = `${this.#max} ${this.#what} are in progress, which is the maximum; try again shortly`
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
