/**
 * Ids that ascend with time. Rows and lists are stored by ids, so what is created together lies together: a bulk and a
 * purge touch a fraction of the pages that random ids would scatter them over. To callers they are UUIDs of version 4, as
 * native.md B.1 requires; what would be random in front is the time (known as a COMB), and 62 random bits are
 * left.
 *
 *     48 bits milliseconds since 1970 │ 4 │ 12 bits counter │ variant, 62 random bits
 *
 * Invariant: each id is greater than the one before, also when the clock goes back or a millisecond has more than 4,096.
 */
import { randomUUID } from 'node:crypto'

const COUNTER_END = 4_096
/** Where a random UUID's variant and its random bits begin. */
const RANDOM_FROM = 18

export class TimeOrderedIds {
  readonly #now: () => number
  #instant = 0
  #counter = 0
  /** How ids of this instant begin. */
  #beginning = ''

  /** `now` gives milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now
    this.#moveTo(0)
  }

  next(): string {
    this.#counter += 1
    const now = this.#now()
    if (now > this.#instant) this.#moveTo(now)
    else if (this.#counter === COUNTER_END) this.#moveTo(this.#instant + 1)
    const counter = this.#counter.toString(16).padStart(3, '0')
    return `${this.#beginning}${counter}${randomUUID().slice(RANDOM_FROM)}`
  }

  #moveTo(instant: number): void {
    this.#instant = instant
    this.#counter = 0
    const time = instant.toString(16).padStart(12, '0')
    this.#beginning = `${time.slice(0, 8)}-${time.slice(8)}-4`
  }
}
