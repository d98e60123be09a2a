/**
 * Reads the body of an AuthZEN batch from its bytes into packed questions, where it is of the usual kind: every item is to
 * be answered. Where the inherited defaults come before the items, as most callers write them, one pass is enough. Where
 * they come after, as in JSON with sorted names, the items are passed over first.
 *
 * Whatever this reader accepts, the ordinary way answers without an error at any item, and both read the same questions. It
 * never refuses: a body it cannot read, also one with a bad item, is left to the ordinary way.
 */
import { bytesOf } from '#http/message/byte-views.ts'
import { itemsSent, SENT_TEXT_BYTES_MAX } from '#decisions/said-in-texts.ts'
import { LONG_KEY_BYTES_MAX } from '#model/limits.ts'
import {
  NOT_A_USER,
  type PackedQueries,
  type QueryTerms,
  KEY_RANGE,
  RANGE_LENGTH,
  USER_RANGE,
  RANGE_WORDS,
} from '#model/packed-queries.ts'
import { ListReader, type ReadQuestion } from './list-reader.ts'
import { isText, listEnd, REFUSED, skipBlanks } from './plain-json.ts'
import {
  ACTION_PART,
  BATCH_FIELDS,
  ITEM_FIELDS,
  RESOURCE_PART,
  SUBJECT_PART,
  TEXTS,
} from './question-fields.ts'
import { type Place, QuestionReader } from './question-reader.ts'

export interface BatchReaderOptions {
  /** Longer batches are not read here. The ordinary way refuses them. */
  readonly checksMax: number
  /** See `BulkReader`. */
  readonly unlikePartsMax?: number | undefined
  /** Types whose ids are user keys. */
  readonly subjectTypes: ReadonlySet<string>
  /** Whether a resource must have an id. */
  readonly isStrict: boolean
}

interface Readers {
  readonly reader: QuestionReader
  readonly batch: QuestionReader
  /** Whether conditions may ask for what the items say. */
  readonly isRuled: boolean
}

/** Where the items are that could not be read yet, and which defaults were known by then. */
interface PassedItems {
  readonly from: number
  readonly to: number
  readonly parts: number
}

export class BatchReader {
  readonly #options: BatchReaderOptions
  readonly #list: ListReader
  /** The meaning of the defaults of the body before. */
  #inherited = ''
  /** Whether some of them came after the items. */
  #wasBehind = false

  constructor(options: BatchReaderOptions) {
    this.#options = options
    this.#list = new ListReader(options.checksMax)
  }

