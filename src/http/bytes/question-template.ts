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
 * empty. Everything is compared by words of four bytes. Of spans in
 * another script it is told each time that they are, so that the whole body is looked at: what they were learned from may
 * have been no text.
 */
import { type QueryForm, SPOT_KEY, SPOT_LENGTH, SPOT_USER } from '#model/packed-queries.ts'
import type { BodyTexts } from './body-texts.ts'
import { numberEnd, QUOTE, REFUSED } from './plain-json.ts'
import type { SkippedValue } from './question-reader.ts'

const WORD = 4
const ONES = 0x01010101
const BLANKS = 0x20202020
const QUOTES = 0x22222222
const BACKSLASHES = 0x5c5c5c5c
const HIGH_BITS = 0x80808080 | 0

/** In place of where a key goes: what nobody reads. */
const SKIPPED_TEXT = -1
const SKIPPED_NUMBER = -2

/** What is not the same each time, between two spans. */
interface Gap {
  readonly from: number
  readonly to: number
}

/** Where a key stands: in the question, nowhere, or in the defaults of the batch. */
export type KeyPlace = Gap | 'none' | 'inherited'

/** What a template is learned from: the question in `bytes[from, to)`. */
export interface LearnedQuestion {
  readonly from: number
  readonly to: number
  readonly user: KeyPlace
  readonly key: KeyPlace
  readonly form: QueryForm
  readonly skipped: readonly SkippedValue[]
  /** Whether what nobody reads may differ. */
  readonly isWide: boolean
}

export class QuestionTemplate {
  readonly form: QueryForm
  /** The text before the first gap, between two, and behind the last. */
  readonly #spans: readonly Span[]
  /** Where in a spot the key goes that is in the gap; negative where there is none in it. */
  readonly #slots: readonly number[]
  /** Where in a spot a key goes that stands in the defaults, and where there is none. */
  readonly #inherited: readonly number[]
  readonly #none: readonly number[]
  /** Whether both keys stand in the question. */
  readonly #hasKeys: boolean
  readonly #skippedCount: number
  readonly #isWide: boolean
  readonly #isAscii: boolean

  constructor(bytes: Uint8Array, { from, to, user, key, form, skipped, isWide }: LearnedQuestion) {
    this.form = form
    const places = [
      { slot: SPOT_USER, place: user },
      { slot: SPOT_KEY, place: key },
    ]
    const keys = places.flatMap(({ slot, place }) => (typeof place === 'object' ? [{ slot, ...place }] : []))
    const values = skipped.map(value => ({ ...value, slot: value.isString ? SKIPPED_TEXT : SKIPPED_NUMBER }))
    const gaps: { slot: number; from: number; to: number }[] = [...keys, ...(isWide ? values : [])]
    gaps.sort((left, right) => left.from - right.from)
    const slotsWith = (wanted: KeyPlace) =>
      places.filter(({ place }) => place === wanted).map(({ slot }) => slot)
    this.#slots = gaps.map(({ slot }) => slot)
    this.#inherited = slotsWith('inherited')
    this.#none = slotsWith('none')
    this.#hasKeys = keys.length === places.length
    this.#skippedCount = skipped.length
    this.#isWide = isWide
    const begins = [from, ...gaps.map(gap => gap.to)]
    const ends = [...gaps.map(gap => gap.from), to]
    this.#spans = begins.map((begin, index) => new Span(bytes, begin, ends[index]!))
    this.#isAscii = begins.every((begin, index) => isAscii(bytes.subarray(begin, ends[index])))
  }

  /** Whether that question seems to differ only in what nobody reads, which this template does not allow for. */
  isTooNarrowFor({ form, user, key, skipped }: Omit<LearnedQuestion, 'from' | 'to' | 'isWide'>): boolean {
    const { type, action, tenant } = this.form
    return (
      !this.#isWide &&
      skipped.length > 0 &&
      skipped.length === this.#skippedCount &&
      type === form.type &&
      action === form.action &&
      tenant === form.tenant &&
      this.#slots.length === [user, key].filter(place => typeof place === 'object').length
    )
  }

