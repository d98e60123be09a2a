/**
 * The two sources of a batch of queries: objects with strings (`Query`), and the bytes of a body
 * (`PackedQueries`).
 */
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
import type { Question } from '#model/question.ts'
import type { KeyColumn } from './key-column.ts'

export interface BatchSource {
  readonly count: number
  /**
   * Prefetches the keys of `count` queries. The returned number has no meaning; it keeps the compiler from
   * removing the loads.
   */
  prefetch(from: number, count: number): number
  terms(index: number): QueryTerms
  /** Reads the user key of a query into this row of the column. */
  readUser(index: number, column: KeyColumn, header: Int32Array, row: number): void
  /**
   * Reads the instance key of a query into this row of the column, as a key of this type. Leaves the row
   * empty if the query has no key.
   */
  readInstance(index: number, column: KeyColumn, header: Int32Array, row: number, type: number): void
  /** Returns one query as strings. Used for queries that a batch cannot decide. */
  query(index: number): Query
  /**
   * Returns the request attributes and the context of a query. Conditions can read both in addition to stored
   * values.
   */
  queryContext(index: number): QueryContext | undefined
}

export class QuerySource implements BatchSource {
  readonly count: number
  readonly #queries: readonly Query[]

  constructor(queries: readonly Query[]) {
    this.#queries = queries
    this.count = queries.length
  }

  /**
   * Strings are scattered over the heap. Reading a string takes so many instructions that the processor
   * cannot start to load the next string before the first one has arrived.
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

class PackedSource implements BatchSource {
  readonly count: number
  readonly #packed: PackedQueries

  constructor(packed: PackedQueries) {
    this.#packed = packed
    this.count = packed.count
  }

  /** Nothing to prefetch: the keys are adjacent in the body. */
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

export function sourceOf(question: Question): BatchSource {
  return question instanceof PackedQueries ? new PackedSource(question) : new QuerySource(question.checks)
}

/** Returns the source for a single query or for packed queries. */
export function sourceOfNames(names: Query | PackedQueries): BatchSource {
  return names instanceof PackedQueries ? new PackedSource(names) : new QuerySource([names])
}
