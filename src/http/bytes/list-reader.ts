/**
 * Reads a JSON list of queries directly from bytes into packed queries. The first query is read in full.
 * Queries of the same form are only compared with it (`question-template.ts`), which is several times faster
 * than parsing. Templates are kept for the next body, which is likely to have the same form. The caller
 * determines the dialect of the queries.
 */
import type { AttributesReader } from '#decisions/attributes-in-text.ts'
import { EMPTY_BODY } from '#http/message/byte-views.ts'
import {
  PackedQueries,
  type QueryTerms,
  KEY_RANGE,
  RANGE_LENGTH,
  USER_RANGE,
  RANGE_WORDS,
} from '#model/packed-queries.ts'
import { BodyTexts, SKIPPED_VALUES_MAX } from './body-texts.ts'
import { CLOSE_BRACKET, COMMA, OPEN_BRACKET, REFUSED, skipBlanks } from './plain-json.ts'
import { AttributesInBody, TEXT_WORDS } from './attributes-in-body.ts'
import type { QuestionReader } from './question-reader.ts'
import { type KeyPlace, type LearnedQuestion, QuestionTemplate } from './question-template.ts'

const TEMPLATES_MAX = 8
/**
 * Maximum length of a query that becomes a template, in bytes. Longer queries are read each time, because
 * templates stay in memory and clients control their length.
 */
const TEMPLATE_BYTES_MAX = 1_024
/**
 * A further template is learned only if the templates learned from the same body have matched this many times
 * each on average.
 */
const USES_PER_TEMPLATE = 4
/** Initial capacity in queries. It doubles as needed. */
const CHECKS_MIN = 512

/** Key ranges for queries that inherit nothing. */
export const NO_DEFAULTS = new Int32Array(RANGE_WORDS)

/** A query that was read: its terms, and the ranges of its keys in the body. */
export interface ReadQuestion {
  readonly terms: QueryTerms
  readonly user: KeyPlace
  readonly key: KeyPlace
}

/** Properties of the list of queries in one body. */
export interface Questions {
  readonly reader: QuestionReader
  /** Ranges of the keys that the queries inherit. */
  readonly defaults: Int32Array
  /** Whether conditions can read the attributes and the context of the queries. */
  readonly isRuled: boolean
  /**
   * Builds the query that was read last. `known`: the terms of the previous query. Null: the query is left to
   * the fallback parser.
   */
  asked(known: QueryTerms | null): ReadQuestion | null
}

/**
 * Counts how often templates match. The counts determine whether queries are compared with templates and
 * whether more templates are learned.
 */
export class TemplateYield {
  templates = 0
  uses = 0
  misses = 0

  /**
   * Whether queries are compared with templates. If queries rarely have the same form, comparing costs more
   * than it saves.
   */
  get shouldMatch(): boolean {
    return this.misses <= TEMPLATES_MAX + this.uses
  }

  /** Whether another template can be learned. */
  get shouldLearn(): boolean {
    return this.templates * USES_PER_TEMPLATE <= this.uses
  }
}

interface ListSource {
  readonly body: Buffer
  readonly bytes: DataView
  /** Ranges of the keys that the queries inherit. */
  readonly defaults: Int32Array
  readonly gain: TemplateYield
}

export class ListReader {
  /**
   * Strings of the current body. The reader of the body calls `begin` first. `packed` finally checks that the
   * strings are valid.
   */
  readonly texts = new BodyTexts()
  readonly #checksMax: number
  /** Templates; the most recently used one is first. */
  readonly #templates: QuestionTemplate[] = []
  #keyRanges = new Int32Array(CHECKS_MIN * RANGE_WORDS)
  /**
   * Terms by query. Kept from one list to the next; only the first `#count` entries belong to the last list.
   */
  readonly #termsTable: QueryTerms[] = []
  #count = 0
  /** Whether a query of the last list contains attributes or context that conditions can read. */
  saysAttributes = false
  /** Ranges of the queries of the last list in the body, if they were recorded. */
  #textRanges = new Int32Array(TEXT_WORDS)
  /** For each query, the template that matched it. */
  readonly #matched: (QuestionTemplate | null)[] = []
  /**
   * The list of a single query. It is reused, because a new object per decision would burden the garbage
   * collector.
   */
  readonly #one: PackedQueries