  /** The questions, valid until the next body is read; `null` if the body is not of the usual kind. O(bytes). `readAt`: see `ListReader`. */
  read(bytes: DataView, readAt: number | null): PackedQueries | null {
    const body = bytesOf(bytes)
    const { texts } = this.#list
    texts.begin(bytes)
    const { unlikePartsMax: partsMax } = this.#options
    const reader = new QuestionReader(body, texts, ITEM_FIELDS, { partsMax })
    const isRuled = readAt !== null
    let passed = null as PassedItems | null
    const list: Place = { from: 0, to: 0 }
    const readItems = (from: number): number => {
      const { mark } = texts
      list.from = from
      list.to = this.#wasBehind ? REFUSED : this.#readItems(body, bytes, from, { reader, batch, isRuled })
      if (list.to !== REFUSED) return list.to
      texts.forget(mark)
      const to = (list.to = listEnd(body, from))
      passed = { from, to, parts: batch.parts }
      return to
    }
    const batch: QuestionReader = new QuestionReader(body, texts, BATCH_FIELDS, { partsMax, readItems })
    const end = batch.read(skipBlanks(body, 0))
    if (end === REFUSED || skipBlanks(body, end) !== body.length) return null
    if (passed !== null && !this.#readPassed(body, bytes, passed, { reader, batch, isRuled })) return null
    // What is inherited counts for the items.
    if (batch.saysAttributes) this.#list.saysAttributes = true
    if (isRuled && !this.#hasReadableAttributes(list, body.length)) return null
    const packed = this.#list.packed(readAt, itemsSent({ ...list, end: body.length }))
    // A batch without items is a single evaluation.
    return packed === null || packed.count === 0 ? null : packed
  }

  /** Reads the items of a batch whose other members are known. Returns the place after them, or `REFUSED`. */
  #readItems(body: Buffer, bytes: DataView, at: number, { reader, batch, isRuled }: Readers): number {
    if (hasLongText(batch)) return REFUSED
    this.#useDefaults(batch)
    const asked = (known: QueryTerms | null) => this.#asked(body, { reader, batch, known })
    return this.#list.read(body, bytes, at, { reader, defaults: spotOf(batch), isRuled, asked })
  }

  /** Whether no item can have too many attributes, with those it inherits. It would have to be answered with an error. */
  #hasReadableAttributes({ from, to }: Place, length: number): boolean {
    if (!this.#list.saysAttributes) return true
    return this.#list.longestText + length - (to - from) <= SENT_TEXT_BYTES_MAX
  }

  /** Whether all items could be read, now that everything after them is known. */
  #readPassed(body: Buffer, bytes: DataView, { from, to, parts }: PassedItems, readers: Readers): boolean {
    const wasRead = !this.#wasBehind
    this.#wasBehind = readers.batch.parts !== parts
    // Items that were refused would be refused again if no new defaults are known.
    if (wasRead && !this.#wasBehind) return false
    return this.#readItems(body, bytes, from, readers) === to
  }

  /** Templates of items hold as long as the items inherit the same, apart from the keys, which differ in each body. */
  #useDefaults(batch: QuestionReader): void {
    const { parts, subjectType, action, type, tenant } = batch
    const texts = [subjectType, action, type, tenant].map(place => batch.text(place))
    const hasKeys = `${parts} ${batch.user.from === 0} ${batch.key.from === 0}`
    // Separated by a character that no text contains.
    const inherited = [hasKeys, ...texts].join('\n')
    if (inherited !== this.#inherited) this.#list.forget()
    this.#inherited = inherited
  }

  #asked(
    body: Buffer,
    { reader, batch, known }: { reader: QuestionReader; batch: QuestionReader; known: QueryTerms | null },
  ): ReadQuestion | null {
    const hasSubject = (reader.parts & SUBJECT_PART) !== 0
    const hasResource = (reader.parts & RESOURCE_PART) !== 0
    const subjectType = pick(hasSubject ? reader.subjectType : batch.subjectType, batch.subjectType)
    if (!hasSubject) reader.inherit(SUBJECT_PART, batch)
    if ((reader.parts & ACTION_PART) === 0) Object.assign(reader.action, batch.action)
    if (!hasResource) reader.inherit(RESOURCE_PART, batch)
    // Of a resource that lacks its id, too, the type is not completed.
    else if (reader.key.from !== 0) Object.assign(reader.type, pick(reader.type, batch.type))
    const { user, action, type, key } = reader
    if (user.from === 0 || subjectType.from === 0 || action.from === 0 || type.from === 0) return null
    if (this.#options.isStrict && key.from === 0) return null
    return {
      terms: this.#isUser(body, subjectType) ? reader.terms(known) : NOT_A_USER,
      user: hasSubject ? user : 'inherited',
      key: hasResource ? (key.from === 0 ? 'none' : key) : 'inherited',
    }
  }

  #isUser(body: Buffer, { from, to }: Place): boolean {
    for (const type of this.#options.subjectTypes) if (isText(body, from, to, type)) return true
    return false
  }
}

/**
 * Whether a default is longer than any name. A default is read again for each item that inherits it, so a body of a
 * megabyte would be read ten thousand times. The ordinary way makes one text of it.
 */
function hasLongText(batch: QuestionReader): boolean {
  return TEXTS.some(name => batch[name].to - batch[name].from > LONG_KEY_BYTES_MAX)
}

/** The item's own text, else the default's. */
function pick(own: Place, inherited: Place): Place {
  return own.from === 0 ? inherited : own
}

/** The keys of the defaults, as a question that inherits them has them. */
function spotOf({ user, key }: QuestionReader): Int32Array {
  const range = new Int32Array(RANGE_WORDS)
  range[USER_RANGE] = user.at
  range[USER_RANGE + RANGE_LENGTH] = user.length
  range[KEY_RANGE] = key.at
  range[KEY_RANGE + RANGE_LENGTH] = key.length
  return range
}
