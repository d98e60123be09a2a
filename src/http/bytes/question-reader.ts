/**
 * Reads one query from bytes without building an object. The fields can have any order. The reader keeps only
 * the positions of the texts. It is strict: it rejects unusual input, which is left to the fallback parser.
 * Unusual are duplicate fields, deep nesting and names with escapes. Also unusual are types, actions and
 * tenants that are not ASCII, because valid ones contain only ASCII.
 *
 * This reader is a security boundary. If it accepts a query, `JSON.parse` and the schema must accept the same
 * query and read the same texts. Therefore its known fields are derived from the schema
 * (`question-fields.ts`), and all other fields are skipped as JSON.
 */
import { viewOf } from '#http/message/byte-views.ts'
import type { QueryTerms } from '#model/packed-queries.ts'
import { type BodyTexts, SKIPPED_VALUES_MAX } from './body-texts.ts'
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  isText,
  literalEnd,
  numberEnd,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  REFUSED,
  skipBlanks,
  stringEnd,
} from './plain-json.ts'
import {
  ATTRIBUTE_PARTS,
  type QuestionField,
  type ObjectFields,
  NO_FIELDS,
  RESOURCE_PART,
  SUBJECT_PART,
  TEXTS,
} from './question-fields.ts'

/**
 * Position of a text of a query: the offset of its first byte, and the offset after its last byte. Both are 0
 * if the text is absent or null.
 */
export interface ByteRange {
  from: number
  to: number
}

/**
 * Position of a key in the body (`from`, `to`), and position of its decoded text (`at`, `length`). Both
 * positions are the same if the key has no escapes.
 */
export interface KeyRange extends ByteRange {
  at: number
  length: number
}

/** Position of a string without its quotes, or of a number. The value has no effect on the query. */
export interface SkippedValue extends ByteRange {
  isString: boolean
}

/**
 * Start and end offset of each field in `ATTRIBUTE_PARTS`. Both are 0 if the field is absent, null or empty.
 */
export type AttributeRanges = Int32Array

/** First letters of the literals `false`, `null` and `true`. */
const LETTER_F = 0x66
const LETTER_N = 0x6e
const LETTER_T = 0x74

/**
 * Maximum nesting depth of a skipped value. Deeper values are left to the fallback parser, which enforces the
 * depth limit of the API.
 */
const SKIPPED_LEVELS_MAX = 16

/** Greater than the number of members and elements in any body. */
const PARTS_MAX = 0x3fff_ffff

export interface ReadingOptions {
  /** Reads the items of a batch at this offset. Returns the offset after the items, or `REFUSED`. */
  readonly readItems?: (at: number) => number
  /**
   * Maximum number of members and elements. The reader rejects a body that has more. Queries that match a
   * template do not count.
   */
  readonly partsMax?: number | undefined
}

export class QuestionReader {
  readonly user: KeyRange = { from: 0, to: 0, at: 0, length: 0 }
  readonly subjectType: ByteRange = { from: 0, to: 0 }
  readonly action: ByteRange = { from: 0, to: 0 }
  readonly type: ByteRange = { from: 0, to: 0 }
  readonly key: KeyRange = { from: 0, to: 0, at: 0, length: 0 }
  readonly tenant: ByteRange = { from: 0, to: 0 }
  /** Bit mask of the parts that the query contains. */
  parts = 0
  /** Whether the last query contains attributes or context that conditions can read. */
  saysAttributes = false
  /** Whether some of these attributes are in fields that are not in `ATTRIBUTE_PARTS`. */
  #saysMore = false
  /** Positions of the `ATTRIBUTE_PARTS`. Start and end are 0 if the field is absent, null or empty. */
  readonly #attributes = new Int32Array(2 * ATTRIBUTE_PARTS.length)
  readonly #bytes: Buffer
  readonly #view: DataView
  /**
   * Values that were skipped. The array is reused for each query; its first `#skippedCount` entries belong to
   * the last query.
   */
  readonly #skipped: SkippedValue[] = []
  #skippedCount = 0
  readonly #texts: BodyTexts
  readonly #fields: ObjectFields
  readonly #readItems: (at: number) => number
  #partsLeft: number

  /** `texts` must belong to the same body as `bytes`. */
  constructor(bytes: Buffer, texts: BodyTexts, fields: ObjectFields, options: ReadingOptions = {}) {
    this.#bytes = bytes
    this.#view = viewOf(bytes)
    this.#texts = texts
    this.#fields = fields
    this.#readItems = options.readItems ?? (() => REFUSED)
    this.#partsLeft = options.partsMax ?? PARTS_MAX
  }

