/** Converts errors of a full disk, or of one that rejects writes, to errors of the store. */
import { statfsSync } from 'node:fs'
import { AuthzError } from '#model/errors.ts'
import { notWritten } from '#store/not-written-error.ts'

/** A disk with less free space than this counts as full, because every commit writes several pages. */
const FREE_BYTES_MIN = 64 * 1_024

/** Error of a start that cannot open its files. The message is for the operator. */
export function cannotOpen(directory: string, cause: unknown): AuthzError {
  const reason = isFull(directory) ? 'no space is left on its disk' : (cause as Error).message
  const message = `the files in ${directory} cannot be opened: ${reason}. Free disk space, or make the user of this process (uid ${process.getuid?.()}) their owner`
  return new AuthzError('STORE_UNAVAILABLE', message, { cause })
}

/**
 * Error of a commit that the disk rejected. lmdb rolls back such a commit. The message is for callers, so it
 * does not contain the directory.
 */
export function cannotWrite(directory: string, cause: unknown): AuthzError {
  return notWritten(reasonOf(directory, cause), cause)
}

/**
 * Returns the reason in words. The free space is checked, because lmdb reports an incomplete write to a full
 * disk as an I/O error.
 */
function reasonOf(directory: string, cause: unknown): string {
  if (isFull(directory)) return 'no space is left on the disk of the data directory'
  return `the disk of the data directory rejects writes (${cause instanceof Error ? cause.message : String(cause)})`
}

function isFull(directory: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize < FREE_BYTES_MIN
  } catch {
    return false
  }
}
