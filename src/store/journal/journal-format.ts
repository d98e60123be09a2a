/**
 * Format of the journal (write-ahead log): one record per write, with the entries that the write changed.
 *
 *     segment   [magic 4 bytes][format u8][generation u48][lineage, 16 bytes][record]…
 *     record    [payload length u32][CRC-32 of the payload u32][payload]
 *     payload   [generation u48][change]…
 *     change    [table u8][key length u16][value length u32, or all ones for a removal][key][value]
 *               [255][table u8][name length u8][name]     name of a table, by its number in this segment
 *               [255][254][16][lineage]            begins a batch: all earlier records were on disk then
 *               [255][254][22][lineage][end u48]   the same, in the first record of a segment, with the end
 *                                                  of the previous segment
 *
 * Segments are recycled. A record that an earlier use of the file left has another generation, so a reader
 * stops there, as it does at a truncated record.
 *
 * A record that begins a batch contains a note. Such a record is written only after all earlier records are
 * on disk. Therefore this record proves that all records before it were acknowledged, even if one of them is
 * damaged now. Older releases, which do not write batch notes, read them as the name of a table without
 * changes. Recovery finds the notes after a damaged record by searching for the lineage. The lineage is
 * random, so no value contains it by chance or on purpose.
 */
import { crc32 } from 'node:zlib'
import { textOf } from '#model/text/byte-text.ts'

const MAGIC = Buffer.from('VJNL')
const FORMAT = 1
export const GENERATION_BYTES = 6
export const LINEAGE_BYTES = 16
const LINEAGE_AT = MAGIC.length + 1 + GENERATION_BYTES
/** Offset of the first record of a segment. */
export const SEGMENT_HEAD_BYTES = LINEAGE_AT + LINEAGE_BYTES
export const RECORD_HEAD_BYTES = 4 + 4
export const CHANGE_HEAD_BYTES = 1 + 2 + 4
export const REMOVED = 0xffff_ffff
export const TABLE_NAME = 255
/** Marks a batch note. It is stored in the position of a table number, and no table has this number. */
export const BATCH = 254
/** Length of the longest batch note, which is at the beginning of a segment. */
export const NOTE_BYTES_MAX = 3 + LINEAGE_BYTES + 6

/** Entries of one table by their keys as text; null if the entry was removed. */
export type ChangedEntries = Map<string, Uint8Array | null>

export function encodeSegmentHead(generation: number, lineage: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(SEGMENT_HEAD_BYTES)
  bytes.set(MAGIC)
  bytes[MAGIC.length] = FORMAT
  bytes.writeUIntBE(generation, MAGIC.length + 1, GENERATION_BYTES)
  bytes.set(lineage, LINEAGE_AT)
  return bytes
}

/**
 * Encodes the note of a record that begins a batch. `previousEndBytes` is the end of the previous segment if
 * the record is the first one of its segment, otherwise null.
 */
export function encodeBatchNote(lineage: Uint8Array, previousEndBytes: number | null): Uint8Array {
  const bytes = Buffer.alloc(NOTE_BYTES_MAX)
  bytes.set(lineage, 3)
  if (previousEndBytes !== null) bytes.writeUIntBE(previousEndBytes, 3 + LINEAGE_BYTES, 6)
  const note = previousEndBytes === null ? bytes.subarray(0, 3 + LINEAGE_BYTES) : bytes
  note.set([TABLE_NAME, BATCH, note.length - 3])
  return note
}

export interface ReadSegment {
  readonly generation: number
  readonly lineage: Uint8Array
  /**
   * End of the previous segment. Null if no intact record contains this end, or if a release without batch
   * notes wrote the segment.
   */
  readonly previousEndBytes: number | null
  /** End of the last intact record. */
  readonly endBytes: number
  /** Number of intact records after the first damaged one. */
  readonly recordsBeyond: number
  /** Final state of each entry after the intact records of the segment, by table. */
  readonly changes: ReadonlyMap<string, ChangedEntries>
}

/**
 * Reads a segment up to the first record that is not intact. Null if the bytes are not a segment. O(bytes).
 */
export function readSegment(bytes: Buffer): ReadSegment | null {
  const first = payloadAt(bytes, SEGMENT_HEAD_BYTES)
  const note = first && noteIn(first)
  // The note in the first record repeats the content of the head and is covered by a checksum, so it is
  // preferred to the head.
  const about = note ? { ...note, generation: generationOf(first) } : readHead(bytes)
  if (about === null) return null
  const { generation, lineage, previousEndBytes } = about
  const names: string[] = []
  const changes = new Map<string, ChangedEntries>()
  let at = SEGMENT_HEAD_BYTES
  for (let payload = first; isOf(payload, generation); payload = payloadAt(bytes, at)) {
    readChanges(payload, names, changes)
    at += RECORD_HEAD_BYTES + payload.length
  }
  const recordsBeyond = countBeyond(bytes, at, generation)
  return { generation, lineage, previousEndBytes, endBytes: at, recordsBeyond, changes }
}

