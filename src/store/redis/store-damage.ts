/** What Redis kept of an environment is not whole any more: a key was lost, or holds what no commit has left there. */
import { AuthzError } from '#model/errors.ts'

/** `key`: which, by its last name (`redis-keys.ts`). Nothing was read, nothing was written. */
export class DamagedStoreError extends AuthzError {
  readonly key: string

  constructor(key: string) {
    const message = `the store has lost part of this environment, or others have changed it: ${key} is not what it has to be`
    super('STORE_DAMAGED', message)
    this.key = key
  }
}
