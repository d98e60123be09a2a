/**
 * Packs a commit for another thread: a few large buffers, which are transferred without a copy, replace
 * thousands of small ones. Items are concatenated:
 *
 *     [what u8][number f64][key length u16][key][value length u32][value]
 *
 * The number is the required version, generation or head, or the generation of a row that is put. Only puts
 * have values.
 */
import { decodeChanges, encodeChanges } from '#store/keyspace/change-codec.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { viewOf } from '#store/keyspace/row-codec.ts'
import type { Commit, Requirement } from '#store/ledger.ts'

const ABSENT = 0
const VERSION = 1
const CREATED = 2
const DELETE = 3
const PUT = 4
const HEAD = 5
const HEAD_BYTES = 1 + 8 + 2
const VALUE_LENGTH_BYTES = 4

/** Number of items or changes that are packed between two pauses. */
const PACKED_AT_ONCE = 128

export interface PackedCommit {
  readonly id: Uint8Array
  readonly items: readonly Uint8Array[]
  /** Texts that each contain some of the changes (`change-codec.ts`). */
  readonly changes: readonly Uint8Array[]
}

interface Item {
  readonly what: number
  readonly number: number
  readonly key: Uint8Array
  readonly value: Uint8Array | null
}

/** A commit that can be packed. Its puts can already have their generation. */
type Packable = Pick<Commit, 'id' | 'require' | 'delete' | 'changes'> & {
  readonly put: readonly {
    readonly key: Uint8Array
    readonly value: Uint8Array
    readonly created?: number
  }[]
}

/** Packs a commit. O(bytes), interruptible every few rows. The result shares no memory with the commit. */
export function* packCommit(commit: Packable): Resumable<PackedCommit> {
  const items: Uint8Array[] = []
  const changes: Uint8Array[] = []
  let some: Item[] = []
  for (const item of itemsOf(commit)) {
    if (some.push(item) < PACKED_AT_ONCE) continue
    items.push(packed(some))
    some = []
    yield
  }
  items.push(packed(some))
  for (let from = 0; from < commit.changes.length; from += PACKED_AT_ONCE) {
    const text = encodeChanges(commit.changes.slice(from, from + PACKED_AT_ONCE))
    changes.push(new TextEncoder().encode(text))
    yield
  }
  return { id: Uint8Array.from(commit.id), items, changes }
}

/** Unpacks a commit. Its puts have the generation with which they were packed, or 0. */
export function unpackCommit({ id, items, changes }: PackedCommit) {
  const require: Requirement[] = []
  const removed: Uint8Array[] = []
  const put: { readonly key: Uint8Array; readonly value: Uint8Array; readonly created: number }[] = []
  for (const { what, number, key, value } of items.flatMap(bytes => [...unpacked(bytes)])) {
    if (what === ABSENT) require.push({ key, absent: true })
    else if (what === VERSION) require.push({ key, version: number })
    else if (what === CREATED) require.push({ key, created: number })
    else if (what === HEAD) require.push({ key, head: number })
    else if (what === DELETE) removed.push(key)
    else put.push({ key, value: value!, created: number })
  }
  const decoder = new TextDecoder()
  const all = changes.flatMap(text => decodeChanges(decoder.decode(text)))
  return { id, require, delete: removed, put, changes: all }
}

/** Returns the buffers that must be transferred to the other thread. */
export function buffersOf({ items, changes }: PackedCommit): ArrayBuffer[] {
  return [...items, ...changes].map(({ buffer }) => buffer as ArrayBuffer)
}

function* itemsOf(commit: Packable): Iterable<Item> {
  for (const requirement of commit.require) {
    const { key } = requirement
    if ('absent' in requirement) yield { what: ABSENT, number: 0, key, value: null }
    else if ('version' in requirement) yield { what: VERSION, number: requirement.version, key, value: null }
    else if ('head' in requirement) yield { what: HEAD, number: requirement.head, key, value: null }
    else yield { what: CREATED, number: requirement.created, key, value: null }
  }
  for (const key of commit.delete) yield { what: DELETE, number: 0, key, value: null }
  for (const { key, value, created = 0 } of commit.put) yield { what: PUT, number: created, key, value }
}

function packed(items: readonly Item[]): Uint8Array {
  let length = 0
  for (const { key, value } of items) {
    length += HEAD_BYTES + key.length + (value === null ? 0 : VALUE_LENGTH_BYTES + value.length)
  }
  // A separate buffer outside Node's pool, because it is transferred.
  const bytes = Buffer.allocUnsafeSlow(length)
  let at = 0
  for (const { what, number, key, value } of items) {
    bytes[at] = what
    bytes.writeDoubleBE(number, at + 1)
    bytes.writeUInt16BE(key.length, at + 9)
    bytes.set(key, at + HEAD_BYTES)
    at += HEAD_BYTES + key.length
    if (value === null) continue
    bytes.writeUInt32BE(value.length, at)
    bytes.set(value, at + VALUE_LENGTH_BYTES)
    at += VALUE_LENGTH_BYTES + value.length
  }
  return viewOf(bytes)
}

function* unpacked(bytes: Uint8Array): Iterable<Item> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = 0; at < bytes.length;) {
    const what = bytes[at]!
    const number = view.getFloat64(at + 1)
    const keyStart = at + HEAD_BYTES
    const keyEnd = keyStart + view.getUint16(at + 9)
    const key = viewOf(bytes, keyStart, keyEnd)
    at = keyEnd
    if (what !== PUT) {
      yield { what, number, key, value: null }
      continue
    }
    const valueStart = keyEnd + VALUE_LENGTH_BYTES
    at = valueStart + view.getUint32(keyEnd)
    yield { what, number, key, value: viewOf(bytes, valueStart, at) }
  }
}
