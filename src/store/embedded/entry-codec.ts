/**
 * Stored form of a log entry:
 *
 *     [format u8][commit id, 16 bytes]
 *     [msgpack of (deletes, puts as (key, value, created), changes as text (change-codec.ts))]
 *
 * The id precedes the msgpack part, so that trimming the log does not decode the dropped entries. The
 * revision is not included: the sequence is the key of the entry, and all entries have the epoch of the
 * store. Changes are encoded as JSON, because callers choose the names of attributes, and msgpackr would
 * rename a member `__proto__`.
 */
import { Packr } from 'msgpackr'
import { decodeChanges, encodeChanges } from '#store/keyspace/change-codec.ts'
import { assert } from '#model/assert.ts'
import type { Revision } from '#model/revision.ts'
import { viewOf } from '#store/keyspace/row-codec.ts'
import type { LogEntry } from '#store/ledger.ts'

const FORMAT = 1
/** Length of a commit id, in bytes. */
export const COMMIT_ID_BYTES = 16
const BODY_START = 1 + COMMIT_ID_BYTES

type PackedPut = readonly [key: Uint8Array, value: Uint8Array, created: number]
type EntryBody = readonly [deletes: readonly Uint8Array[], puts: readonly PackedPut[], changes: string]

// Plain maps without the record extension: every release must be able to read an entry without other data.
const packr = new Packr({ useRecords: false })

export function encodeEntry(entry: LogEntry): Uint8Array {
  assert(entry.id.length === COMMIT_ID_BYTES, `a commit id has ${COMMIT_ID_BYTES} bytes`)
  const puts = entry.put.map((row): PackedPut => [row.key, row.value, row.created])
  const body = packr.pack([entry.delete, puts, encodeChanges(entry.changes)] satisfies EntryBody)
  const bytes = Buffer.allocUnsafe(BODY_START + body.length)
  bytes[0] = FORMAT
  bytes.set(entry.id, 1)
  bytes.set(body, BODY_START)
  return bytes
}

/** Decodes the entry stored at `revision`. Its keys and values share memory with `bytes`. */
export function decodeEntry(revision: Revision, bytes: Uint8Array): LogEntry {
  assert(bytes[0] === FORMAT, () => `a log entry has format ${FORMAT}, not ${bytes[0]}`)
  const [deletes, puts, changes] = packr.unpack(bytes.subarray(BODY_START)) as EntryBody
  return {
    revision,
    id: entryId(bytes),
    delete: deletes.map(key => viewOf(key)),
    put: puts.map(([key, value, created]) => {
      return { key: viewOf(key), value: viewOf(value), version: revision.sequence, created }
    }),
    changes: decodeChanges(changes),
  }
}

/**
 * Returns the entry stored at `revision`. It is decoded when one of its members other than the id is read.
 */
export function laterDecoded(revision: Revision, bytes: Uint8Array): LogEntry {
  let decoded: LogEntry | null = null
  const whole = (): LogEntry => (decoded ??= decodeEntry(revision, bytes))
  return {
    revision,
    id: entryId(bytes),
    get delete() {
      return whole().delete
    },
    get put() {
      return whole().put
    },
    get changes() {
      return whole().changes
    },
  }
}

/** Returns the commit id of an encoded entry. O(1). */
export function entryId(bytes: Uint8Array): Uint8Array {
  return viewOf(bytes, 1, BODY_START)
}