  /** Reads the query that begins at `at`. Returns the offset after it, or `REFUSED`. */
  read(at: number): number {
    for (const name of TEXTS) {
      this[name].from = 0
      this[name].to = 0
    }
    for (const key of [this.user, this.key]) {
      key.at = 0
      key.length = 0
    }
    this.parts = 0
    this.saysAttributes = false
    this.#saysMore = false
    this.#attributes.fill(0)
    this.#skippedCount = 0
    return this.#object(at, this.#fields, 0)
  }

  /**
   * Skipped values of the query that was read most recently, in the order of the body. They are valid until
   * the next query is read. At most `SKIPPED_VALUES_MAX` + 1 values are recorded, because clients control
   * their number.
   */
  get skipped(): readonly SkippedValue[] {
    return this.#skipped.slice(0, this.#skippedCount)
  }

  /**
   * Positions of the attributes and context of the last query, valid until the next query is read. Null if
   * the query has none, or if some of them are in fields that are not in `ATTRIBUTE_PARTS`.
   */
  get attributes(): AttributeRanges | null {
    return this.saysAttributes && !this.#saysMore ? this.#attributes : null
  }

  /** Copies the user or the whole resource from the defaults of a batch (`from`). */
  inherit(part: typeof SUBJECT_PART | typeof RESOURCE_PART, from: QuestionReader): void {
    if (part === SUBJECT_PART) Object.assign(this.user, from.user)
    else for (const name of ['type', 'key', 'tenant'] as const) Object.assign(this[name], from[name])
  }

  /**
   * Terms of the last query, which are all its texts except the two keys. If the terms equal `known`, returns
   * `known` itself.
   */
  terms(known: QueryTerms | null): QueryTerms {
    const { type, action, tenant } = this
    const isKnown =
      known !== null &&
      isText(this.#bytes, type.from, type.to, known.type) &&
      isText(this.#bytes, action.from, action.to, known.action) &&
      isText(this.#bytes, tenant.from, tenant.to, known.tenant ?? '')
    if (isKnown) return known
    return {
      type: this.text(type),
      action: this.text(action),
      tenant: tenant.from === 0 ? null : this.text(tenant),
    }
  }

  text({ from, to }: ByteRange): string {
    return this.#bytes.toString('latin1', from, to)
  }

  #object(at: number, { byName, required, areOthersAttributes }: ObjectFields, depth: number): number {
    const bytes = this.#bytes
    if (bytes[at] !== OPEN_BRACE) return REFUSED
    let next = skipBlanks(bytes, at + 1)
    if (bytes[next] === CLOSE_BRACE) return required === 0 ? next + 1 : REFUSED
    let seen = 0
    for (;;) {
      if (--this.#partsLeft < 0) return REFUSED
      // A name with escapes is rejected, because its decoded form could equal a known name.
      const nameEnd = this.#texts.unescapedEnd(next)
      if (nameEnd === REFUSED) return REFUSED
      const colon = skipBlanks(bytes, nameEnd)
      if (bytes[colon] !== COLON) return REFUSED
      const place = fieldAt(bytes, next + 1, nameEnd - 1, byName)
      const value = skipBlanks(bytes, colon + 1)
      if (place === -1) {
        if (areOthersAttributes) this.#sayMore()
        next = this.#skip(value, depth + 1)
      } else {
        // If several fields have the same name, `JSON.parse` uses the last one. This reader cannot undo the
        // first one, so it rejects the query.
        if ((seen & (1 << place)) !== 0) return REFUSED
        seen |= 1 << place
        next = this.#field(value, byName[place]![1])
      }
      if (next === REFUSED) return REFUSED
      next = skipBlanks(bytes, next)
      if (bytes[next] === CLOSE_BRACE) return (seen & required) === required ? next + 1 : REFUSED
      if (bytes[next] !== COMMA) return REFUSED
      next = skipBlanks(bytes, next + 1)
    }
  }

  #field(at: number, field: QuestionField): number {
    const bytes = this.#bytes
    const isNull = bytes[at] === LETTER_N
    switch (field.kind) {
      case 'object':
        if (isNull) return field.isNullable ? literalEnd(bytes, at, 'null') : REFUSED
        this.parts |= field.part
        return this.#object(at, field.fields, 0)
      case 'object-or-null':
        if (isNull) return literalEnd(bytes, at, 'null')
        // An empty object contains no attributes. Most clients send empty objects.
        if (field.isAttribute && bytes[skipBlanks(bytes, at + 1)] !== CLOSE_BRACE) {
          return this.#attributesAt(at, field.attributes)
        }
        return this.#object(at, NO_FIELDS, 0)
      case 'string-or-null':
        if (isNull) return literalEnd(bytes, at, 'null')
        if (field.isAttribute) this.#sayMore()
        return this.#skipText(at)
      case 'text':
        if (isNull && field.isNullable) return literalEnd(bytes, at, 'null')
        if (field.text === 'user' || field.text === 'key') return this.#keepKey(at, this[field.text])
        return this.#keep(at, this[field.text])
      case 'text-or-any':
        if (bytes[at] === QUOTE) return this.#keep(at, this[field.text])
        this.#sayMore()
        return this.#skip(at, 1)
      case 'items':
        return this.#readItems(at)
      case 'execute-all': {
        if (isNull) return literalEnd(bytes, at, 'null')
        const end = stringEnd(bytes, at)
        return end !== REFUSED && isText(bytes, at + 1, end - 1, 'execute_all') ? end : REFUSED
      }
    }
  }

  #sayMore(): void {
    this.saysAttributes = true
    this.#saysMore = true
  }

  /**
   * Skips an object with attributes and records its position. `part`: its index in `ATTRIBUTE_PARTS`, or -1.
   */
  #attributesAt(at: number, part: number): number {
    const end = this.#object(at, NO_FIELDS, 0)
    if (part === -1) this.#sayMore()
    else {
      this.saysAttributes = true
      this.#attributes[2 * part] = at
      this.#attributes[2 * part + 1] = end
    }
    return end
  }

