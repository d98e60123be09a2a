/**
 * Creates ids that ascend with time. Rows and secondary indexes are sorted by id, so rows that are created
 * together are stored together: a bulk write or a purge touches a fraction of the pages that it would touch
 * with random ids. To clients, they are UUIDs of version 4, as native.md B.1 requires. The leading bits,
 * which would otherwise be random, contain the time (this scheme is known as a COMB). 62 random bits remain.
 *
 *     48 bits milliseconds since 1970 │ 4 │ 12 bits counter │ variant, 62 random bits
 *
 * Invariant: each id is greater than the previous one, even if the clock goes back or a millisecond has more
 * than 4,096 ids.
 */
import { randomUUID } from 'node:crypto'

const COUNTER_END = 4_096
/** Offset of the variant and the random bits in a random UUID. */
const RANDOM_FROM = 18

export class TimeOrderedIds {
  readonly #now: () => number
  #instant = 0
  #counter = 0
  /** Prefix of the ids of this millisecond. */
  #beginning = ''

  /** `now` returns milliseconds since 1970. */
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
