/** What a question brings along, for whoever goes on where it cannot be read. */
import { type Circumstances, NOTHING_SENT, type SentAttributes } from './decision.ts'
import { AuthzError } from './errors.ts'

/** Attributes that break a ceiling count as not sent, and `failure` says so. */
export class FailsafeCircumstances implements Circumstances {
  readonly #own: Circumstances
  /** Why the attributes cannot be read; `null`: nobody has asked for them, or they can. */
  failure: AuthzError | null = null

  constructor(own: Circumstances) {
    this.#own = own
  }

  get readAt(): number {
    return this.#own.readAt
  }

  sent(): SentAttributes {
    if (this.failure) return NOTHING_SENT
    try {
      return this.#own.sent()
    } catch (error) {
      if (!(error instanceof AuthzError)) throw error
      this.failure = error
      return NOTHING_SENT
    }
  }
}
