/**
 * Packed queries: many checks in the form of the bytes of their request. A packed query consists of the
 * position of each of its keys in the bytes, and of its terms, which most checks of a bulk share. The engine
 * looks up keys by their bytes, without creating strings. `query` creates the strings for other callers.
 *
 * Invariants, which the code that packs queries must ensure:
 * - Keys are UTF-8, unescaped and not empty.
 * - At least three more bytes can be read after the last byte of each key, because keys are read in words.
 * - `keyRanges` and `termsTable` can be longer than `count` queries need. The rest is undefined.
 * - The object is valid only as long as its bytes are: until the response to its request is sent.
 */
import { type QueryContext, type Query, type SentAttributes, withoutAttributes } from './decision.ts'
import { LONG_KEY_BYTES_MAX, SHORT_KEY_LENGTH_MAX } from './limits.ts'

/** Terms of a query: all its members except its two keys. */
export type QueryTerms = Pick<Query, 'type' | 'action' | 'tenant'>

/**
 * Terms of a query whose subject is not a user. Such a query is denied without a lookup, and it is not
 * counted as a decision. Its type has an empty name, which no real type has.
 */
export const NOT_A_USER: QueryTerms = { type: '', action: '', tenant: null }

/**
 * Words of `keyRanges` for each query. They contain two ranges [first byte, length]: of the user key and of
 * the instance key. A length of 0 means that the query has no such key.
 */
export const RANGE_WORDS = 4
export const USER_RANGE = 0
export const KEY_RANGE = 2
export const RANGE_LENGTH = 1

/** Attributes and context of packed queries. They are parsed when a condition first needs them. */
export interface AttributesInBytes {
  /**
   * Returns the attributes of one query. If the query has too many attributes, throws the error for that.
   * O(length of the query's text).
   */
  sent(index: number): SentAttributes
  /** Returns the attributes of the queries that begin with this index. */
  from(index: number): AttributesInBytes
  /** Returns the same attributes for a copy of the bytes. */
  in(bytes: DataView): AttributesInBytes
}

/** Number of bytes that must be readable after the last key. */
const SLACK_BYTES = 3
/** Maximum number of UTF-8 bytes per UTF-16 code unit. */
const UNIT_BYTES_MAX = 3
/**
 * Maximum total number of UTF-16 code units in the strings. It equals the default maximum size of a body;
 * only inherited keys can make the total larger.
 */
const PACKED_UNITS_MAX = 16 * 1_024 * 1_024

/** Without `ignoreBOM`, the decoder would remove U+FEFF from the beginning of a key. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/**
 * Data of packed queries for conditions. It is read only if a condition needs it, because most queries are
 * decided without it.
 */
export interface PackedContext {
  /** Returns the time at which the queries were read, in milliseconds since 1970. */
  readonly now: () => number
  /** Returns the attributes of the queries, or null if they have none. */
  readonly attributes: () => AttributesInBytes | null
}

export class PackedQueries {
  readonly count: number
  /** Whether the request contains one query, and not a list. */
  isSingle = false
  bytes: DataView
  keyRanges: Int32Array
  /** Null if the request contained no attributes and its time is not known. */
  #context: PackedContext | null = null
  /** Values of `#context`. `undefined` until a condition or a copy first needs them. */
  #readAt: number | undefined
  #attributes: AttributesInBytes | null | undefined
  /** The distinct terms. `terms` returns those of one query. */
  readonly termsTable: readonly QueryTerms[]
  /**
   * For each query, the index of its terms in `termsTable`. If it is null, the terms of query i are entry i
   * of the table.
   */
  readonly #termsIndex: Int32Array | null
  /** Query context of all queries without attributes; created on first use. */
  #queryContext: QueryContext | undefined

  constructor(
    count: number,
    bytes: DataView,
    keyRanges: Int32Array,
    termsTable: readonly QueryTerms[],
    termsIndex: Int32Array | null = null,
  ) {
    this.count = count
    this.bytes = bytes
    this.keyRanges = keyRanges
    this.termsTable = termsTable
    this.#termsIndex = termsIndex
  }

