/**
 * What a question looked like, learned from one that was read: the text around its two keys. The next one that looks the
 * same, byte for byte, needs no reading; action, type, tenant and whatever else the text says are the same, too.
 *
 *   {"user":{"key":"alice"},"action":"read","resource":{"type":"document","key":"plan"}}
 *   └──── span ────┘─key─└─────────────────────── span ───────────────────────┘key─└span┘
 *
 * Why that is sound: between the same spans stands a plain string that is not empty, where one stood before, and the
 * inside of a string cannot change what JSON means around it. Everything is compared by words of four bytes.
 */
import { type QueryForm, SPOT_KEY, SPOT_LENGTH, SPOT_USER } from '#model/packed-queries.ts'
import { REFUSED } from './plain-json.ts'

const ONES = 0x01010101
const BLANKS = 0x20202020
const QUOTES = 0x22222222
const BACKSLASHES = 0x5c5c5c5c
const HIGH_BITS = 0x80808080 | 0

/** A key between two spans. */
interface Gap {
  readonly from: number
  readonly to: number
}

export class QuestionTemplate {
  readonly form: QueryForm
  /** The text before the first key, between the keys, behind the last. */
  readonly #spans: readonly [Span, Span] | readonly [Span, Span, Span]
  /** Where in a spot the first and the second key go. */
  readonly #first: number
  readonly #second: number

  /** From the question in `bytes[from, to)`; `instance` is null if its instance has no key. */
  constructor(
    bytes: Uint8Array,
    { from, to, user, instance }: { from: number; to: number; user: Gap; instance: Gap | null },
    form: QueryForm,
  ) {
    this.form = form
    if (instance === null) {
      this.#spans = [new Span(bytes, from, user.from), new Span(bytes, user.to, to)]
      this.#first = SPOT_USER
      this.#second = SPOT_KEY
      return
    }
    const isUserFirst = user.from < instance.from
    const [first, second] = isUserFirst ? [user, instance] : [instance, user]
    this.#first = isUserFirst ? SPOT_USER : SPOT_KEY
    this.#second = isUserFirst ? SPOT_KEY : SPOT_USER
    this.#spans = [
      new Span(bytes, from, first.from),
      new Span(bytes, first.to, second.from),
      new Span(bytes, second.to, to),
    ]
  }

  /** Fills the spot if the question that begins there looks the same; returns the place behind it, or `REFUSED`. */
  match(bytes: DataView, at: number, spots: Int32Array, spot: number): number {
    const [head, middle, tail] = this.#spans
    const first = head.match(bytes, at)
    if (first === REFUSED) return REFUSED
    const firstEnd = keyEnd(bytes, first)
    if (firstEnd === REFUSED) return REFUSED
    spots[spot + this.#first] = first
    spots[spot + this.#first + SPOT_LENGTH] = firstEnd - first
    const second = middle.match(bytes, firstEnd)
    if (second === REFUSED) return REFUSED
    if (tail === undefined) {
      spots[spot + this.#second] = 0
      spots[spot + this.#second + SPOT_LENGTH] = 0
      return second
    }
    const secondEnd = keyEnd(bytes, second)
    if (secondEnd === REFUSED) return REFUSED
    spots[spot + this.#second] = second
    spots[spot + this.#second + SPOT_LENGTH] = secondEnd - second
    return tail.match(bytes, secondEnd)
  }
}

/** Text that must stand there. */
class Span {
  readonly #words: Int32Array
  readonly #bytes: number
  /** The bytes of the last word that belong to the text. */
  readonly #lastMask: number

  constructor(bytes: Uint8Array, from: number, to: number) {
    this.#bytes = to - from
    const padded = new Uint8Array((this.#bytes + 3) & ~3)
    padded.set(bytes.subarray(from, to))
    const view = new DataView(padded.buffer)
    this.#words = Int32Array.from({ length: padded.length >>> 2 }, (_, word) =>
      view.getInt32(word << 2, true),
    )
    const rest = this.#bytes & 3
    this.#lastMask = rest === 0 ? -1 : (1 << (rest << 3)) - 1
  }

  /** Returns the place behind the text; `REFUSED` if something else stands there, or nothing to fill the last word. */
  match(bytes: DataView, at: number): number {
    const words = this.#words
    const last = words.length - 1
    if (at + (words.length << 2) > bytes.byteLength) return REFUSED
    for (let word = 0; word < last; word++) {
      if (bytes.getInt32(at + (word << 2), true) !== words[word]) return REFUSED
    }
    if ((bytes.getInt32(at + (last << 2), true) & this.#lastMask) !== words[last]) return REFUSED
    return at + this.#bytes
  }
}

/**
 * The place of the quote that ends the plain string there; `REFUSED` when it is empty or not plain. Four bytes at a
 * time: subtracting sets the high bit of a byte that is a control character, a quote or a backslash. A borrow may raise
 * a false alarm above such a byte, never below it, so the lowest alarm is always true.
 */
function keyEnd(bytes: DataView, from: number): number {
  const last = bytes.byteLength - 4
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
    return end > from && bytes.getUint8(end) === 0x22 ? end : REFUSED
  }
  return REFUSED
}
