/**
 * Stored form of a row in the Redis ledger, in the hash of rows and in the log alike. `commit.lua` writes it:
 *
 *     [created u56][0][value]                 last written by the commit that created it, as most facts are
 *     [created u56][6][version u48][value]    written again since
 */
import { COMMIT_ROWS_MAX } from '#model/limits.ts'
import { decodeUint48, viewOf } from '#store/keyspace/row-codec.ts'
import type { Row } from '#store/ledger.ts'

const CREATED_BYTES = 7
/** Number of bytes before the value of a row that was written once. */
export const STAMP_BYTES = CREATED_BYTES + 1
export const VERSION_BYTES = 6
/** Number of `created` values per commit. */
export const CREATED_PER_COMMIT = COMMIT_ROWS_MAX + 1

/**
 * Decodes the row stored under `key`. Its key and value share memory with the bytes. Returns null for bytes
 * that no commit has stored.
 */
export function decodeStoredRow(key: Uint8Array, stored: Uint8Array): Row | null {
  if (stored.length < STAMP_BYTES) return null
  const created = stored[0]! * 2 ** 48 + decodeUint48(stored, 1)
  const size = stored[CREATED_BYTES]
  if (size !== 0 && (size !== VERSION_BYTES || stored.length < STAMP_BYTES + VERSION_BYTES)) return null
  return {
    key: viewOf(key),
    value: viewOf(stored, STAMP_BYTES + size),
    version: size === 0 ? Math.floor(created / CREATED_PER_COMMIT) : decodeUint48(stored, STAMP_BYTES),
    created,
  }
}
