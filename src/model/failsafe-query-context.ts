/** Wraps the attributes and context of a query for callers that continue if these cannot be read. */
import { type QueryContext, NOTHING_SENT, type SentAttributes } from './decision.ts'
import { AuthzError } from './errors.ts'

/** Attributes that exceed a limit count as not sent, and `failure` contains the error. */
export class FailsafeQueryContext implements QueryContext {
  readonly #own: QueryContext
  /** Error that occurred when reading the attributes; `null` if they were not read yet or can be read. */
  failure: AuthzError | null = null

  constructor(own: QueryContext) {
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