  /** Replaces the bytes of the queries, so that one object can serve several requests. */
  reuse(bytes: DataView, keyRanges: Int32Array, context: PackedContext): this {
    this.bytes = bytes
    this.keyRanges = keyRanges
    return this.in(context)
  }

  /** Sets the data for conditions. */
  in(context: PackedContext): this {
    this.#context = context
    this.#readAt = undefined
    this.#attributes = undefined
    return this
  }

  /** Returns the terms of one query. */
  terms(index: number): QueryTerms {
    return this.termsTable[this.#termsIndex === null ? index : this.#termsIndex[index]!]!
  }

  /** Returns the number of queries whose subject is not a user. O(count). */
  get nonUserCount(): number {
    let nonUsers = 0
    // Compares the length of the type, because comparing strings would be a function call.
    for (let index = 0; index < this.count; index++) if (this.terms(index).type.length === 0) nonUsers++
    return nonUsers
  }

  /**
   * Returns data for conditions, in addition to stored data. Returns undefined if the request contained no
   * attributes and its time is not known.
   */
  queryContext(index: number): QueryContext | undefined {
    const context = this.#context
    if (context === null) return undefined
    const readAt = (this.#readAt ??= context.now())
    const attributes = this.#attributesOf(context)
    if (attributes !== null) return new QueryContextInBytes(readAt, attributes, index)
    if (this.#queryContext?.readAt !== readAt) this.#queryContext = withoutAttributes(readAt)
    return this.#queryContext
  }

  #attributesOf(context: PackedContext): AttributesInBytes | null {
    if (this.#attributes === undefined) this.#attributes = context.attributes()
    return this.#attributes
  }

  /** Returns a copy of the queries that has its own memory. O(bytes). */
  detached(): PackedQueries {
    const { buffer, byteOffset, byteLength } = this.bytes
    const bytes = new DataView(buffer.slice(byteOffset, byteOffset + byteLength))
    const keyRanges = this.keyRanges.slice(0, this.count * RANGE_WORDS)
    const own = this.#over(bytes, keyRanges, 0, attributes => attributes.in(bytes))
    own.isSingle = this.isSingle
    return own
  }

  /** Returns the data for conditions, for a copy of the bytes. Null if there is none. */
  contextIn(bytes: DataView): PackedContext | null {
    return this.#contextWith(attributes => attributes.in(bytes))
  }

  /** Returns a range of the queries, without copying the bytes. O(count). */
  part(from: number, count: number): PackedQueries {
    const ranges = this.keyRanges.subarray(from * RANGE_WORDS, (from + count) * RANGE_WORDS)
    return this.#over(this.bytes, ranges, from, attributes => attributes.from(from))
  }

  #over(
    bytes: DataView,
    keyRanges: Int32Array,
    from: number,
    moved: (attributes: AttributesInBytes) => AttributesInBytes,
  ): PackedQueries {
    const count = keyRanges.length / RANGE_WORDS
    const terms = Array.from({ length: count }, (_, index) => this.terms(from + index))
    const packed = new PackedQueries(count, bytes, keyRanges, terms)
    const context = this.#contextWith(moved)
    return context === null ? packed : packed.in(context)
  }

  #contextWith(moved: (attributes: AttributesInBytes) => AttributesInBytes): PackedContext | null {
    const context = this.#context
    if (context === null) return null
    const readAt = (this.#readAt ??= context.now())
    const attributes = this.#attributesOf(context)
    const own = attributes && moved(attributes)
    return { now: () => readAt, attributes: () => own }
  }

  /** Returns one query as strings. */
  query(index: number): Query {
    const { keyRanges } = this
    const range = index * RANGE_WORDS
    const keyBytes = keyRanges[range + KEY_RANGE + RANGE_LENGTH]!
    const { type, action, tenant } = this.terms(index)
    return {
      user: this.#text(keyRanges[range + USER_RANGE]!, keyRanges[range + USER_RANGE + RANGE_LENGTH]!),
      action,
      type,
      key: keyBytes === 0 ? null : this.#text(keyRanges[range + KEY_RANGE]!, keyBytes),
      tenant,
      ...(this.#context !== null && { queryContext: this.queryContext(index)! }),
    }
  }

  #text(from: number, length: number): string {
    const { bytes } = this
    let text = ''
    for (let at = from; at < from + length; at++) {
      const byte = bytes.getUint8(at)
      if (byte >= 0x80) return this.#decoded(from, length)
      text += String.fromCharCode(byte)
    }
    return text
  }

  #decoded(from: number, length: number): string {
    const { buffer, byteOffset } = this.bytes
    return decoder.decode(new Uint8Array(buffer, byteOffset + from, length))
  }
}

/**
 * Query context of one packed query. Parses the attributes of the query when a condition first needs them.
 */
class QueryContextInBytes implements QueryContext {
  readonly readAt: number
  readonly #attributes: AttributesInBytes
  readonly #index: number
  #sent: SentAttributes | null = null

