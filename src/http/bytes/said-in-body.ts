/**
 * What the questions of a body say beside their keys and terms: attributes and context, as text until a condition asks for them
 * (conditions.md 7). Of a question that a template has matched the attributes are found by the template, and what is equal to
 * what was parsed last is not parsed again: a usual bulk has one user, or one context. Of any other the whole text is parsed.
 */
import { type SaidReader, SENT_TEXT_BYTES_MAX } from '#decisions/said-in-texts.ts'
import { bytesOf } from '#http/message/byte-views.ts'
import type { JsonObject, SentAttributes } from '#model/decision.ts'
import { parsedJson } from '#model/json-numbers.ts'
import type { SaidInBytes } from '#model/packed-queries.ts'
import { ATTRIBUTE_PARTS } from './question-fields.ts'
import type { AttributeRanges } from './question-reader.ts'
import type { QuestionTemplate } from './question-template.ts'

/** Where a question stands in the body: its first byte, and the one behind it. */
export const TEXT_WORDS = 2

/** The questions of a list. */
export interface ListTexts {
  readonly ranges: Int32Array
  /** By question, the template that has matched it. */
  readonly templates: readonly (QuestionTemplate | null)[]
  readonly isAscii: boolean
}

export class SaidInBody implements SaidInBytes {
  readonly #bytes: DataView
  readonly #body: Buffer
  readonly #texts: ListTexts
  readonly #reader: SaidReader
  readonly #first: number
  readonly #known: readonly Known[]

  constructor(bytes: DataView, texts: ListTexts, reader: SaidReader, first = 0) {
    this.#bytes = bytes
    this.#body = bytesOf(bytes)
    this.#texts = texts
    this.#reader = reader
    this.#first = first
    this.#known = ATTRIBUTE_PARTS.map(() => ({ text: '', value: null }))
  }

  sent(index: number): SentAttributes {
    const { ranges, templates } = this.#texts
    const place = TEXT_WORDS * (this.#first + index)
    const [from, to] = [ranges[place]!, ranges[place + 1]!]
    const template = templates[this.#first + index] ?? null
    if (template !== null && to - from <= SENT_TEXT_BYTES_MAX) {
      const parts = template.attributesIn(this.#bytes, from, this.#body.length)
      if (parts !== null) return this.#sentIn(parts)
    }
    return this.#reader(this.#text(from, to), this.#body)
  }

  from(index: number): SaidInBody {
    return new SaidInBody(this.#bytes, this.#texts, this.#reader, this.#first + index)
  }

  in(bytes: DataView): SaidInBody {
    const { ranges, templates, isAscii } = this.#texts
    const texts = { ranges: ranges.slice(), templates: templates.slice(), isAscii }
    return new SaidInBody(bytes, texts, this.#reader, this.#first)
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

/** What was parsed last. */
interface Known {
  text: string
  value: JsonObject | null
}
