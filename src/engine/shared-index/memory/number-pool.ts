/**
 * Allocates small numbers from `first` up to, but not including, `end`. A number that was given back is used
 * again.
 */
import { AuthzError } from '#model/errors.ts'

export class NumberPool {
  #next: number
  readonly #end: number
  readonly #free: number[] = []

  /** `taken` contains the numbers that are already in use. */
  constructor(first: number, end: number, taken: Iterable<number> = []) {
    this.#next = first
    this.#end = end
    for (const number of [...taken].toSorted((a, b) => a - b)) {
      while (this.#next < number) this.#free.push(this.#next++)
      this.#next = number + 1
    }
  }

  /** Returns how many numbers are free. */
  get available(): number {
    return this.#free.length + this.#end - this.#next
  }

  /** Returns a free number. Throws `LIMIT_EXCEEDED` if all numbers are in use. */
  take(): number {
    const free = this.#free.pop()
    if (free !== undefined) return free
    if (this.#next === this.#end) {
      throw new AuthzError('LIMIT_EXCEEDED', `an index contains at most ${this.#end} entities of one kind`)
    }
    this.#next += 1
    return this.#next - 1
  }

  give(number: number): void {
    this.#free.push(number)
  }
}
