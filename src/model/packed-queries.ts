/**
 * Many questions as they stand in the bytes of a request: where the keys are, and beside them what most questions of a
 * bulk have in common. Whoever looks keys up by their bytes makes no strings; `query` makes them for everybody else.
 *
 * Invariants, which whoever fills it answers for:
 * - The keys are UTF-8 and stand in `bytes` as they are, nothing escaped; none is empty.
 * - Behind the last byte of each key at least three more can be read, so that keys can be taken in by words.
 * - Behind `count` spots may be others, and behind as many forms, where each question has its own; they mean nothing.
 * - It lives as long as the bytes do: as long as its request is being answered.
 */
import type { Query } from './decision.ts'

/** What a question asks beside its two keys. */
export type QueryForm = Pick<Query, 'type' | 'action' | 'tenant'>

/**
 * Of what is asked about a subject that is no user: denied without looking anything up, and no decision. No type has an empty name.
 */
export const NOBODYS: QueryForm = { type: '', action: '', tenant: null }

/** Words of `spots` a question: for each key where it begins, and behind that its bytes; 0 where there is no key. */
export const SPOT_WORDS = 4
export const SPOT_USER = 0
export const SPOT_KEY = 2
export const SPOT_LENGTH = 1

/** A key may begin with what elsewhere marks the order of bytes. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

export class PackedQueries {
  readonly count: number
  /** These two are set anew where one question after the other is read into the same object. */
  bytes: DataView
  spots: Int32Array
  /** Of which question each is says `form`. */
  readonly forms: readonly QueryForm[]
  /** For each question the place of its form among `forms`; null: they stand there in the order of the questions. */
  readonly #places: Int32Array | null

  constructor(
    count: number,
    bytes: DataView,
    spots: Int32Array,
    forms: readonly QueryForm[],
    places: Int32Array | null = null,
  ) {
    this.count = count
    this.bytes = bytes
    this.spots = spots
    this.forms = forms
    this.#places = places
  }

  /** What a question asks beside its keys. */
  form(index: number): QueryForm {
    return this.forms[this.#places === null ? index : this.#places[index]!]!
  }

  /** How many of the questions are nobody's. O(count). */
  get nobodysCount(): number {
    let nobodys = 0
    for (let index = 0; index < this.count; index++) if (this.form(index).type === NOBODYS.type) nobodys++
    return nobodys
  }

  /** One question in strings. */
  query(index: number): Query {
    const { spots } = this
    const spot = index * SPOT_WORDS
    const keyBytes = spots[spot + SPOT_KEY + SPOT_LENGTH]!
    const { type, action, tenant } = this.form(index)
    return {
      user: this.#text(spots[spot + SPOT_USER]!, spots[spot + SPOT_USER + SPOT_LENGTH]!),
      action,
      type,
      key: keyBytes === 0 ? null : this.#text(spots[spot + SPOT_KEY]!, keyBytes),
      tenant,
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
