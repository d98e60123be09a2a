/**
 * Limits the sign-ins and the logouts of a node (administration.md S8, S14). Anyone can begin a sign-in or
 * send a logout token, so the requests to the issuer that follow must be limited. Sign-ins and logouts have
 * separate limits, so that many sign-ins cannot prevent logouts.
 */
import { AuthzError, type LimitName } from '#model/errors.ts'
import { LOGOUTS_AT_ONCE_MAX, SIGN_INS_AT_ONCE_MAX, SIGN_INS_PER_SECOND_MAX } from '#model/limits.ts'

/** Work that can wait for the issuer. */
export type IssuerWork = 'sign-ins' | 'logouts'

const AT_ONCE_MAX: Readonly<Record<IssuerWork, number>> = {
  'sign-ins': SIGN_INS_AT_ONCE_MAX,
  logouts: LOGOUTS_AT_ONCE_MAX,
}

export class SignInQuota {
  readonly #elapsedMs: () => number
  /** Sign-ins that can begin now. Fractions accumulate until the next whole one. */
  #left = SIGN_INS_PER_SECOND_MAX
  #countedAt: number
  readonly #running: Record<IssuerWork, number> = { 'sign-ins': 0, logouts: 0 }

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

  /** Runs work that can wait for the issuer. Throws `OVERLOADED` if too much of this kind is running. */
  async run<Result>(kind: IssuerWork, work: () => Promise<Result>): Promise<Result> {
    const max = AT_ONCE_MAX[kind]
    if (this.#running[kind] === max)
      throw tooMany(`${max} ${kind} are in progress, which is the maximum;`, 'queue')
    this.#running[kind] += 1
    try {
      return await work()
    } finally {
      this.#running[kind] -= 1
    }
  }
}

function tooMany(what: string, limit: LimitName): AuthzError {
  return new AuthzError('OVERLOADED', `${what} try again shortly`, { limit })
}
