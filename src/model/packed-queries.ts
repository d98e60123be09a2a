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
import { assert } from './assert.ts'
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

/** Behind the last key. */
const SLACK_BYTES = 3
/** Of UTF-8, for a unit of UTF-16. */
const UNIT_BYTES_MAX = 3

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

/** Questions in strings, packed into bytes of their own. Throws `InvariantError` for a key that has none, as no body brings it. O(questions). */
export function packQueries(queries: readonly Query[]): PackedQueries {
  let units = 0
  for (const { user, key } of queries) {
    assert(user.isWellFormed() && key?.isWellFormed() !== false, 'half of a surrogate pair has no bytes')
    assert(user !== '' && key !== '', 'a key must not be empty')
    units += user.length + (key === null ? 0 : key.length)
  }
  const bytes = Buffer.allocUnsafeSlow(units * UNIT_BYTES_MAX + SLACK_BYTES)
  const spots = new Int32Array(queries.length * SPOT_WORDS)
  let end = 0
  const put = (key: string, spot: number): void => {
    spots[spot] = end
    spots[spot + SPOT_LENGTH] = bytes.write(key, end)
    end += spots[spot + SPOT_LENGTH]!
  }
  const forms = new SameForms()
  const formOf = queries.map((query, index) => {
    put(query.user, index * SPOT_WORDS + SPOT_USER)
    if (query.key !== null) put(query.key, index * SPOT_WORDS + SPOT_KEY)
    return forms.of(query)
  })
  return new PackedQueries(queries.length, new DataView(bytes.buffer, 0, end + SLACK_BYTES), spots, formOf)
}

/** Gives questions that ask the same beside their keys one form; whoever decides them looks at each form once. */
class SameForms {
  readonly #known = new Map<string, QueryForm>()
  #last: QueryForm | null = null

  of({ type, action, tenant }: QueryForm): QueryForm {
    const last = this.#last
    if (last !== null && last.type === type && last.action === action && last.tenant === tenant) return last
    const name = JSON.stringify([type, action, tenant])
    const form = this.#known.get(name) ?? { type, action, tenant }
    this.#known.set(name, form)
    this.#last = form
    return form
  }
}
