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
        ? 'all keys of this environment are missing in the store, although other data states that it exists'
        : `the store lost a part of this environment, or another program changed it: ${key} is not as expected`
    super('STORE_DAMAGED', message)
    this.key = key
  }
}

/** Returns the error of a start on an empty Redis that other running nodes use. */
export function emptiedUnderNodes(): AuthzError {
  const message =
    'Redis is empty, but other nodes run with it: restore Redis, ' +
    'or set NEW_STORE_WAIT_MS=0 to begin with an empty store, which the other nodes then also use'
  return new AuthzError('STORE_DAMAGED', message)
}

/** Returns the error of a start on an empty Redis whose data this node has replicated before. */
export function emptiedStore(directory: string): AuthzError {
  const message =
    `Redis is empty, but ${directory} has a local replica of its data: restore Redis, ` +
    'or start with another DATA_DIR to begin with an empty store'
  return new AuthzError('STORE_DAMAGED', message)
}
