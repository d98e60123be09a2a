/**
 * What the journal holds: for each write one record, with the entries that it changed.
 *
 *     segment   [magic 4 bytes][format u8][generation u48][lineage, 16 bytes][record]…
 *     record    [payload length u32][CRC-32 of the payload u32][payload]
 *     payload   [generation u48][change]…
 *     change    [table u8][key length u16][value length u32, or all ones for a removal][key][value]
 *               [255][table u8][name length u8][name]     what a table's number stands for in this segment
 *
 * Segments are used again. A record that was left behind by an earlier use of the file has another generation, so a reader stops
 * there, as it does where the record was cut short.
 */
import { crc32 } from 'node:zlib'
import { textOf } from '#model/byte-text.ts'

const MAGIC = Buffer.from('VJNL')
const FORMAT = 1
export const GENERATION_BYTES = 6
export const LINEAGE_BYTES = 16
const LINEAGE_AT = MAGIC.length + 1 + GENERATION_BYTES
/** Where the first record of a segment begins. */
export const SEGMENT_HEAD_BYTES = LINEAGE_AT + LINEAGE_BYTES
export const RECORD_HEAD_BYTES = 4 + 4
export const CHANGE_HEAD_BYTES = 1 + 2 + 4
export const REMOVED = 0xffff_ffff
export const TABLE_NAME = 255

/** Entries of one table by their keys as text; null: removed. */
export type ChangedEntries = Map<string, Uint8Array | null>

export function encodeSegmentHead(generation: number, lineage: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(SEGMENT_HEAD_BYTES)
  bytes.set(MAGIC)
  bytes[MAGIC.length] = FORMAT
  bytes.writeUIntBE(generation, MAGIC.length + 1, GENERATION_BYTES)
  bytes.set(lineage, LINEAGE_AT)
  return bytes
}

export interface ReadSegment {
  readonly generation: number
  readonly lineage: Uint8Array
  /** Where the last whole record ends. */
  readonly endBytes: number
  /** What the whole records of the segment leave of each entry, by table. */
  readonly changes: ReadonlyMap<string, ChangedEntries>
}

/** Reads a segment up to the first record that is not whole. Null where the bytes are no segment. O(bytes). */
export function readSegment(bytes: Buffer): ReadSegment | null {
  if (bytes.length < SEGMENT_HEAD_BYTES || !MAGIC.equals(bytes.subarray(0, MAGIC.length))) return null
  if (bytes[MAGIC.length] !== FORMAT) return null
  const generation = bytes.readUIntBE(MAGIC.length + 1, GENERATION_BYTES)
  const lineage = Uint8Array.from(bytes.subarray(LINEAGE_AT, SEGMENT_HEAD_BYTES))
  const names: string[] = []
  const changes = new Map<string, ChangedEntries>()
  let at = SEGMENT_HEAD_BYTES
  while (at + RECORD_HEAD_BYTES <= bytes.length) {
    const start = at + RECORD_HEAD_BYTES
    const length = bytes.readUInt32BE(at)
    if (length < GENERATION_BYTES || length > bytes.length - start) break
    const payload = bytes.subarray(start, start + length)
    if (payload.readUIntBE(0, GENERATION_BYTES) !== generation) break
    if (crc32(payload) !== bytes.readUInt32BE(at + 4)) break
    readChanges(payload, names, changes)
    at = start + length
  }
  return { generation, lineage, endBytes: at, changes }
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
