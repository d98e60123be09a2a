/**
 * Keeps a second process out of a data directory. The lock is the kernel's (fcntl, taken by SQLite on a file of its
 * own), so it ends with the process that holds it, however that ends: no stale lock, no process ids to compare.
 *
 * Node has no file locks of its own; its builtin SQLite does, and also refuses a second lock within one process. The
 * file stays empty and is left behind: removing it would let two processes lock two different files of that name.
 * Nothing else may open it: closing any descriptor of it in this process would drop the lock.
 */
import { accessSync, closeSync, constants, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { AuthzError } from '#model/errors.ts'

/** The name has a dot, which no environment id has: both are in the same directory. */
const LOCK_FILE = 'verdict.lock'
const SQLITE_BUSY = 5

export class DirectoryLock {
  readonly #database: DatabaseSync

  /** Locks an existing directory. Throws `STORE_LOCKED` when it is locked already, `INVALID_INPUT` when this user cannot. */
  constructor(directory: string) {
    const file = join(directory, LOCK_FILE)
    try {
      // SQLite would open a read-only file and then keep nobody out. This checks without opening the file.
      if (existsSync(file)) accessSync(file, constants.W_OK)
      // SQLite would let other users read a new file.
      else closeSync(openSync(file, 'a', 0o600))
      // No waiting: a process that holds the lock keeps it until it ends.
      this.#database = new DatabaseSync(file, { timeout: 0 })
    } catch (error) {
      throw cannotLock(directory, file, error)
    }
    try {
      this.#database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    } catch (error) {
      this.#database.close()
      if (!isBusy(error)) throw cannotLock(directory, file, error)
      const message = `the data directory ${directory} is in use by another process: stop that one, or give this one a directory of its own`
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
  const message = `${what}. Give the directory ${directory}, and all that is in it, to the user of this process (uid ${process.getuid?.()}), with the right to write there; or name another directory`
  return new AuthzError('INVALID_INPUT', message, { cause })
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY
}
