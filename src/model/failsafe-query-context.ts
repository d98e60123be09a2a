/**
 * Wraps the attributes and context of a query. Used by callers that continue with the query if the attributes
 * cannot be read.
 */
import { type QueryContext, NOTHING_SENT, type SentAttributes } from './decision.ts'
import { AuthzError } from './errors.ts'

/** If the attributes exceed a limit, they count as absent, and `failure` contains the error. */
export class FailsafeQueryContext implements QueryContext {
  readonly #own: QueryContext
  /**
   * Error that occurred when the attributes were read. `null` if they have not been read yet, or if they
   * could be read.
   */
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
