/** The error of a store that holds nothing any more of an environment in which something was committed. */
import { AuthzError } from '#model/errors.ts'

export class LostStoreError extends AuthzError {
  /** `what` was found in place of the environment. */
  constructor(what: string) {
    super('STORE_DAMAGED', `the store has lost all of this environment, which is not begun anew: ${what}`)
  }
}
