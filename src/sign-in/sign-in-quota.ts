/**
 * Limits the sign-ins of a node (administration.md S8). Anyone can begin a sign-in, so the requests to the
 * issuer that follow must be limited.
 */
import { AuthzError, type LimitName } from '#model/errors.ts'
import { SIGN_INS_AT_ONCE_MAX, SIGN_INS_PER_SECOND_MAX } from '#model/limits.ts'

export class SignInQuota {
  readonly #elapsedMs: () => number
  /** Sign-ins that can begin now. Fractions accumulate until the next whole one. */
  #left = SIGN_INS_PER_SECOND_MAX
  #countedAt: number
  #running = 0

  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs
    this.#countedAt = elapsedMs()
  }

  /** Throws `OVERLOADED` if too many sign-ins were begun within a second. */
  takeBegin(): void {
    const now = this.#elapsedMs()
    const gained = ((now - this.#countedAt) / 1_000) * SIGN_INS_PER_SECOND_MAX
    this.#left = Math.min(SIGN_INS_PER_SECOND_MAX, this.#left + gained)
    this.#countedAt = now
    if (this.#left < 1)
      throw tooMany(`${SIGN_INS_PER_SECOND_MAX} sign-ins per second can begin, which is the maximum;`, 'rate')
    this.#left -= 1
  }

  /** Runs work that can wait for the issuer. Throws `OVERLOADED` if too much of it is running. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running === SIGN_INS_AT_ONCE_MAX)
      throw tooMany(`${SIGN_INS_AT_ONCE_MAX} sign-ins are in progress, which is the maximum;`, 'queue')
    this.#running += 1
    try {
      return await work()
    } finally {
      this.#running -= 1
    }
  }
}

function tooMany(what: string, limit: LimitName): AuthzError {
  return new AuthzError('OVERLOADED', `${what} try again shortly`, { limit })
}
