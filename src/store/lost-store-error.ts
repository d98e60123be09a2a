/** Error of a store that has no data of an environment although commits were made in it. */
import { AuthzError } from '#model/errors.ts'

export class LostStoreError extends AuthzError {
  /** `what` describes what was found instead of the environment. */
  constructor(what: string) {
    super(
      'STORE_DAMAGED',
      `the store lost all data of this environment, and does not reinitialize it: ${what}`,
    )
  }
}
