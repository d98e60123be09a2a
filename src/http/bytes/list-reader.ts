/**
 * Reads a JSON list of questions from bytes into packed questions. The first question is read; those that look like it are
 * compared instead (`question-template.ts`), which is several times faster than parsing. Templates outlive the body: the
 * next one will look the same. Of which dialect the questions are is said by whoever asks.
 */
import type { SaidReader } from '#decisions/said-in-texts.ts'
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
import { SaidInBody, TEXT_WORDS } from './said-in-body.ts'
import type { QuestionReader } from './question-reader.ts'
import { type KeyPlace, type LearnedQuestion, QuestionTemplate } from './question-template.ts'

const TEMPLATES_MAX = 8
/** Longer questions are read each time: templates are kept, and callers decide how long they are. */
const TEMPLATE_BYTES_MAX = 1_024
/** Another template is learned when those learned from the same body have matched so many times each. */
const USES_PER_TEMPLATE = 4
/** Number of questions that have room at first. It is doubled as needed. */
const CHECKS_MIN = 512

/** Key ranges of questions that inherit nothing. */
export const NO_DEFAULTS = new Int32Array(RANGE_WORDS)

/** A question that was read: its terms, and where its keys lie in the body. */
export interface ReadQuestion {
  readonly terms: QueryTerms
  readonly user: KeyPlace
  readonly key: KeyPlace
}

/** One kind of list in one body. */
export interface Questions {
  readonly reader: QuestionReader
  /** The ranges of the keys that questions inherit. */
  readonly defaults: Int32Array
  /** Whether conditions may ask for what they say. */
  readonly isRuled: boolean
  /** What the question last read asks, `known` being the terms of the one before; null leaves it to the ordinary parser. */
  asked(known: QueryTerms | null): ReadQuestion | null
}

/** How often templates have matched. It decides whether questions are compared with them, and whether more are learned. */
export class TemplateYield {
  templates = 0
  uses = 0
  misses = 0

  /** Whether questions are compared with templates. Where hardly any two look alike, comparing costs more than it saves. */
  get shouldMatch(): boolean {
    return this.misses <= TEMPLATES_MAX + this.uses
  }

  /** Whether another template may be learned. */
  get shouldLearn(): boolean {
    return this.templates * USES_PER_TEMPLATE <= this.uses
  }
}

interface ListSource {
  readonly body: Buffer
  readonly bytes: DataView
  /** The ranges of the keys that questions inherit. */
  readonly defaults: Int32Array
  readonly gain: TemplateYield
}

export class ListReader {
  /** The texts of the body that is being read. Its reader begins with them, and checks in the end that they are valid. */
  readonly texts = new BodyTexts()
  readonly #checksMax: number
  /** The template used last comes first. */
  readonly #templates: QuestionTemplate[] = []
  #keyRanges = new Int32Array(CHECKS_MIN * RANGE_WORDS)
  /** Kept from one list to the next; of the last one, `#count` are good. */
  readonly #termsTable: QueryTerms[] = []
  #count = 0
  /** Whether a question of the last list says something that conditions may ask for. */
  saysAttributes = false
  /** Where the questions of the last list stand, if that was to be noted. */
  #textRanges = new Int32Array(TEXT_WORDS)
  /** The templates that have matched them. */
  readonly #matched: (QuestionTemplate | null)[] = []
  /** The list of one question, used again: a new object for each decision would be one more for the garbage collector. */
  readonly #one: PackedQueries

  /** Longer lists are not read here. The ordinary way refuses them. */
  constructor(checksMax: number) {
    this.#checksMax = checksMax
    this.#one = new PackedQueries(1, EMPTY_BODY, this.#keyRanges, this.#termsTable)
  }

  /**
   * The questions of the list read last, valid until the next is read; null if its bytes are not valid text. `readAt`: when they were
   * read, where conditions may ask for it, and then for what they say, which `sent` reads.
   */
  packed(readAt: number | null, sent: SaidReader): PackedQueries | null {
    const { texts } = this
    if (!texts.isValid) return null
    const isOne = this.#count === 1
    const packed = isOne
      ? this.#one
      : new PackedQueries(this.#count, texts.bytes, this.#keyRanges, this.#termsTable)
    packed.asksRules = readAt !== null
    packed.readAt = readAt
    packed.said = readAt !== null && this.saysAttributes ? this.#said(sent) : null
    if (isOne) {
      packed.bytes = texts.bytes
      packed.keyRanges = this.#keyRanges
    }
    return packed
  }

  /** Forgets the templates: in the next questions the same text means something else. */
  forget(): void {
    this.#templates.length = 0
  }

  /** Reads the list that begins at `from`. Returns the place after it, or `REFUSED`. O(bytes). */
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

  /** Drops the terms of earlier lists, because callers decide how long the texts in them are. */
  #begin(): void {
    if (this.#termsTable.length > this.#count) this.#termsTable.length = this.#count
    this.#count = 0
    this.saysAttributes = false
    // Of one question the place is used again: a list that is emptied gives its memory back.
    if (this.#matched.length > 1) this.#matched.length = 1
  }

  /**
   * Compares a question that is in no list and inherits nothing. Afterwards it is the only question. Returns the place
   * after it, or `REFUSED`.
   */
  matchOne(bytes: DataView, at: number, limit: number, gain: TemplateYield): number {
    this.#begin()
    this.#textRanges[0] = at
    const end = (this.#textRanges[1] = this.#matchNext(bytes, limit, NO_DEFAULTS, gain, at, 0))
    this.#matched[0] = end === REFUSED ? null : this.#templates[0]!
    return end
  }

  /** The same for a question that has to be read. */
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

  /** Tries the templates. Returns the place after the question, or `REFUSED` if none matches. */
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
   * Learns a template. If the question differs from an earlier one only in values that are not read, the new template has
   * gaps for these and replaces the earlier one.
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

  /** Bytes of the longest question of the last list, if that was noted. O(questions). */
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

  /** A function of its own: most requests have no use for it. */
  #said(sent: SaidReader): SaidInBody {
    const texts = { ranges: this.#textRanges, templates: this.#matched, isAscii: this.texts.isAscii }
    return new SaidInBody(this.texts.bytes, texts, sent)
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
