/**
 * Jobs that an HTTP thread sends to the threads of its pool, as plain data and shared memory, and the
 * execution of parts of a bulk. Each job contains its index. Therefore a pool thread needs no other data, and
 * a new thread can replace any other.
 */
import type { SearchJob, SlicedJob } from '#decisions/decision-pool.ts'
import type { DecisionEngine } from '#engine/engine.ts'
import type { IndexHandle } from '#engine/index-handle.ts'
import type { ErrorData } from '#model/errors.ts'
import { PackedQueries, type QueryTerms, RANGE_WORDS } from '#model/packed-queries.ts'
import type { BulkPart } from './bulk-parts.ts'

/** Index for the decisions of a job. An index that is attached again has another number. */
export interface JobIndex {
  readonly environmentId: string
  readonly attachment: number
  readonly handle: IndexHandle
  /** Shared cell: not 0 if the index was replaced or removed. The thread must then release it. */
  readonly gone: Int32Array
}

export function markGone({ gone }: JobIndex): void {
  Atomics.store(gone, 0, 1)
}

export function isGone({ gone }: JobIndex): boolean {
  return Atomics.load(gone, 0) !== 0
}

/** The `over` cell of a read whose client is still connected. */
export function newOver(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
}

export function markOver(over: Int32Array): void {
  Atomics.store(over, 0, 1)
}

export function isOver(over: Int32Array): boolean {
  return Atomics.load(over, 0) !== 0
}

/**
 * A bulk in shared memory: its body, the ranges of the keys in the body, and space for the verdicts, one byte
 * per check.
 */
export interface SharedBulk {
  readonly memory: SharedArrayBuffer
  readonly count: number
  readonly bodyBytes: number
  /** The distinct terms of its queries. */
  readonly termsTable: readonly QueryTerms[]
}

/** Jobs that every thread of a pool supports. */
export type ThreadJob =
  /** Does nothing. Its result shows that the thread has started. */
  | { readonly kind: 'warm-up' }
  /** Releases the indexes that were replaced or removed. */
  | { readonly kind: 'let-go' }

export type PoolJob =
  | ThreadJob
  | {
      readonly kind: 'checks'
      readonly index: JobIndex
      readonly bulk: SharedBulk
      readonly part: BulkPart
    }
  | { readonly kind: 'search'; readonly index: JobIndex; readonly search: SearchJob }
  | {
      readonly kind: 'read'
      readonly index: JobIndex
      readonly read: SlicedJob
      /** Shared cell: not 0 if the client has disconnected. */
      readonly over: Int32Array
    }

/**
 * Result of a job. An error that the job threw deliberately is sent between threads as data. The same applies
 * to a fault that it found in the index, with the text for the log. Any other error is a fault of the thread,
 * and rejects.
 */
export type PoolAnswer<Value> =
  | { readonly value: Value }
  | { readonly error: ErrorData }
  | { readonly indexFault: string }

/**
 * Layout of the shared memory of a bulk. Each column has one entry per query and begins at a multiple of 8
 * bytes.
 *
 *     ┌ verdicts ┬ key ranges ┬ terms index ┬ body  ┐
 *     │ u8       │ 4 × i32    │ i32         │ bytes │
 */
interface BulkLayout {
  readonly keyRanges: number
  readonly termsIndex: number
  readonly body: number
  readonly end: number
}

export function layoutOf(count: number, bodyBytes: number): BulkLayout {
  const keyRanges = round8(count)
  const termsIndex = keyRanges + round8(count * RANGE_WORDS * 4)
  const body = termsIndex + round8(count * 4)
  return { keyRanges, termsIndex, body, end: body + round8(bodyBytes) }
}

/** Copies a bulk into memory that is large enough, see `layoutOf`. */
export function shareBulk(packed: PackedQueries, memory: SharedArrayBuffer): SharedBulk {
  const { count, bytes, keyRanges } = packed
  const layout = layoutOf(count, bytes.byteLength)
  new Int32Array(memory, layout.keyRanges, count * RANGE_WORDS).set(
    keyRanges.subarray(0, count * RANGE_WORDS),
  )
  // One megabyte takes 80 µs. With `set`, which copies to shared memory word by word, it would take 105 to
  // 130 µs.
  Buffer.from(memory, layout.body, bytes.byteLength).fill(
    new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  )
  const numbers = new Map<QueryTerms, number>()
  const termsIndex = new Int32Array(memory, layout.termsIndex, count)
  // Most consecutive queries have the same terms, or alternate between two.
  let terms: QueryTerms | null = null
  let otherTerms: QueryTerms | null = null
  let number = 0
  let otherNumber = 0
  for (let index = 0; index < count; index++) {
    const next = packed.terms(index)
    if (next !== terms) {
      const numberBefore = number
      if (next === otherTerms) number = otherNumber
      else {
        number = numbers.get(next) ?? numbers.size
        if (number === numbers.size) numbers.set(next, number)
      }
      otherTerms = terms
      otherNumber = numberBefore
      terms = next
    }
    termsIndex[index] = number
  }
  return { memory, count, bodyBytes: bytes.byteLength, termsTable: [...numbers.keys()] }
}

/** The body of the bulk. */
export function bodyOf({ memory, count, bodyBytes }: SharedBulk): DataView {
  return new DataView(memory, layoutOf(count, bodyBytes).body, bodyBytes)
}

export function verdictsOf({ memory, count }: SharedBulk): Uint8Array {
  return new Uint8Array(memory, 0, count)
}

/** Returns a part of the bulk, without its attributes and without copying it. */
export function partOf(bulk: SharedBulk, { from, count }: BulkPart): PackedQueries {
  const { memory, termsTable } = bulk
  const layout = layoutOf(bulk.count, bulk.bodyBytes)
  const keyRanges = new Int32Array(memory, layout.keyRanges + from * RANGE_WORDS * 4, count * RANGE_WORDS)
  const termsIndex = new Int32Array(memory, layout.termsIndex + from * 4, count)
  return new PackedQueries(count, bodyOf(bulk), keyRanges, termsTable, termsIndex)
}

/**
 * Decides a part of the bulk and writes the verdicts to their positions. Returns false if rules exist, which
 * need the attributes of the bulk. Throws the errors of the engine.
 */
export function decidePart(engine: DecisionEngine, bulk: SharedBulk, part: BulkPart): boolean {
  const verdicts = verdictsOf(bulk).subarray(part.from, part.from + part.count)
  return engine.evaluateWithoutRules(partOf(bulk, part), verdicts)
}

function round8(bytes: number): number {
  return (bytes + 7) & ~7
}
