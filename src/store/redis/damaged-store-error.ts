/**
 * Error of an environment that Redis no longer holds completely: a key was lost, or contains data that no
 * commit wrote.
 */
import { AuthzError } from '#model/errors.ts'

/**
 * `key` is the last part of the name of the key (`redis-keys.ts`); null if all keys are gone. Nothing was
 * read or written.
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
