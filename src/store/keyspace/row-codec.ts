/**
 * Stored form of rows and numbers. Numbers are big-endian, so that sorting by their bytes sorts the numbers.
 * A stored row is
 *
 *     [key length u16][key][version u48][value]        stored under its `created` as u64
 *
 * Decoded bytes are plain `Uint8Array` views of the bytes of the table, never a `Buffer` (whose `slice`
 * shares memory). This module contains no domain terms: `keyspace` defines the meaning of keys and values.
 */
import { assert } from '#model/assert.ts'
import type { Row } from '#store/ledger.ts'

const UINT32 = 2 ** 32
const KEY_LENGTH_BYTES = 2
/** Offset of the key in a stored row. */
export const ROW_KEY_START = KEY_LENGTH_BYTES
const VERSION_BYTES = 6
/** Length of an encoded `created`, in bytes. */
export const CREATED_BYTES = 8

/** Encodes a sequence or a count, at most 2^48 - 1, in 6 bytes. */
export function encodeUint48(value: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(VERSION_BYTES)
  bytes.writeUIntBE(value, 0, VERSION_BYTES)
  return bytes
}

export function decodeUint48(bytes: Uint8Array, at = 0): number {
  return (bytes[at]! * 256 + bytes[at + 1]!) * UINT32 + decodeUint32(bytes, at + 2)
}

/** Encodes a `created`, at most 2^53 - 1, in 8 bytes. */
export function encodeCreated(created: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(CREATED_BYTES)
  writeCreated(bytes, created, 0)
  return bytes
}

export function writeCreated(target: Buffer, created: number, at: number): void {
  target.writeUInt32BE(Math.floor(created / UINT32), at)
  target.writeUInt32BE(created % UINT32, at + 4)
}

export function decodeCreated(bytes: Uint8Array, at = 0): number {
  return decodeUint32(bytes, at) * UINT32 + decodeUint32(bytes, at + 4)
}

export function encodeRow(row: Row): Uint8Array {
  const keyEnd = KEY_LENGTH_BYTES + row.key.length
  const bytes = Buffer.allocUnsafe(keyEnd + VERSION_BYTES + row.value.length)
  bytes.writeUInt16BE(row.key.length, 0)
  bytes.set(row.key, KEY_LENGTH_BYTES)
  bytes.writeUIntBE(row.version, keyEnd, VERSION_BYTES)
  bytes.set(row.value, keyEnd + VERSION_BYTES)
  return bytes
}

/** Decodes the row stored under `created`. Its key and value share memory with `bytes`. */
export function decodeRow(created: number, bytes: Uint8Array): Row {
  const keyEnd = KEY_LENGTH_BYTES + bytes[0]! * 256 + bytes[1]!
  const valueStart = keyEnd + VERSION_BYTES
  assert(valueStart <= bytes.length, 'a stored row is cut short')
  return {
    key: viewOf(bytes, KEY_LENGTH_BYTES, keyEnd),
    value: viewOf(bytes, valueStart, bytes.length),
    version: decodeUint48(bytes, keyEnd),
    created,
  }
}

/** Returns the key in a stored row. The key shares memory with the row. */
export function keyOf(bytes: Uint8Array): Uint8Array {
  return viewOf(bytes, ROW_KEY_START, ROW_KEY_START + bytes[0]! * 256 + bytes[1]!)
}

/** Returns the bytes as a plain `Uint8Array` on the same memory, for any subclass. */
export function viewOf(bytes: Uint8Array, start = 0, end = bytes.length): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset + start, end - start)
}

function decodeUint32(bytes: Uint8Array, at: number): number {
  return bytes[at]! * 0x1000000 + ((bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!)
}