  /** Lists of more than `checksMax` queries are left to the fallback, which rejects them. */
  constructor(checksMax: number) {
    this.#checksMax = checksMax
    this.#one = new PackedQueries(1, EMPTY_BODY, this.#keyRanges, this.#termsTable)
  }

  /**
   * Returns the queries of the last list, valid until the next list is read, or null if the bytes are not
   * valid UTF-8. `readAt`: time at which the queries were read, if conditions can use it; in that case,
   * `sent` reads their attributes and context.
   */
  packed(readAt: number | null, sent: AttributesReader): PackedQueries | null {
    const { texts } = this
    if (!texts.isValid) return null
    const isOne = this.#count === 1
    const packed = isOne
      ? this.#one
      : new PackedQueries(this.#count, texts.bytes, this.#keyRanges, this.#termsTable)
    packed.asksRules = readAt !== null
    packed.readAt = readAt
    packed.attributes = readAt !== null && this.saysAttributes ? this.#attributes(sent) : null
    if (isOne) {
      packed.bytes = texts.bytes
      packed.keyRanges = this.#keyRanges
    }
    return packed
  }

  /** Drops the templates because the same text has another meaning in the next queries. */
  forget(): void {
    this.#templates.length = 0
  }

  /** Reads the list that begins at `from`. Returns the offset after it, or `REFUSED`. O(bytes). */
  read(body: Buffer, bytes: DataView, from: number, questions: Questions): number {
    this.#begin()
    if (body[from] !== OPEN_BRACKET) return REFUSED
    let at = skipBlanks(body, from + 1)
    if (body[at] === CLOSE_BRACKET) return at + 1
    const { defaults, isRuled } = questions
    const source = { body, bytes, defaults, gain: new TemplateYield() }
    for (let count = 0; count < this.#checksMax; count++) {
      if ((count + 1) * RANGE_WORDS > this.#keyRanges.length) this.#grow()
      let next = this.#matchNext(bytes, body.length, source.defaults, source.gain, at, count)
      const isMatched = next !== REFUSED
      if (!isMatched) next = this.#readUnlike(source, questions, at, count)
      if (next === REFUSED) return REFUSED
      if (isRuled) this.#noteText(count, at, next, isMatched ? this.#templates[0]! : null)
      at = skipBlanks(body, next)
      if (body[at] === CLOSE_BRACKET) return at + 1
      if (body[at] !== COMMA) return REFUSED
      at = skipBlanks(body, at + 1)
    }
    return REFUSED
  }

  /** Drops the terms of earlier lists, because clients control the length of the strings in them. */
  #begin(): void {
    if (this.#termsTable.length > this.#count) this.#termsTable.length = this.#count
    this.#count = 0
    this.saysAttributes = false
    // The entry of a single query is reused: a list that is truncated to length 0 releases its memory.
    if (this.#matched.length > 1) this.#matched.length = 1
  }

  /**
   * Compares a single query that is not in a list and inherits nothing with the templates. It replaces the
   * previous list. Returns the offset after the query, or `REFUSED`.
   */
  matchOne(bytes: DataView, at: number, limit: number, gain: TemplateYield): number {
    this.#begin()
    this.#textRanges[0] = at
    const end = (this.#textRanges[1] = this.#matchNext(bytes, limit, NO_DEFAULTS, gain, at, 0))
    this.#matched[0] = end === REFUSED ? null : this.#templates[0]!
    return end
  }

  /** Like `matchOne`, for a query that matches no template and must be read in full. */
  readOne(source: ListSource, questions: Questions, at: number): number {
    this.#begin()
    this.#matched[0] = null
    this.#textRanges[0] = at
    return (this.#textRanges[1] = this.#readUnlike(source, questions, at, 0))
  }

  #matchNext(
    bytes: DataView,
    limit: number,
    defaults: Int32Array,
    gain: TemplateYield,
    at: number,
    index: number,
  ): number {
    if (!gain.shouldMatch) return REFUSED
    const end = this.#match(bytes, limit, at, index, defaults)
    if (end === REFUSED) gain.misses++
    else gain.uses++
    return end
  }

  #readUnlike({ body, gain }: ListSource, questions: Questions, at: number, index: number): number {
    const next = questions.reader.read(at)
    if (next === REFUSED) return REFUSED
    const read = questions.asked(index === 0 ? null : this.#termsTable[index - 1]!)
    if (read === null) return REFUSED
    this.#keep(questions.reader, index)
    this.#termsTable[index] = read.terms
    this.#count = index + 1
    const { saysAttributes, attributes, skipped } = questions.reader
    if (saysAttributes) this.saysAttributes = true
    const mayLearn = gain.shouldMatch || gain.shouldLearn
    if (mayLearn && next - at <= TEMPLATE_BYTES_MAX)
      this.#learn(body, { ...read, from: at, to: next, skipped, saysAttributes, attributes }, gain)
    return next
  }

  /**
   * Compares the query with the templates. Returns the offset after the query, or `REFUSED` if no template
   * matches.
   */
  #match(bytes: DataView, limit: number, at: number, index: number, defaults: Int32Array): number {
    const { texts } = this
    const { mark } = texts
    const templates = this.#templates
    const range = index * RANGE_WORDS
    for (let place = 0; place < templates.length; place++) {
      const template = templates[place]!
      const end = template.match(bytes, at, limit, this.#keyRanges, range, defaults, texts)
      if (end === REFUSED) {
        texts.forget(mark)
        continue
      }
      for (let before = place; before > 0; before--) templates[before] = templates[before - 1]!
      templates[0] = template
      this.#termsTable[index] = template.terms
      if (template.saysAttributes) this.saysAttributes = true
      this.#count = index + 1
      return end
    }
    return REFUSED
  }

  #keep({ user, key }: QuestionReader, index: number): void {
    const keyRanges = this.#keyRanges
    const range = index * RANGE_WORDS
    keyRanges[range + USER_RANGE] = user.at
    keyRanges[range + USER_RANGE + RANGE_LENGTH] = user.length
    keyRanges[range + KEY_RANGE] = key.at
    keyRanges[range + KEY_RANGE + RANGE_LENGTH] = key.length
  }

  /**
   * Learns a template from a query. If the query differs from an earlier template only in skipped values, the
   * new template has gaps for these values and replaces the earlier one.
   */
  #learn(body: Buffer, question: Omit<LearnedQuestion, 'isWide'>, gain: TemplateYield): void {
    const templates = this.#templates
    const narrow = templates.findIndex(template => template.isTooNarrowFor(question))
    const isWide = narrow !== -1 && question.skipped.length <= SKIPPED_VALUES_MAX
    if (isWide) templates.splice(narrow, 1)
    else if (!gain.shouldLearn) return
    else gain.templates++
    if (templates.length === TEMPLATES_MAX) templates.pop()
    templates.unshift(new QuestionTemplate(body, { ...question, isWide }))
  }

  /** Length of the longest query of the last list in bytes, if lengths were recorded. O(queries). */
  get longestText(): number {
    let longest = 0
    for (let index = 0; index < this.#count; index++) {
      longest = Math.max(
        longest,
        this.#textRanges[TEXT_WORDS * index + 1]! - this.#textRanges[TEXT_WORDS * index]!,
      )
    }
    return longest
  }

  /** Separate function because most requests do not use it. */
  #attributes(sent: AttributesReader): AttributesInBody {
    const texts = { ranges: this.#textRanges, templates: this.#matched, isAscii: this.texts.isAscii }
    return new AttributesInBody(this.texts.bytes, texts, sent)
  }

  #noteText(index: number, from: number, to: number, template: QuestionTemplate | null): void {
    this.#matched[index] = template
    const place = TEXT_WORDS * index
    if (place === this.#textRanges.length) {
      const ranges = new Int32Array(2 * place)
      ranges.set(this.#textRanges)
      this.#textRanges = ranges
    }
    this.#textRanges[place] = from
    this.#textRanges[place + 1] = to
  }

  #grow(): void {
    const keyRanges = new Int32Array(Math.min(this.#checksMax * RANGE_WORDS, 2 * this.#keyRanges.length))
    keyRanges.set(this.#keyRanges)
    this.#keyRanges = keyRanges
  }
}
