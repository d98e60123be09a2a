/**
 * Number and sum (checksum) of rows, independent of their order. The scripts update the number and the sum
 * with every commit (`ledger.lua`). A reader of all rows can thus verify that the rows are complete and that
 * only commits wrote them.
 *
 *     share of a row = the first 48 bits of SHA-1([key length u16][key][stored row])
 *     sum            = all shares modulo 2^48
 */
import { hash } from 'node:crypto'
import type { StoredRow } from '#store/bulk-load/row-runs.ts'
import { keyOf, ROW_KEY_START } from '#store/keyspace/row-codec.ts'
import { CREATED_PER_COMMIT, STAMP_BYTES, VERSION_BYTES } from './stored-row.ts'

const SUM_LIMIT = 2 ** 48
const SHARE_DIGITS = 12

export class RowTally {
  count = 0
  sum = 0
  #stored = Buffer.alloc(1_024)

  /** Adds a row to the number and to the sum. O(bytes of the row). */
  add({ created, bytes }: StoredRow): void {
    const keyEnd = ROW_KEY_START + keyOf(bytes).length
    const valueStart = keyEnd + VERSION_BYTES
    const longest = bytes.length + STAMP_BYTES
    if (this.#stored.length < longest) this.#stored = Buffer.alloc(longest)
    const stored = this.#stored
    stored.set(bytes.subarray(0, keyEnd))
    stored.writeUInt8(Math.floor(created / SUM_LIMIT), keyEnd)
    stored.writeUIntBE(created % SUM_LIMIT, keyEnd + 1, VERSION_BYTES)
    const sizeAt = keyEnd + STAMP_BYTES - 1
    const version = Buffer.from(bytes.buffer, bytes.byteOffset + keyEnd, VERSION_BYTES)
    const isFirst = version.readUIntBE(0, VERSION_BYTES) === Math.floor(created / CREATED_PER_COMMIT)
    stored.writeUInt8(isFirst ? 0 : VERSION_BYTES, sizeAt)
    if (!isFirst) stored.set(version, sizeAt + 1)
    const valueAt = sizeAt + 1 + (isFirst ? 0 : VERSION_BYTES)
    stored.set(bytes.subarray(valueStart), valueAt)
    const end = valueAt + bytes.length - valueStart
    const share = Number.parseInt(hash('sha1', stored.subarray(0, end), 'hex').slice(0, SHARE_DIGITS), 16)
    this.sum = (this.sum + share) % SUM_LIMIT
    this.count += 1
  }
}
