/**
 * Attributes and context of the queries in a body. They stay unparsed text until a condition reads them
 * (conditions.md 7). If a query matched a template, the template knows the positions of its attributes, and
 * only their text is parsed. The result is reused if the next text is equal, because all queries of a typical
 * bulk have the same user or context. If a query matched no template, its whole text is parsed.
 */
import { type AttributesReader, SENT_TEXT_BYTES_MAX } from '#decisions/dialects/attributes-in-text.ts'
import { bytesOf } from '#http/message/byte-views.ts'
import { NOTHING_SENT, type SentAttributes } from '#model/decision.ts'
import type { JsonObject } from '#model/json-object.ts'
import { parsedJson } from '#model/text/json-numbers.ts'
import type { AttributesInBytes } from '#model/packed-queries.ts'
import { ATTRIBUTE_PARTS } from './question-fields.ts'
import type { AttributeRanges } from './question-reader.ts'
import type { QuestionTemplate } from './question-template.ts'

/**
 * Number of words about the text of a query: the offset of its first byte in the body, the offset after its
 * last byte, and the number of the template that it matched, or 0 if it matched none.
 */
export const TEXT_WORDS = 3

/** Positions of the queries of a list in the body. */
export interface ListTexts {
  readonly ranges: Int32Array
  /** Index of the first query with a position. The queries before it have no attributes. */
  readonly from: number
  readonly templates: readonly QuestionTemplate[]
  readonly isAscii: boolean
}

export class AttributesInBody implements AttributesInBytes {
  readonly #bytes: DataView
  readonly #body: Buffer
  readonly #texts: ListTexts
  readonly #reader: AttributesReader
  readonly #first: number
  readonly #known: readonly ParsedText[]

  constructor(bytes: DataView, texts: ListTexts, reader: AttributesReader, first = 0) {
    this.#bytes = bytes
    this.#body = bytesOf(bytes)
    this.#texts = texts
    this.#reader = reader
    this.#first = first
    this.#known = ATTRIBUTE_PARTS.map(() => ({ text: '', value: null }))
  }

  sent(index: number): SentAttributes {
    const { ranges, templates } = this.#texts
    if (this.#first + index < this.#texts.from) return NOTHING_SENT
    const place = TEXT_WORDS * (this.#first + index)
    const [from, to, number] = [ranges[place]!, ranges[place + 1]!, ranges[place + 2]!]
    const template = templates.find(each => each.number === number)
    if (template !== undefined && to - from <= SENT_TEXT_BYTES_MAX) {
      const parts = template.attributesIn(this.#bytes, from, this.#body.length)
      if (parts !== null) return this.#sentIn(parts)
    }
    return this.#reader(this.#text(from, to), this.#body)
  }

  from(index: number): AttributesInBody {
    return new AttributesInBody(this.#bytes, this.#texts, this.#reader, this.#first + index)
  }

  in(bytes: DataView): AttributesInBody {
    const texts = { ...this.#texts, ranges: this.#texts.ranges.slice() }
    return new AttributesInBody(bytes, texts, this.#reader, this.#first)
  }

  #sentIn(ranges: AttributeRanges): SentAttributes {
    const [user, resource, context] = this.#known.map((known, part) => {
      const [from, to] = [ranges[2 * part]!, ranges[2 * part + 1]!]
      if (from === to) return null
      const text = this.#text(from, to)
      if (text !== known.text) {
        known.text = text
        known.value = parsedJson(text) as JsonObject
      }
      return known.value
    }) as [JsonObject | null, JsonObject | null, JsonObject | null]
    return { user, resource, tenant: null, context }
  }

  #text(from: number, to: number): string {
    return this.#body.toString(this.#texts.isAscii ? 'latin1' : 'utf8', from, to)
  }
}

/** The text that was parsed last, and the result. */
interface ParsedText {
  text: string
  value: JsonObject | null
}
