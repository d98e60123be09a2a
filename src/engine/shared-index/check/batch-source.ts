/** Where the questions of a batch come from: objects with strings, or the bytes of a body (`PackedQueries`). */
import * as L from '#engine/shared-index/memory/layout.ts'
import type { Circumstances, Query } from '#model/decision.ts'
import {
  PackedQueries,
  type QueryTerms,
  KEY_RANGE,
  RANGE_LENGTH,
  USER_RANGE,
  RANGE_WORDS,
} from '#model/packed-queries.ts'
import type { KeyColumn } from './key-column.ts'

export interface BatchSource {
  /** See `PackedQueries.asksRules`. */
  readonly asksRules: boolean
  readonly count: number
  /** Prefetches the keys of `count` questions together. The returned number means nothing. */
  prefetch(from: number, count: number): number
  terms(index: number): QueryTerms
  /** Reads the user's key of a question into a row of the column. */
  readUser(index: number, column: KeyColumn, header: Int32Array, row: number): void
  /** Reads the instance's key of this type into a row. Leaves the row empty if the question has none. */
  readInstance(index: number, column: KeyColumn, header: Int32Array, row: number, type: number): void
  /** One question in strings, for questions that no batch can answer. */
  query(index: number): Query
  /** What conditions may ask for beside what is stored. */
  circumstances(index: number): Circumstances | undefined
}

export class QuerySource implements BatchSource {
  readonly asksRules: boolean
  readonly count: number
  readonly #queries: readonly Query[]

  constructor(queries: readonly Query[]) {
    // Those of one request were read together.
    this.asksRules = queries[0]?.asksRules !== false
    this.#queries = queries
    this.count = queries.length
  }

  /**
   * Texts lie scattered over the heap. Reading one takes so long that the processor would not reach the next
   * before it has arrived.
   */
  prefetch(from: number, count: number): number {
    const queries = this.#queries
    let sink = 0
    for (let index = from; index < from + count; index++) {
      const { user, key } = queries[index]!
      sink ^= user.charCodeAt(0)
      if (key !== null) sink ^= key.charCodeAt(0)
    }
    return sink
  }

  terms(index: number): QueryTerms {
    return this.#queries[index]!
  }

  readUser(index: number, column: KeyColumn, header: Int32Array, row: number): void {
    column.read(header, row, this.#queries[index]!.user, L.USER_TYPE)
  }

  readInstance(index: number, column: KeyColumn, header: Int32Array, row: number, type: number): void {
    const { key } = this.#queries[index]!
    if (key === null) column.skip(row)
    else column.read(header, row, key, type)
  }

  query(index: number): Query {
    return this.#queries[index]!
  }

  circumstances(index: number): Circumstances | undefined {
    return this.#queries[index]!.circumstances
  }
}

export class PackedSource implements BatchSource {
  readonly asksRules: boolean
  readonly count: number
  readonly #packed: PackedQueries

  constructor(packed: PackedQueries) {
    this.#packed = packed
    this.count = packed.count
    this.asksRules = packed.asksRules
  }

  /** The keys lie side by side in the body, so nothing needs a prefetch. */
  prefetch(): number {
    return 0
  }

  terms(index: number): QueryTerms {
    return this.#packed.terms(index)
  }

  readUser(index: number, column: KeyColumn, header: Int32Array, row: number): void {
    const { bytes, keyRanges } = this.#packed
    const range = index * RANGE_WORDS
    const length = keyRanges[range + USER_RANGE + RANGE_LENGTH]!
    column.readBytes(header, row, bytes, keyRanges[range + USER_RANGE]!, length, L.USER_TYPE)
  }

  readInstance(index: number, column: KeyColumn, header: Int32Array, row: number, type: number): void {
    const { bytes, keyRanges } = this.#packed
    const range = index * RANGE_WORDS
    const length = keyRanges[range + KEY_RANGE + RANGE_LENGTH]!
    if (length === 0) column.skip(row)
    else column.readBytes(header, row, bytes, keyRanges[range + KEY_RANGE]!, length, type)
  }

  query(index: number): Query {
    return this.#packed.query(index)
  }

  circumstances(index: number): Circumstances | undefined {
    return this.#packed.circumstances(index)
  }
}

/** One question, or packed ones. */
export function sourceOf(names: Query | PackedQueries): BatchSource {
  return names instanceof PackedQueries ? new PackedSource(names) : new QuerySource([names])
}
