/**
 * The error of an environment that Redis does not have whole any more: a key was lost, or holds something that no commit
 * has left there.
 */
import { AuthzError } from '#model/errors.ts'

/**
 * `key` is the last part of the key's name (`redis-keys.ts`); null: all keys are gone. Nothing was read and nothing was
 * written.
 */
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
