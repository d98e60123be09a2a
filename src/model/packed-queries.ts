/**
 * Packed queries: many checks, kept as the bytes of their request. A packed query has the position of each
 * key in the bytes, and the terms that most checks of a bulk share. The engine looks keys up by their bytes
 * and creates no strings. `query` creates strings for other callers.
 *
 * Invariants, ensured by the code that fills it:
 * - Keys are UTF-8, unescaped and not empty.
 * - At least three more bytes can be read after the last byte of each key, because keys are read in words.
 * - `keyRanges` and `termsTable` can be longer than `count` queries need. The rest is undefined.
 * - The object is valid as long as its bytes are: until the response to its request is sent.
 */
import { type QueryContext, type Query, type SentAttributes, withoutAttributes } from './decision.ts'
import { LONG_KEY_BYTES_MAX, SHORT_KEY_LENGTH_MAX } from './limits.ts'

/** The terms of a query: all members except its two keys. */
export type QueryTerms = Pick<Query, 'type' | 'action' | 'tenant'>

/**
 * Marks a query whose subject is not a user. It is denied without a lookup and not counted as a decision. No
 * real type has an empty name.
 */
export const NOT_A_USER: QueryTerms = { type: '', action: '', tenant: null }

/**
 * Words of `keyRanges` for each query: two ranges [first byte, length]. A length of 0 means that there is no
 * key.
 */
export const RANGE_WORDS = 4
export const USER_RANGE = 0
export const KEY_RANGE = 2
export const RANGE_LENGTH = 1

/** Attributes and context of packed queries. They are parsed when a condition first needs them. */
export interface AttributesInBytes {
  /** The attributes of one query. Throws the error for a query with too many attributes. O(its text). */
  sent(index: number): SentAttributes
  /** The queries from that index on. */
  from(index: number): AttributesInBytes
  /** The same for a copy of the bytes. */
  in(bytes: DataView): AttributesInBytes
}

/** Readable bytes after the last key. */
const SLACK_BYTES = 3
/** Maximum number of UTF-8 bytes per UTF-16 code unit. */
const UNIT_BYTES_MAX = 3
/** Default maximum size of a body. Only inherited keys can add up to more. */
const PACKED_UNITS_MAX = 16 * 1_024 * 1_024

/** `ignoreBOM`: a key can begin with U+FEFF, which a decoder would drop. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

export class PackedQueries {
  readonly count: number
  /** Both are replaced if one object is reused for successive queries. */
  bytes: DataView
  keyRanges: Int32Array
  /**
   * False if the queries were read while their environment had no rules, and their attributes were not kept.
   * A rule that was added since then does not apply to them: it would treat attributes as missing that the
   * client has sent.
   */
  asksRules = true
  /** Time at which they were read, in milliseconds since 1970, if conditions may need it. */
  readAt: number | null = null
  /** Null if there are no attributes, or if no condition needs them. */
  attributes: AttributesInBytes | null = null
  /** The distinct terms; `terms` returns those of a query. */
  readonly termsTable: readonly QueryTerms[]
  /** Index of the terms in `termsTable` for each query. Null: entry i of the table belongs to query i. */
  readonly #termsIndex: Int32Array | null
  /** Shared by all queries without attributes; created on first use. */
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

  /** The terms of one query. */
  terms(index: number): QueryTerms {
    return this.termsTable[this.#termsIndex === null ? index : this.#termsIndex[index]!]!
  }

  /** Number of queries whose subject is not a user. O(count). */
  get nonUserCount(): number {
    let nonUsers = 0
    // Compares the length, because comparing strings is a function call.
    for (let index = 0; index < this.count; index++) if (this.terms(index).type.length === 0) nonUsers++
    return nonUsers
  }

  /** Data for conditions in addition to stored data; undefined if no condition can need it. */
  queryContext(index: number): QueryContext | undefined {
    const { readAt, attributes } = this
    if (readAt === null) return undefined
    if (attributes !== null) return new QueryContextInBytes(readAt, attributes, index)
    if (this.#queryContext?.readAt !== readAt) this.#queryContext = withoutAttributes(readAt)
    return this.#queryContext
  }

  /** A copy of the queries with separate memory. O(bytes). */
  detached(): PackedQueries {
    const { buffer, byteOffset, byteLength } = this.bytes
    const bytes = new DataView(buffer.slice(byteOffset, byteOffset + byteLength))
    const own = this.#over(bytes, this.keyRanges.slice(0, this.count * RANGE_WORDS), 0)
    own.attributes = this.attributes && this.attributes.in(bytes)
    return own
  }

  /** A range of the queries, over the same bytes. O(count). */
  part(from: number, count: number): PackedQueries {
    const ranges = this.keyRanges.subarray(from * RANGE_WORDS, (from + count) * RANGE_WORDS)
    const part = this.#over(this.bytes, ranges, from)
    part.attributes = this.attributes && this.attributes.from(from)
    return part
  }

  #over(bytes: DataView, keyRanges: Int32Array, from: number): PackedQueries {
    const count = keyRanges.length / RANGE_WORDS
    const terms = Array.from({ length: count }, (_, index) => this.terms(from + index))
    const packed = new PackedQueries(count, bytes, keyRanges, terms)
    packed.asksRules = this.asksRules
    packed.readAt = this.readAt
    return packed
  }

  /** One query as strings. */
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
      ...(this.readAt !== null && { queryContext: this.queryContext(index)! }),
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

/** Parses the attributes of a query when a condition first needs them. */
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
 * Packs queries in strings into new bytes. Returns null for queries that cannot be packed, or not cheaply:
 * strings longer than any stored key, empty keys, keys without a UTF-8 form, and queries whose total size is
 * too large. The last can happen because items of a batch share inherited members, while here each gets a
 * separate copy. O(queries): a bounded part of each string is read.
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

/** Gives queries with equal terms one object, so that the engine looks up each of them once. */
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