  #keep(at: number, place: ByteRange): number {
    const end = stringEnd(this.#bytes, at)
    if (end === REFUSED || end - at === 2) return REFUSED
    place.from = at + 1
    place.to = end - 1
    return end
  }

  #keepKey(at: number, place: KeyRange): number {
    const texts = this.#texts
    const end = texts.keyEnd(at)
    if (end === REFUSED) return REFUSED
    place.at = texts.keyAt
    place.length = texts.keyLength
    place.from = at + 1
    place.to = end - 1
    return end
  }

  /** Skips any valid JSON value. */
  #skip(at: number, depth: number): number {
    if (depth > SKIPPED_LEVELS_MAX) return REFUSED
    const bytes = this.#bytes
    switch (bytes[at]) {
      case QUOTE:
        return this.#skipText(at)
      case OPEN_BRACE:
        return this.#object(at, NO_FIELDS, depth)
      case OPEN_BRACKET:
        return this.#array(at, depth)
      case LETTER_N:
        return literalEnd(bytes, at, 'null')
      case LETTER_T:
        return literalEnd(bytes, at, 'true')
      case LETTER_F:
        return literalEnd(bytes, at, 'false')
      default:
        return this.#skipNumber(at)
    }
  }

  #skipText(at: number): number {
    const end = this.#texts.skippedEnd(at)
    this.#noteSkipped(at + 1, end - 1, true)
    return end
  }

  #skipNumber(at: number): number {
    const end = numberEnd(this.#view, at, this.#bytes.length)
    this.#noteSkipped(at, end, false)
    return end
  }

  #noteSkipped(from: number, to: number, isString: boolean): void {
    if (this.#skippedCount > SKIPPED_VALUES_MAX) return
    const value = (this.#skipped[this.#skippedCount++] ??= { from: 0, to: 0, isString: false })
    value.from = from
    value.to = to
    value.isString = isString
  }

  #array(at: number, depth: number): number {
    const bytes = this.#bytes
    let next = skipBlanks(bytes, at + 1)
    if (bytes[next] === CLOSE_BRACKET) return next + 1
    for (;;) {
      if (--this.#partsLeft < 0) return REFUSED
      next = this.#skip(next, depth + 1)
      if (next === REFUSED) return REFUSED
      next = skipBlanks(bytes, next)
      if (bytes[next] === CLOSE_BRACKET) return next + 1
      if (bytes[next] !== COMMA) return REFUSED
      next = skipBlanks(bytes, next + 1)
    }
  }
}

/** Index of the field with that name, or -1. */
function fieldAt(bytes: Uint8Array, from: number, to: number, byName: ObjectFields['byName']): number {
  for (let place = 0; place < byName.length; place++) {
    if (isText(bytes, from, to, byName[place]![0])) return place
  }
  return -1
}
