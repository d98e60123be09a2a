/**
 * What a question looked like, learned from one that was read: the text around its two keys. The next one that looks the
 * same, byte for byte, needs no reading; action, type, tenant and whatever else the text says are the same, too.
 *
 *   {"user":{"key":"alice"},"action":"read","resource":{"type":"document","key":"plan"}}
 *   └──── span ────┘─key─└─────────────────────── span ───────────────────────┘key─└span┘
 *
 * Where questions differ in what nobody reads (a time, an address in their attributes), there are gaps for that as well.
 *
 * Why that is sound: between the same spans stands a string, where one stood before, or a number where one did; the
 * inside of a string cannot change what JSON means around it, and a number ends where it does for the parser. A key is not
 * empty. Of spans in another script it is told each time that they are, so that the whole body is looked at: what they were
 * learned from may have been no text.
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

/** In place of the target of a key: the gap is a value that is not read; or there is no gap. */
const SKIPPED_TEXT = -1
const SKIPPED_NUMBER = -2
const NO_GAP = -3

/**
 * Of a span: how many bytes, how many doubles, if there are none its first and its last word, and where the key in the
 * gap behind it goes.
 */
const SPAN_WORDS = 5
const SPAN_DOUBLES = 1
const SPAN_FIRST = 2
const SPAN_LAST = 3
const SPAN_GAP = 4

/** A part between two spans that differs from question to question. */
interface Gap {
  readonly from: number
  readonly to: number
}

/** Where a key is: in the question, nowhere, or in the defaults of the batch. */
export type KeyPlace = Gap | 'none' | 'inherited'

/** What a template is learned from: the question in `bytes[from, to)`. */
export interface LearnedQuestion {
  readonly from: number
  readonly to: number
  readonly user: KeyPlace
  readonly key: KeyPlace
  readonly terms: QueryTerms
  readonly skipped: readonly SkippedValue[]
  /** Whether values that are not read may differ. */
  readonly isWide: boolean
  readonly saysAttributes: boolean
  /** See `QuestionReader`. */
  readonly attributes: AttributeRanges | null
}

export class QuestionTemplate {
  readonly terms: QueryTerms
  /** Whether such a question says something that conditions may ask for. */
  readonly saysAttributes: boolean
  /**
   * The texts before the first gap, between two gaps, and after the last: `SPAN_WORDS` numbers each, and the kind of the
   * gap after it. One list for all of them, and one for what is compared: arrays of arrays take longer to reach than to
   * compare.
   */
  readonly #spans: Int32Array
  /**
   * The bytes of all spans of at least eight bytes, eight by eight, and the last eight of each, which overlap those before.
   */
  readonly #doubles: Float64Array
  /** Which key ranges are taken from the defaults, and which stay empty. */
  readonly #inherited: readonly number[]
  readonly #none: readonly number[]
  /** The number of keys in the question. */
  readonly #keyCount: number
  readonly #skippedCount: number
  readonly #isWide: boolean
  readonly #isAscii: boolean
  /** Of each place of attributes the span it is in, and how far behind the beginning of that; null: they are elsewhere, too. */
  readonly #attributePlaces: Int32Array | null
  readonly #attributes = new Int32Array(2 * ATTRIBUTE_PARTS.length)

  constructor(bytes: Uint8Array, question: LearnedQuestion) {
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
   * Where the attributes of a question stand that this template has matched there, valid until it is asked again; null: they are
   * elsewhere, too. O(the question).
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

  /** Whether that question seems to differ only in what nobody reads, which this template does not allow for. */
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
   * Fills the question's key ranges if the question that begins there looks the same; returns the place behind it, or `REFUSED`.
   * `limit`: how many bytes the body has; asking a view for them is a call. `defaults` has the ranges of the keys that are
   * inherited.
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
      // From the quote before it, which ends the span.
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

/** Of a place of attributes: the words of the spans before it, how far behind the beginning of its span, and which it is. */
const PLACE_WORDS = 3

/** `begins`: where each span begins. What has no attributes is left out. In their order. */
function placesIn(ranges: AttributeRanges, begins: readonly number[]): Int32Array {
  const there = Array.from(ranges, (at, which) => ({ at, which })).filter(
    ({ which }) => ranges[which | 1] !== 0,
  )
  const places = there.map(({ at, which }) => {
    // An end stands behind a brace, which is in the span before a gap that may begin there.
    const isEnd = (which & 1) === 1
    const span = begins.findLastIndex(begin => (isEnd ? begin < at : begin <= at))
    return { span, behind: at - begins[span]!, which }
  })
  places.sort((one, other) => one.span - other.span || one.behind - other.behind)
  return Int32Array.from(places.flatMap(({ span, behind, which }) => [span * SPAN_WORDS, behind, which]))
}

/**
 * Text of eight bytes and more, as doubles; none where it is shorter. Two doubles are equal only if their bytes are, but for
 * zeros, which take a NUL, and there is none in JSON; what is no number equals nothing, itself included, and takes bytes
 * that are no UTF-8.
 */
function doublesOf(text: Uint8Array): number[] {
  const view = new DataView(text.buffer, text.byteOffset, text.length)
  if (text.length < DOUBLE) return []
  return Array.from({ length: Math.ceil(text.length / DOUBLE) }, (_, index) =>
    view.getFloat64(Math.min(index * DOUBLE, text.length - DOUBLE), true),
  )
}

/** The first four bytes of a text of fewer than eight, and the last four, as words; of fewer than four bytes only the first. */
function wordsOf(text: Uint8Array): [first: number, last: number] {
  const wordAt = (from: number) =>
    text.subarray(from, from + WORD).reduce((word, byte, index) => word | (byte << (index << 3)), 0)
  return [wordAt(0), wordAt(Math.max(0, text.length - WORD))]
}

/** Whether a text of fewer than eight bytes is there. */
function isShort(bytes: DataView, at: number, length: number, first: number, last: number): boolean {
  if (length >= WORD) {
    return bytes.getInt32(at, true) === first && bytes.getInt32(at + length - WORD, true) === last
  }
  for (let index = 0; index < length; index++) {
    if (bytes.getUint8(at + index) !== ((first >>> (index << 3)) & 0xff)) return false
  }
  return true
}

/** The place of the quote that ends the string there, which is known to be one. */
function knownTextEnd(bytes: DataView, from: number, limit: number): number {
  let end = plainEnd(bytes, from, limit)
  if (end !== REFUSED) return end
  for (end = from; bytes.getUint8(end) !== QUOTE; end++) if (bytes.getUint8(end) === BACKSLASH) end++
  return end
}

/** The place of the quote that ends the string there, of which nothing is kept; `REFUSED` when none is near. */
function skippedEnd(bytes: DataView, from: number, limit: number, texts: BodyTexts): number {
  const end = plainEnd(bytes, from, limit)
  if (end !== REFUSED) return end
  const behind = texts.nearSkippedEnd(from - 1)
  return behind === REFUSED ? REFUSED : behind - 1
}

/**
 * The place of the quote that ends the plain string there; `REFUSED` when it is not plain, or ends among the last
 * bytes. Four bytes at a time: subtracting sets the high bit of a byte that is a control character, a quote or a backslash.
 * A borrow may raise a false alarm above such a byte, never below it, so the lowest alarm is always true.
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