/** An intact record that begins a batch: the generation of its segment, and its offset. */
export interface BatchStart {
  readonly generation: number
  readonly at: number
}

/**
 * Yields the intact records of this lineage that begin a batch, including records after damaged ones.
 * O(bytes).
 */
export function* batchStartsIn(bytes: Buffer, lineage: Uint8Array): Iterable<BatchStart> {
  const beforeLineage = RECORD_HEAD_BYTES + GENERATION_BYTES + 3
  for (let found = bytes.indexOf(lineage); found >= 0; found = bytes.indexOf(lineage, found + 1)) {
    const at = found - beforeLineage
    const payload = at < SEGMENT_HEAD_BYTES ? null : payloadAt(bytes, at)
    if (payload !== null && noteIn(payload)) yield { generation: generationOf(payload), at }
  }
}

function readHead(bytes: Buffer) {
  if (bytes.length < SEGMENT_HEAD_BYTES || !MAGIC.equals(bytes.subarray(0, MAGIC.length))) return null
  if (bytes[MAGIC.length] !== FORMAT) return null
  const generation = bytes.readUIntBE(MAGIC.length + 1, GENERATION_BYTES)
  const lineage = Uint8Array.from(bytes.subarray(LINEAGE_AT, SEGMENT_HEAD_BYTES))
  return { generation, lineage, previousEndBytes: null }
}

/** Returns the payload of the record at this offset, or null if there is no intact record. */
function payloadAt(bytes: Buffer, at: number): Buffer | null {
  const end = recordEnd(bytes, at)
  if (end === null) return null
  const payload = bytes.subarray(at + RECORD_HEAD_BYTES, end)
  return crc32(payload) === bytes.readUInt32BE(at + 4) ? payload : null
}

/**
 * Returns the end of the record at this offset according to its length, or null if the length is not
 * possible.
 */
function recordEnd(bytes: Buffer, at: number): number | null {
  const start = at + RECORD_HEAD_BYTES
  if (start > bytes.length) return null
  const length = bytes.readUInt32BE(at)
  return length < GENERATION_BYTES || length > bytes.length - start ? null : start + length
}

function generationOf(payload: Buffer): number {
  return payload.readUIntBE(0, GENERATION_BYTES)
}

function isOf(payload: Buffer | null, generation: number): payload is Buffer {
  return payload !== null && generationOf(payload) === generation
}

/** Returns the batch note at the beginning of a payload, or null if the payload does not begin with one. */
function noteIn(payload: Buffer) {
  const note = payload.subarray(GENERATION_BYTES)
  if (note[0] !== TABLE_NAME || note[1] !== BATCH) return null
  const lineage = Uint8Array.from(note.subarray(3, 3 + LINEAGE_BYTES))
  const isFirst = note[2] === NOTE_BYTES_MAX - 3
  return { lineage, previousEndBytes: isFirst ? note.readUIntBE(3 + LINEAGE_BYTES, 6) : null }
}

/**
 * Returns the number of intact records after the damaged record at this offset. Follows the lengths of the
 * records.
 */
function countBeyond(bytes: Buffer, damagedAt: number, generation: number): number {
  let count = 0
  for (let at = recordEnd(bytes, damagedAt); at !== null; at = recordEnd(bytes, at)) {
    if (isOf(payloadAt(bytes, at), generation)) count += 1
  }
  return count
}

function readChanges(payload: Buffer, names: string[], changes: Map<string, ChangedEntries>): void {
  for (let at = GENERATION_BYTES; at < payload.length;) {
    const number = payload[at]!
    if (number === TABLE_NAME) {
      const end = at + 3 + payload[at + 2]!
      names[payload[at + 1]!] = textOf(payload.subarray(at + 3, end))
      at = end
      continue
    }
    const keyStart = at + CHANGE_HEAD_BYTES
    const valueStart = keyStart + payload.readUInt16BE(at + 1)
    const valueLength = payload.readUInt32BE(at + 3)
    const name = names[number]!
    let entries = changes.get(name)
    if (!entries) changes.set(name, (entries = new Map()))
    const key = textOf(payload.subarray(keyStart, valueStart))
    at = valueStart + (valueLength === REMOVED ? 0 : valueLength)
    entries.set(key, valueLength === REMOVED ? null : payload.subarray(valueStart, at))
  }
}