  /**
   * Fills the spot if the question that begins there looks the same; returns the place behind it, or `REFUSED`.
   * `defaults` is a spot with the keys that are inherited.
   */
  match(
    bytes: DataView,
    at: number,
    spots: Int32Array,
    spot: number,
    defaults: Int32Array,
    texts: BodyTexts,
  ): number {
    // Asking a view for its length is a call.
    const limit = bytes.byteLength
    const spans = this.#spans
    const slots = this.#slots
    let next = spans[0]!.match(bytes, at, limit)
    for (let gap = 0; gap < slots.length; gap++) {
      if (next === REFUSED) return REFUSED
      const slot = slots[gap]!
      if (slot < 0) {
        const end =
          slot === SKIPPED_NUMBER ? numberEnd(bytes, next, limit) : skippedEnd(bytes, next, limit, texts)
        next = end === REFUSED ? REFUSED : spans[gap + 1]!.match(bytes, end, limit)
        continue
      }
      const place = spot + slot
      const end = plainEnd(bytes, next, limit)
      if (end > next) {
        spots[place] = next
        spots[place + SPOT_LENGTH] = end - next
        next = spans[gap + 1]!.match(bytes, end, limit)
        continue
      }
      // From the quote before it, which ends the span.
      const behind = texts.keyEnd(next - 1)
      if (behind === REFUSED) return REFUSED
      spots[place] = texts.keyAt
      spots[place + SPOT_LENGTH] = texts.keyLength
      next = spans[gap + 1]!.match(bytes, behind - 1, limit)
    }
    if (next !== REFUSED && !this.#isAscii) texts.isAscii = false
    if (this.#hasKeys || next === REFUSED) return next
    for (const slot of this.#inherited) {
      spots[spot + slot] = defaults[slot]!
      spots[spot + slot + SPOT_LENGTH] = defaults[slot + SPOT_LENGTH]!
    }
    for (const slot of this.#none) {
      spots[spot + slot] = 0
      spots[spot + slot + SPOT_LENGTH] = 0
    }
    return next
  }
}

/**
 * Text that must stand there: eight bytes at a time as a double, the rest by words of four. Doubles are equal only if their
 * bytes are, but for zeros, which take a NUL, and there is none in JSON; what is no number equals nothing, itself
 * included, and takes bytes that are no UTF-8.
 */
class Span {
  readonly #bytes: number
  /** Their numbers stand beside them: asked of the array, a length comes as a double first, which takes longer than to compare two. */
  readonly #doubleCount: number
  readonly #lastWord: number
  readonly #doubles: Float64Array
  /** The bytes of the last word belong to the text as far as the mask says. */
  readonly #words: Int32Array
  readonly #lastMask: number

  constructor(bytes: Uint8Array, from: number, to: number) {
    this.#bytes = to - from
    const padded = new Uint8Array((this.#bytes + 3) & ~3)
    padded.set(bytes.subarray(from, to))
    const view = new DataView(padded.buffer)
    // At least one word is left, so that the last byte is always looked at with its mask.
    const doubles = (padded.length - WORD) >>> 3
    const words = (padded.length >>> 2) - 2 * doubles
    this.#doubleCount = doubles
    this.#lastWord = words - 1
    this.#doubles = Float64Array.from({ length: doubles }, (_, double) => view.getFloat64(double << 3, true))
    this.#words = Int32Array.from({ length: words }, (_, word) =>
      view.getInt32((doubles << 3) + word * WORD, true),
    )
    const rest = this.#bytes & 3
    this.#lastMask = rest === 0 ? -1 : (1 << (rest << 3)) - 1
  }

  /** Returns the place behind the text; `REFUSED` if something else stands there. `limit`: bytes of the body. */
  match(bytes: DataView, at: number, limit: number): number {
    const end = at + this.#bytes
    if (end > limit) return REFUSED
    const doubles = this.#doubles
    let next = at
    for (let double = 0; double < this.#doubleCount; double++) {
      if (bytes.getFloat64(next, true) !== doubles[double]) return REFUSED
      next += 8
    }
    const words = this.#words
    const last = this.#lastWord
    for (let word = 0; word < last; word++) {
      if (bytes.getInt32(next, true) !== words[word]) return REFUSED
      next += WORD
    }
    // The body may end in the middle of the last word.
    const lastWord = next + WORD <= limit ? bytes.getInt32(next, true) : restOf(bytes, next)
    return (lastWord & this.#lastMask) === words[last] ? end : REFUSED
  }
}

/** The last bytes, fewer than four, as a word. */
function restOf(bytes: DataView, from: number): number {
  let word = 0
  for (let at = from; at < bytes.byteLength; at++) word |= bytes.getUint8(at) << ((at - from) << 3)
  return word
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

function isAscii(bytes: Uint8Array): boolean {
  return bytes.every(byte => byte < 0x80)
}
