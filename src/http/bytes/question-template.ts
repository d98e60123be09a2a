/**
 * Form of a query, learned from a query that was read in full. The template consists of the text around the
 * two keys of the query. If the next query has the same text byte for byte, it is not read: its action, type,
 * tenant and all other parts must be the same.
 *
 *     {"user":{"key":"alice"},"action":"read","resource":{"type":"document","key":"plan"}}
 *     └──── span ────┘─key─└─────────────────────── span ───────────────────────┘key─└span┘
 *
 * Queries can also differ in values that are not read, such as a time among their attributes. The template
 * then has gaps for these values.
 *
 * Why the comparison is correct: If the learned query had a string in a gap, the gap must contain a string.
 * If it had a number, the gap must contain a number. The content of a string cannot change the meaning of the
 * JSON around it, and a number ends where a parser ends it. A key is never empty. If a span is not ASCII,
 * each match reports this, and the whole body is then checked for valid UTF-8. This is necessary because the
 * query from which the span was learned might have been invalid.
 */
import { type QueryTerms, KEY_RANGE, RANGE_LENGTH, USER_RANGE } from '#model/packed-queries.ts'
import type { BodyTexts } from './body-texts.ts'
import { BACKSLASH, numberEnd, QUOTE, REFUSED } from './plain-json.ts'
import { ATTRIBUTE_PARTS } from './question-fields.ts'
import type { AttributeRanges, SkippedValue } from './question-reader.ts'

const WORD = 4
const DOUBLE = 8
const ONES = 0x01010101
const BLANKS = 0x20202020
const QUOTES = 0x22222222
const BACKSLASHES = 0x5c5c5c5c
const HIGH_BITS = 0x80808080 | 0

/**
 * Values that replace the target of a key. They state that a gap contains a skipped string or a skipped
 * number, or that there is no gap.
 */
const SKIPPED_TEXT = -1
const SKIPPED_NUMBER = -2
const NO_GAP = -3

/**
 * Layout of a span in `#spans`: number of bytes, number of doubles, first and last word if there are no
 * doubles, and target of the key in the gap after the span.
 */
const SPAN_WORDS = 5
const SPAN_DOUBLES = 1
const SPAN_FIRST = 2
const SPAN_LAST = 3
const SPAN_GAP = 4

/** Part of a query between two spans. Its content can differ from query to query. */
interface Gap {
  readonly from: number
  readonly to: number
}

/** Source of a key: a range in the query, no source, or the defaults of the batch. */
export type KeyPlace = Gap | 'none' | 'inherited'

/** The query in `bytes[from, to)` from which a template is learned. */
export interface LearnedQuestion {
  readonly from: number
  readonly to: number
  readonly user: KeyPlace
  readonly key: KeyPlace
  readonly terms: QueryTerms
  readonly skipped: readonly SkippedValue[]
  /** Whether the template allows the skipped values to differ. */
  readonly isWide: boolean
  readonly saysAttributes: boolean
  /** See `QuestionReader`. */
  readonly attributes: AttributeRanges | null
}

export class QuestionTemplate {
  /** Positive number that no other template of the reader has. */
  readonly number: number
  readonly terms: QueryTerms
  /** Whether the queries contain attributes or context that conditions can read. */
  readonly saysAttributes: boolean
  /**
   * Spans before, between and after the gaps, with `SPAN_WORDS` numbers each. One of these numbers is the
   * kind of the gap after the span. All spans share one array, and all compared bytes share another one,
   * because access to nested arrays takes longer than the comparison.
   */
  readonly #spans: Int32Array
  /**
   * Bytes of all spans of at least eight bytes, as doubles. If the length of a span is not a multiple of
   * eight, its last double overlaps the previous one.
   */
  readonly #doubles: Float64Array
  /** Indexes of the key ranges that are copied from the defaults, and of the key ranges that stay empty. */
  readonly #inherited: readonly number[]
  readonly #none: readonly number[]
  /** Number of keys in the query itself, without inherited keys. */
  readonly #keyCount: number
  readonly #skippedCount: number
  readonly #isWide: boolean
  readonly #isAscii: boolean
  /**
   * For each start and end of attributes: its span, and the offset within this span. Null if some attributes
   * are outside the `ATTRIBUTE_PARTS`.
   */
  readonly #attributePlaces: Int32Array | null
  readonly #attributes = new Int32Array(2 * ATTRIBUTE_PARTS.length)

