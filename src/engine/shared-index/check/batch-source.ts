/** Sources of the queries of a batch: objects with strings, or the bytes of a body (`PackedQueries`). */
import * as L from '#engine/shared-index/memory/layout.ts'
import type { QueryContext, Query } from '#model/decision.ts'
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
  /** Prefetches the keys of `count` queries together. The returned number has no meaning. */
  prefetch(from: number, count: number): number
  terms(index: number): QueryTerms
  /** Reads the user key of a query into a row of the column. */
  readUser(index: number, column: KeyColumn, header: Int32Array, row: number): void
  /** Reads the key of the instance of this type into a row. Leaves the row empty if the query has no key. */
  readInstance(index: number, column: KeyColumn, header: Int32Array, row: number, type: number): void
  /** Returns one query as strings, for queries that a batch cannot decide. */
  query(index: number): Query
  /**
   * Returns the attributes and context of a query, which conditions can read in addition to stored values.
   */
  queryContext(index: number): QueryContext | undefined
}

export class QuerySource implements BatchSource {
  readonly asksRules: boolean
  readonly count: number
  readonly #queries: readonly Query[]

  constructor(queries: readonly Query[]) {
    // Queries of one request have the same value.
    this.asksRules = queries[0]?.asksRules !== false
    this.#queries = queries
    this.count = queries.length
  }

  /**
   * Strings are scattered over the heap. Reading one takes so long that the processor would not start loading
   * the next before the first has arrived.
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

  queryContext(index: number): QueryContext | undefined {
    return this.#queries[index]!.queryContext
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

  /** The keys are adjacent in the body and need no prefetch. */
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

  queryContext(index: number): QueryContext | undefined {
    return this.#packed.queryContext(index)
  }
}

/** Source for one query, or for packed queries. */
export function sourceOf(names: Query | PackedQueries): BatchSource {
  return names instanceof PackedQueries ? new PackedSource(names) : new QuerySource([names])
}
