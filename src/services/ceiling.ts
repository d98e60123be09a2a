/** So many at once of something that keeps much for as long as it takes. */
import { AuthzError } from '#model/errors.ts'

export class Ceiling {
  readonly #max: number
  /** What there are too many of, as a refusal names it. */
  readonly #what: string
  #count = 0

  constructor(max: number, what: string) {
    this.#max = max
    this.#what = what
  }

  /** Returns what is called at the end, once or oftener. Throws `OVERLOADED`. */
  enter(): () => void {
    if (this.#count >= this.#max) {
      const message = `${this.#max} ${this.#what} are under way, which is as many as may be; try again shortly`
      throw new AuthzError('OVERLOADED', message, { limit: 'content' })
    }
    this.#count += 1
    let isOver = false
    return () => {
      if (!isOver) this.#count -= 1
      isOver = true
    }
  }
}