  constructor(bytes: Uint8Array, question: LearnedQuestion, number: number) {
    this.number = number
    const { from, to, user, key, terms, skipped, isWide } = question
    this.terms = terms
    this.saysAttributes = question.saysAttributes
    const places = [
      { slot: USER_RANGE, place: user },
      { slot: KEY_RANGE, place: key },
    ]
    const keys = places.flatMap(({ slot, place }) => (typeof place === 'object' ? [{ slot, ...place }] : []))
    const values = skipped.map(value => ({ ...value, slot: value.isString ? SKIPPED_TEXT : SKIPPED_NUMBER }))
    const gaps: { slot: number; from: number; to: number }[] = [...keys, ...(isWide ? values : [])]
    gaps.sort((left, right) => left.from - right.from)
    const slotsWith = (wanted: KeyPlace) =>
      places.filter(({ place }) => place === wanted).map(({ slot }) => slot)
    this.#inherited = slotsWith('inherited')
    this.#none = slotsWith('none')
    this.#keyCount = keys.length
    this.#skippedCount = skipped.length
    this.#isWide = isWide
    const begins = [from, ...gaps.map(gap => gap.to)]
    const spans = [...gaps, { slot: NO_GAP, from: to }].map((gap, index) => ({
      slot: gap.slot,
      bytes: bytes.subarray(begins[index], gap.from),
    }))
    this.#spans = Int32Array.from(
      spans.flatMap(span => [
        span.bytes.length,
        doublesOf(span.bytes).length,
        ...wordsOf(span.bytes),
        span.slot,
      ]),
    )
    this.#doubles = Float64Array.from(spans.flatMap(span => doublesOf(span.bytes)))
    this.#isAscii = spans.every(span => span.bytes.every(byte => byte < 0x80))
    this.#attributePlaces = question.attributes && placesIn(question.attributes, begins)
  }

  /**
   * Positions of the attributes in a query that begins at `from` and matched this template. The result is
   * valid until the next call. Null if some attributes are outside the `ATTRIBUTE_PARTS`. O(length of the
   * query).
   */
  attributesIn(bytes: DataView, from: number, limit: number): AttributeRanges | null {
    const places = this.#attributePlaces
    if (places === null) return null
    const spans = this.#spans
    const ranges = this.#attributes
    let place = 0
    let next = from
    for (let span = 0; ; span += SPAN_WORDS) {
      for (; places[place] === span; place += PLACE_WORDS)
        ranges[places[place + 2]!] = next + places[place + 1]!
      next += spans[span]!
      const slot = spans[span + SPAN_GAP]!
      if (slot === NO_GAP) return ranges
      next = slot === SKIPPED_NUMBER ? numberEnd(bytes, next, limit) : knownTextEnd(bytes, next, limit)
    }
  }

  /**
   * Whether the query probably differs from this template only in skipped values, and this template has no
   * gaps for them.
   */
  isTooNarrowFor({ terms, user, key, skipped }: Omit<LearnedQuestion, 'from' | 'to' | 'isWide'>): boolean {
    const { type, action, tenant } = this.terms
    return (
      !this.#isWide &&
      skipped.length > 0 &&
      skipped.length === this.#skippedCount &&
      type === terms.type &&
      action === terms.action &&
      tenant === terms.tenant &&
      this.#keyCount === [user, key].filter(place => typeof place === 'object').length
    )
  }

  /**
   * Compares the text that begins at `at` with the template. If it matches, stores the positions of the keys
   * and returns the offset after the query. Otherwise returns `REFUSED`. `limit`: length of the body, passed
   * as an argument because `byteLength` of a view is a function call. `defaults`: positions of the keys that
   * the query inherits.
   */
  match(
    bytes: DataView,
    at: number,
    limit: number,
    keyRanges: Int32Array,
    range: number,
    defaults: Int32Array,
    texts: BodyTexts,
  ): number {
    const spans = this.#spans
    const doubles = this.#doubles
    let next = at
    let double = 0
    for (let span = 0; ; span += SPAN_WORDS) {
      const length = spans[span]!
      const end = next + length
      if (end > limit) return REFUSED
      const last = double + spans[span + SPAN_DOUBLES]! - 1
      if (last < double) {
        if (!isShort(bytes, next, length, spans[span + SPAN_FIRST]!, spans[span + SPAN_LAST]!)) return REFUSED
      } else {
        for (; double < last; double++) {
          if (bytes.getFloat64(next, true) !== doubles[double]) return REFUSED
          next += DOUBLE
        }
        if (bytes.getFloat64(end - DOUBLE, true) !== doubles[double]) return REFUSED
        double++
      }
      next = end
      const slot = spans[span + SPAN_GAP]!
      if (slot === NO_GAP) break
      if (slot < 0) {
        next = slot === SKIPPED_NUMBER ? numberEnd(bytes, next, limit) : skippedEnd(bytes, next, limit, texts)
        if (next === REFUSED) return REFUSED
        continue
      }
      const place = range + slot
      const keyEnd = plainEnd(bytes, next, limit)
      if (keyEnd > next) {
        keyRanges[place] = next
        keyRanges[place + RANGE_LENGTH] = keyEnd - next
        next = keyEnd
        continue
      }
      // The last byte of the span is the quote before the key. Reading begins at this quote.
      const behind = texts.keyEnd(next - 1)
      if (behind === REFUSED) return REFUSED
      keyRanges[place] = texts.keyAt
      keyRanges[place + RANGE_LENGTH] = texts.keyLength
      next = behind - 1
    }
    if (!this.#isAscii) texts.isAscii = false
    if (this.#keyCount === 2) return next
    for (const slot of this.#inherited) {
      keyRanges[range + slot] = defaults[slot]!
      keyRanges[range + slot + RANGE_LENGTH] = defaults[slot + RANGE_LENGTH]!
    }
    for (const slot of this.#none) {
      keyRanges[range + slot] = 0
      keyRanges[range + slot + RANGE_LENGTH] = 0
    }
    return next
  }
}

/**
 * Layout of an entry for a start or end of attributes: offset of its span in `#spans`, offset within the
 * span, and index in the result.
 */
const PLACE_WORDS = 3

/**
 * Starts and ends of the attributes in ascending order, without absent attributes. `begins`: start offset of
 * each span.
 */
function placesIn(ranges: AttributeRanges, begins: readonly number[]): Int32Array {
  const there = Array.from(ranges, (at, which) => ({ at, which })).filter(
    ({ which }) => ranges[which | 1] !== 0,
  )
  const places = there.map(({ at, which }) => {
    // The end of attributes is the offset after a brace. This brace belongs to the span before the gap, even
    // if the gap begins at this offset.
    const isEnd = (which & 1) === 1
    const span = begins.findLastIndex(begin => (isEnd ? begin < at : begin <= at))
    return { span, behind: at - begins[span]!, which }
  })
  places.sort((one, other) => one.span - other.span || one.behind - other.behind)
  return Int32Array.from(places.flatMap(({ span, behind, which }) => [span * SPAN_WORDS, behind, which]))
}

/**
 * A text of at least eight bytes as doubles. An empty list if the text is shorter. Comparing doubles is safe:
 * equal doubles have equal bytes, except for 0 and -0. The bytes of these two contain NUL, which never occurs
 * in JSON. NaN is never equal, not even to itself, but its bytes are not valid UTF-8.
 */
function doublesOf(text: Uint8Array): number[] {
  const view = new DataView(text.buffer, text.byteOffset, text.length)
  if (text.length < DOUBLE) return []
  return Array.from({ length: Math.ceil(text.length / DOUBLE) }, (_, index) =>
    view.getFloat64(Math.min(index * DOUBLE, text.length - DOUBLE), true),
  )
}

/**
 * The first four and the last four bytes of a text of fewer than eight bytes, as two words. If the text has
 * fewer than four bytes, only the first word is used.
 */
function wordsOf(text: Uint8Array): [first: number, last: number] {
  const wordAt = (from: number) =>
    text.subarray(from, from + WORD).reduce((word, byte, index) => word | (byte << (index << 3)), 0)
  return [wordAt(0), wordAt(Math.max(0, text.length - WORD))]
}

/** Whether the bytes at `at` equal a text of fewer than eight bytes, given as the two words of `wordsOf`. */
function isShort(bytes: DataView, at: number, length: number, first: number, last: number): boolean {
  if (length >= WORD) {
    return bytes.getInt32(at, true) === first && bytes.getInt32(at + length - WORD, true) === last
  }
  for (let index = 0; index < length; index++) {
    if (bytes.getUint8(at + index) !== ((first >>> (index << 3)) & 0xff)) return false
  }
  return true
}

/** Offset of the closing quote of a string that was already found to be valid. */
function knownTextEnd(bytes: DataView, from: number, limit: number): number {
  let end = plainEnd(bytes, from, limit)
  if (end !== REFUSED) return end
  for (end = from; bytes.getUint8(end) !== QUOTE; end++) if (bytes.getUint8(end) === BACKSLASH) end++
  return end
}

/**
 * Offset of the closing quote of a skipped string. `REFUSED` if the string is invalid or does not end within
 * `NEAR_BYTES`.
 */
function skippedEnd(bytes: DataView, from: number, limit: number, texts: BodyTexts): number {
  const end = plainEnd(bytes, from, limit)
  if (end !== REFUSED) return end
  const behind = texts.nearSkippedEnd(from - 1)
  return behind === REFUSED ? REFUSED : behind - 1
}

/**
 * Offset of the closing quote of an ASCII string without escapes. `REFUSED` if the string contains other
 * characters or ends within the last bytes of the body.
 *
 * The function tests four bytes at a time. A subtraction sets the high bit of each byte that is a control
 * character, a quote or a backslash. A borrow can also set the high bit of a byte above such a byte. The
 * lowest byte with a high bit is therefore always correct.
 */
function plainEnd(bytes: DataView, from: number, limit: number): number {
  const last = limit - 4
  for (let at = from; at <= last; at += 4) {
    const word = bytes.getInt32(at, true)
    const quotes = word ^ QUOTES
    const backslashes = word ^ BACKSLASHES
    const alarm =
      (word |
        ((word - BLANKS) & ~word) |
        ((quotes - ONES) & ~quotes) |
        ((backslashes - ONES) & ~backslashes)) &
      HIGH_BITS
    if (alarm === 0) continue
    const end = at + ((31 - Math.clz32(alarm & -alarm)) >>> 3)
    return bytes.getUint8(end) === QUOTE ? end : REFUSED
  }
  return REFUSED
}
