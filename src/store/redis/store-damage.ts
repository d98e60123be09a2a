/** What Redis kept of an environment is not whole any more: a key was lost, or holds what no commit has left there. */
import { AuthzError } from '#model/errors.ts'

/** `key`: which, by its last name (`redis-keys.ts`); null: all of them are gone. Nothing was read, nothing was written. */
export class DamagedStoreError extends AuthzError {
  readonly key: string | null

  constructor(key: string | null) {
    const message =
      key === null
        ? 'the store has lost all of this environment, and not what goes with it: none of its keys is there'
        : `the store has lost part of this environment, or others have changed it: ${key} is not what it has to be`
    super('STORE_DAMAGED', message)
    this.key = key
  }
}
