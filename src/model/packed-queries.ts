/**
 * Many questions, kept as the bytes of their request. It holds where each key lies in the bytes, and the terms: what
 * most questions of a bulk share. The engine looks keys up by their bytes and makes no strings. `query` makes strings
 * for all other callers.
 *
 * Invariants, kept by the code that fills it:
 * - Keys are UTF-8, unescaped and not empty.
 * - At least three more bytes can be read behind the last byte of each key, because keys are read word by word.
 * - `keyRanges` and `termsTable` may be longer than `count` questions need. The rest means nothing.
 * - The object is valid as long as its bytes are: until its request is answered.
 */
import { type Circumstances, type Query, type SentAttributes, withoutAttributes } from './decision.ts'
import { LONG_KEY_BYTES_MAX, SHORT_KEY_LENGTH_MAX } from './limits.ts'

/** The terms of a question: all it asks except its two keys. */
export type QueryTerms = Pick<Query, 'type' | 'action' | 'tenant'>

/**
 * Marks a question whose subject is not a user. It is denied without a lookup and not counted as a decision. No real
 * type has an empty name.
 */
export const NOT_A_USER: QueryTerms = { type: '', action: '', tenant: null }

/** Words of `keyRanges` for each question: two ranges [first byte, length]. A length of 0 means there is no key. */
export const RANGE_WORDS = 4
export const USER_RANGE = 0
export const KEY_RANGE = 2
export const RANGE_LENGTH = 1

/** What packed questions say beside their keys and terms: nothing of it is parsed before a condition asks. */
export interface SaidInBytes {
  /** Of one question. Throws what a question with too many attributes is refused with. O(its text). */
  sent(index: number): SentAttributes
  /** Of the questions from that one on. */
  from(index: number): SaidInBytes
  /** The same in a copy of the bytes. */
  in(bytes: DataView): SaidInBytes
}

/** Readable bytes behind the last key. */
const SLACK_BYTES = 3
/** The most bytes of UTF-8 that one unit of UTF-16 takes. */
const UNIT_BYTES_MAX = 3
/** The largest body has as many bytes by default. Only inherited keys can add up to more. */
const PACKED_UNITS_MAX = 16 * 1_024 * 1_024

/** `ignoreBOM`: a key may begin with U+FEFF, which a decoder would drop. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

export class PackedQueries {
  readonly count: number
  /** These two are replaced when one object is used for one question after the other. */
  bytes: DataView
  keyRanges: Int32Array
  /**
   * False: they were read while their environment had no rules, and nothing was kept of what they say. A rule that has come since does
   * not decide them: it would find attributes missing that were sent.
   */
  asksRules = true
  /** When they were read, in milliseconds since 1970, where conditions may ask for it. */
  readAt: number | null = null
  /** Null: they say nothing beside their keys and terms, or nobody asks for it. */
  said: SaidInBytes | null = null
  /** The different terms; `terms` says which of them a question has. */
  readonly termsTable: readonly QueryTerms[]
  /** For each question the position of its terms in `termsTable`. Null: entry i of the table is that of question i. */
  readonly #termsIndex: Int32Array | null
  /** Those of all questions, once somebody has asked for them. */
  #circumstances: Circumstances | undefined

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

  /** The terms of one question. */
  terms(index: number): QueryTerms {
    return this.termsTable[this.#termsIndex === null ? index : this.#termsIndex[index]!]!
  }

  /** How many of the questions ask about a subject that is not a user. O(count). */
  get nonUserCount(): number {
    let nonUsers = 0
    // It compares the length, because comparing texts is a call.
    for (let index = 0; index < this.count; index++) if (this.terms(index).type.length === 0) nonUsers++
    return nonUsers
  }

  /** What conditions may ask for beside what is stored, where they may ask at all. */
  circumstances(index: number): Circumstances | undefined {
    const { readAt, said } = this
    if (readAt === null) return undefined
    if (said !== null) return new CircumstancesInBytes(readAt, said, index)
    if (this.#circumstances?.readAt !== readAt) this.#circumstances = withoutAttributes(readAt)
    return this.#circumstances
  }

  /** The same questions, on memory of their own. O(bytes). */
  detached(): PackedQueries {
    const { buffer, byteOffset, byteLength } = this.bytes
    const bytes = new DataView(buffer.slice(byteOffset, byteOffset + byteLength))
    const own = this.#over(bytes, this.keyRanges.slice(0, this.count * RANGE_WORDS), 0)
    own.said = this.said && this.said.in(bytes)
    return own
  }

  /** Some neighbours, over the same bytes. O(count). */
  part(from: number, count: number): PackedQueries {
    const ranges = this.keyRanges.subarray(from * RANGE_WORDS, (from + count) * RANGE_WORDS)
    const part = this.#over(this.bytes, ranges, from)
    part.said = this.said && this.said.from(from)
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

  /** One question in strings. */
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
      ...(this.readAt !== null && { circumstances: this.circumstances(index)! }),
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

/** Reads what a question says when a condition first asks for it. */
class CircumstancesInBytes implements Circumstances {
  readonly readAt: number
  readonly #said: SaidInBytes
  readonly #index: number
  #sent: SentAttributes | null = null

  constructor(readAt: number, said: SaidInBytes, index: number) {
    this.readAt = readAt
    this.#said = said
    this.#index = index
  }

  sent(): SentAttributes {
    return (this.#sent ??= this.#said.sent(this.#index))
  }
}

/**
 * Packs questions in strings into bytes of their own. Returns null for what cannot be packed, or not cheaply: texts
 * longer than any key that is stored, empty keys, keys without a UTF-8 form, and questions that are too long together.
 * The last can happen because items of a batch share what they inherit, while here each gets its own copy.
 * O(questions): a bounded part of each text is read.
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

/** Gives questions with equal terms one object, so that the engine looks each of them up once. */
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
