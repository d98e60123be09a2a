/**
 * Reads a JSON list of queries directly from bytes into packed queries. The first query is read in full.
 * Further queries of the same form are only compared with it (`question-template.ts`), which is several times
 * faster than parsing. The learned templates are kept for the next body, because it probably has the same
 * form. The caller defines the dialect of the queries.
 */
import type { AttributesReader } from '#decisions/dialects/attributes-in-text.ts'
import { EMPTY_BODY } from '#http/message/byte-views.ts'
import {
  type PackedContext,
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
 * Maximum length in bytes of a query from which a template is learned. Templates stay in memory, and clients
 * control the length of their queries. A longer query is therefore read in full each time.
 */
const TEMPLATE_BYTES_MAX = 1_024
/**
 * Another template is learned from a body only if the templates that were learned from this body have matched
 * this many times each on average.
 */
const USES_PER_TEMPLATE = 4
/** Initial capacity of the list, in queries. It doubles as needed. */
const CHECKS_MIN = 512

/** Positions of default keys for queries that inherit no values. */
export const NO_DEFAULTS = new Int32Array(RANGE_WORDS)

/** A query that was read: its terms, and the positions of its keys in the body. */
export interface ReadQuestion {
  readonly terms: QueryTerms
  readonly user: KeyPlace
  readonly key: KeyPlace
}

/** How the queries in a list are read. */
export interface Questions {
  readonly reader: QuestionReader
  /** Positions of the default keys that the queries inherit. */
  readonly defaults: Int32Array
  /** Whether queries inherit attributes or context from defaults. */
  readonly inheritAttributes: boolean
  /**
   * Builds the query that was just read. `known`: the terms of the previous query. Returns null if the
   * fallback parser must handle the query.
   */
  asked(known: QueryTerms | null): ReadQuestion | null
}

/**
 * Counts how often queries match templates. These counts determine whether further queries are compared with
 * templates, and whether more templates are learned.
 */
export class TemplateYield {
  templates = 0
  uses = 0
  misses = 0

  /**
   * Whether to compare queries with templates. If queries rarely have the same form, the comparison costs
   * more than it saves.
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
  /** Positions of the default keys that the queries inherit. */
  readonly defaults: Int32Array
  readonly gain: TemplateYield
}

export class ListReader {
  /**
   * Strings of the current body. The reader of the body calls `begin` before it uses this list reader. At the
   * end, `packed` checks that the strings are valid.
   */
  readonly texts = new BodyTexts()
  readonly #checksMax: number
  /** Learned templates, beginning with the most recently used one. */
  readonly #templates: QuestionTemplate[] = []
  #keyRanges = new Int32Array(CHECKS_MIN * RANGE_WORDS)
  /**
   * Terms of each query. The array is reused for the next list; only its first `#count` entries belong to the
   * last list.
   */
  readonly #termsTable: QueryTerms[] = []
  #count = 0
  /** Whether a query of the last list contains attributes or context that conditions can read. */
  saysAttributes = false
  /**
   * Positions of the queries of the last list in the body, from the first query with attributes on. Only
   * attributes need them.
   */
  #positions = new Int32Array(TEXT_WORDS)
  /** Index of the first query with a position; -1 if no query has one. */
  #textsFrom = -1
  #templateCount = 0
  /**
   * Packed form of a list with a single query. The object is reused, because a new object for each decision
   * would add work for the garbage collector.
   */
  readonly #one: PackedQueries
  /** Reads the attributes and the context of the queries of the last list. */
  #sent: AttributesReader | null = null
  readonly #context: PackedContext

  /**
   * `checksMax`: maximum number of queries. Longer lists are left to the fallback, which rejects them. `now`
   * returns milliseconds since 1970.
   */
  constructor(checksMax: number, now: () => number, { isSingle } = { isSingle: false }) {
    this.#checksMax = checksMax
    this.#context = { now, attributes: () => this.#attributes() }
    this.#one = new PackedQueries(1, EMPTY_BODY, this.#keyRanges, this.#termsTable)
    this.#one.isSingle = isSingle
  }

  /**
   * Returns the queries of the last list, or null if the bytes are not valid UTF-8. The result is valid until
   * the next list is read. `sent` reads the attributes and the context of a query. It is called only for
   * queries whose conditions need them.
   */
  packed(sent: AttributesReader): PackedQueries | null {
    const { texts } = this
    if (!texts.isValid) return null
    this.#sent = sent
    if (this.#count === 1) return this.#one.reuse(texts.bytes, this.#keyRanges, this.#context)
    return new PackedQueries(this.#count, texts.bytes, this.#keyRanges, this.#termsTable).in(this.#context)
  }

  /**
   * Drops all templates. Must be called if text that matches a template has another meaning in the next
   * queries.
   */
  forget(): void {
    this.#templates.length = 0
  }

  /** Reads the list that begins at `from`. Returns the offset after the list, or `REFUSED`. O(bytes). */
  read(body: Buffer, bytes: DataView, from: number, questions: Questions): number {
    this.#begin()
    if (body[from] !== OPEN_BRACKET) return REFUSED
    let at = skipBlanks(body, from + 1)
    if (body[at] === CLOSE_BRACKET) return at + 1
    const { defaults } = questions
    this.saysAttributes = questions.inheritAttributes
    const source = { body, bytes, defaults, gain: new TemplateYield() }
    for (let count = 0; count < this.#checksMax; count++) {
      if ((count + 1) * RANGE_WORDS > this.#keyRanges.length) this.#grow()
      let next = this.#matchNext(bytes, body.length, source.defaults, source.gain, at, count)
      const isMatched = next !== REFUSED
      if (!isMatched) next = this.#readUnlike(source, questions, at, count)
      if (next === REFUSED) return REFUSED
      if (this.saysAttributes) this.#noteText(count, at, next, isMatched ? this.#templates[0]!.number : 0)
      at = skipBlanks(body, next)
      if (body[at] === CLOSE_BRACKET) return at + 1
      if (body[at] !== COMMA) return REFUSED
      at = skipBlanks(body, at + 1)
    }
    return REFUSED
  }

  /**
   * Starts a new list. Drops the terms of earlier lists, because clients control the length of the strings in
   * them.
   */
  #begin(): void {
    if (this.#termsTable.length > this.#count) this.#termsTable.length = this.#count
    this.#count = 0
    this.#textsFrom = -1
    this.saysAttributes = false
  }

  /**
   * Compares a single query with the templates. The query is not in a list and inherits no values. It
   * replaces the previous list. Returns the offset after the query, or `REFUSED` if no template matches.
   */
  matchOne(bytes: DataView, at: number, limit: number, gain: TemplateYield): number {
    this.#begin()
    const end = this.#matchNext(bytes, limit, NO_DEFAULTS, gain, at, 0)
    if (end !== REFUSED) this.#noteText(0, at, end, this.#templates[0]!.number)
    return end
  }

  /** Like `matchOne`, but reads the query in full, because it matches no template. */
  readOne(source: ListSource, questions: Questions, at: number): number {
    this.#begin()
    const end = this.#readUnlike(source, questions, at, 0)
    this.#noteText(0, at, end, 0)
    return end
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
   * Learns a template from a query. If an earlier template differs from the query only in skipped values, the
   * new template gets gaps at these values and replaces the earlier template.
   */
  #learn(body: Buffer, question: Omit<LearnedQuestion, 'isWide'>, gain: TemplateYield): void {
    const templates = this.#templates
    const narrow = templates.findIndex(template => template.isTooNarrowFor(question))
    const isWide = narrow !== -1 && question.skipped.length <= SKIPPED_VALUES_MAX
    if (isWide) templates.splice(narrow, 1)
    else if (!gain.shouldLearn) return
    else gain.templates++
    if (templates.length === TEMPLATES_MAX) templates.pop()
    this.#templateCount += 1
    templates.unshift(new QuestionTemplate(body, { ...question, isWide }, this.#templateCount))
  }

  /**
   * Length in bytes of the longest query in the last list whose position was recorded. O(queries).
   */
  get longestText(): number {
    let longest = 0
    for (let place = TEXT_WORDS * this.#textsFrom; place < TEXT_WORDS * this.#count; place += TEXT_WORDS) {
      longest = Math.max(longest, this.#positions[place + 1]! - this.#positions[place]!)
    }
    return longest
  }

  #attributes(): AttributesInBody | null {
    if (!this.saysAttributes) return null
    const texts = {
      ranges: this.#positions,
      from: this.#textsFrom,
      templates: this.#templates.slice(),
      isAscii: this.texts.isAscii,
    }
    return new AttributesInBody(this.texts.bytes, texts, this.#sent!)
  }

  #noteText(index: number, from: number, to: number, template: number): void {
    if (this.#textsFrom < 0) this.#textsFrom = index
    const place = TEXT_WORDS * index
    if (place >= this.#positions.length) {
      const positions = new Int32Array(2 * (place + TEXT_WORDS))
      positions.set(this.#positions)
      this.#positions = positions
    }
    const positions = this.#positions
    positions[place] = from
    positions[place + 1] = to
    positions[place + 2] = template
  }

  #grow(): void {
    const keyRanges = new Int32Array(Math.min(this.#checksMax * RANGE_WORDS, 2 * this.#keyRanges.length))
    keyRanges.set(this.#keyRanges)
    this.#keyRanges = keyRanges
  }
}
