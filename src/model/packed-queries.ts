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
import { LONG_KEY_BYTES_MAX, SHORT_KEY_LENGTH_MAX } from './limits.ts'

/** What a question asks beside its two keys. */
export type QueryForm = Pick<Query, 'type' | 'action' | 'tenant'>

/**
 * Of what is asked about a subject that is no user: denied without looking anything up, and no decision. No type has an
 * empty name.
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
/** As many as the largest body has bytes by default; only what is inherited adds up to more. */
const PACKED_UNITS_MAX = 16 * 1_024 * 1_024

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
    // By its length: comparing texts is a call.
    for (let index = 0; index < this.count; index++) if (this.form(index).type.length === 0) nobodys++
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

/**
 * Questions in strings, packed into bytes of their own. Null where that would take more than reading them did: items of
 * a batch share what they inherit, however long it is, and here each has its own. A text that is longer than any that
 * is kept is not packed, nor are questions that are too long together, nor an empty key, nor one that has no UTF-8.
 * O(questions): so much of each text is looked at.
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

function isPackable(key: string): boolean {
  return key !== '' && key.length <= LONG_KEY_BYTES_MAX && key.isWellFormed()
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
