/** Counts the finished sign-ins of a node by result, for the metric. */
import { SIGN_IN_RESULTS, type SignInOutcome } from './sign-in-request.ts'

export class SignInCounts {
  readonly #counts = new Map<SignInOutcome, number>(SIGN_IN_RESULTS.map(result => [result, 0]))

  add(result: SignInOutcome): void {
    this.#counts.set(result, this.#counts.get(result)! + 1)
  }

  [Symbol.iterator](): MapIterator<[SignInOutcome, number]> {
    return this.#counts[Symbol.iterator]()
  }
}
