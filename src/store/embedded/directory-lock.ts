/**
 * Prevents a second process from using a data directory. The kernel holds the lock (fcntl, taken by SQLite on
 * a separate file). The lock therefore ends with the process in every case: there are no stale locks and no
 * process ids to compare.
 *
 * Node has no file locks, but its built-in SQLite does. SQLite also rejects a second lock within one process.
 * The file stays empty and is not removed: otherwise, two processes could lock two different files with its
 * name. No other code may open the file: closing any descriptor of the file in this process would release the
 * lock.
 */
import { accessSync, closeSync, constants, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { AuthzError } from '#model/errors.ts'

/**
 * Name of the lock file. It contains a dot, so it differs from the names of the directories of environments.
 */
const LOCK_FILE = 'verdict.lock'
const SQLITE_BUSY = 5

export class DirectoryLock {
  readonly #database: DatabaseSync

  /**
   * Locks an existing directory. Throws `STORE_LOCKED` if it is already locked, and `INVALID_INPUT` if this
   * user cannot lock it.
   */
  constructor(directory: string) {
    const file = join(directory, LOCK_FILE)
    try {
      // SQLite would open a read-only file and then lock nothing. This check does not open the file.
      if (existsSync(file)) accessSync(file, constants.W_OK)
      // SQLite would create a file that other users can read.
      else closeSync(openSync(file, 'a', 0o600))
      // Does not wait for the lock, because another process that holds it keeps it until that process ends.
      this.#database = new DatabaseSync(file, { timeout: 0 })
    } catch (error) {
      throw cannotLock(directory, file, error)
    }
    try {
      this.#database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    } catch (error) {
      this.#database.close()
      if (!isBusy(error)) throw cannotLock(directory, file, error)
      const message = `the data directory ${directory} is in use by another process: stop that process. Do not start an embedded store on a different directory, because it would be empty. Each Redis node needs its own DATA_DIR`
      throw new AuthzError('STORE_LOCKED', message, { cause: error })
    }
  }

  release(): void {
    this.#database.close()
  }
}

function cannotLock(directory: string, file: string, cause: unknown): AuthzError {
  const why = (cause as Error).message
  const what = `the lock ${file} cannot be taken: ${why}`
  const message = `${what}. Make the user of this process (uid ${process.getuid?.()}) the owner of the directory ${directory} and its files, with write permission`
  return new AuthzError('INVALID_INPUT', message, { cause })
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY
}