  constructor(readAt: number, attributes: AttributesInBytes, index: number) {
    this.readAt = readAt
    this.#attributes = attributes
    this.#index = index
  }

  sent(): SentAttributes {
    return (this.#sent ??= this.#attributes.sent(this.#index))
  }
}

/**
 * Packs queries that consist of strings into new bytes. Returns null if a query cannot be packed, because it
 * has an empty key, a key without a UTF-8 form, or a string that is longer than any stored key. Also returns
 * null if the queries are too large in total. This can happen because items of a batch share inherited
 * members, while each packed query has its own copy. O(queries), because only a limited part of each string
 * is read.
 */
export function packQueries(queries: readonly Query[]): PackedQueries | null {
  let units = 0
  for (const { user, key, type, action, tenant } of queries) {
    if (!isPackable(user) || (key !== null && !isPackable(key))) return null
    if (Math.max(type.length, action.length, tenant?.length ?? 0) > SHORT_KEY_LENGTH_MAX) return null
    units += user.length + (key === null ? 0 : key.length)
  }
  if (units > PACKED_UNITS_MAX) return null
  const bytes = Buffer.allocUnsafeSlow(units * UNIT_BYTES_MAX + SLACK_BYTES)
  const keyRanges = new Int32Array(queries.length * RANGE_WORDS)
  let end = 0
  const put = (key: string, range: number): void => {
    keyRanges[range] = end
    keyRanges[range + RANGE_LENGTH] = bytes.write(key, end)
    end += keyRanges[range + RANGE_LENGTH]!
  }
  const shared = new SharedTerms()
  const termsTable = queries.map((query, index) => {
    put(query.user, index * RANGE_WORDS + USER_RANGE)
    if (query.key !== null) put(query.key, index * RANGE_WORDS + KEY_RANGE)
    return shared.of(query)
  })
  return new PackedQueries(
    queries.length,
    new DataView(bytes.buffer, 0, end + SLACK_BYTES),
    keyRanges,
    termsTable,
  )
}

function isPackable(key: string): boolean {
  return key !== '' && key.length <= LONG_KEY_BYTES_MAX && key.isWellFormed()
}

/** Replaces equal terms by one object, so that the engine looks up each terms only once. */
class SharedTerms {
  readonly #known = new Map<string, QueryTerms>()
  #last: QueryTerms | null = null

  of({ type, action, tenant }: QueryTerms): QueryTerms {
    const last = this.#last
    if (last !== null && last.type === type && last.action === action && last.tenant === tenant) return last
    const name = JSON.stringify([type, action, tenant])
    const terms = this.#known.get(name) ?? { type, action, tenant }
    this.#known.set(name, terms)
    this.#last = terms
    return terms
  }
}
