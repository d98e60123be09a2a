/**
 * Reads the body of an AuthZEN batch directly from its bytes into packed queries. The body must have the
 * common form, and its evaluation semantic must be to evaluate every item. Most clients write the defaults
 * before the items, so one pass over the bytes is sufficient. If the defaults follow the items, as in JSON
 * with sorted names, the reader first skips the items and reads them after the defaults.
 *
 * If this reader accepts a body, then the fallback (`JSON.parse` and the schema) reads the same queries and
 * evaluates every item without an error. This reader never rejects a request. If it cannot read a body, for
 * example because an item is invalid, the fallback handles the request.
 */
import { bytesOf } from '#http/message/byte-views.ts'
import { itemsSent, SENT_TEXT_BYTES_MAX } from '#decisions/dialects/attributes-in-text.ts'
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
import { type ByteRange, QuestionReader } from './question-reader.ts'

export interface BatchReaderOptions {
  /** Maximum number of items. Longer batches are left to the fallback, which rejects them. */
  readonly checksMax: number
  /** See `BulkReader`. */
  readonly unlikePartsMax?: number | undefined
  /** Subject types whose IDs are user keys. */
  readonly subjectTypes: ReadonlySet<string>
  /** Whether a resource must have an ID. */
  readonly isStrict: boolean
  /** Returns milliseconds since 1970. */
  readonly now: () => number
}

interface Readers {
  readonly reader: QuestionReader
  readonly batch: QuestionReader
}

/** Range of the items, and the defaults that were known when the items were read or skipped. */
interface ItemsBefore extends ByteRange {
  /** Bit mask of these defaults. */
  parts: number
  saysAttributes: boolean
  isRead: boolean
}

export class BatchReader {
  readonly #options: BatchReaderOptions
  readonly #list: ListReader
  /** Text that identifies the defaults of the previous body; see `#useDefaults`. */
  #inherited = ''
  /** Whether the previous body contained defaults after its items. */
  #wasBehind = false

  constructor(options: BatchReaderOptions) {
    this.#options = options
    this.#list = new ListReader(options.checksMax, options.now)
  }

  /**
   * Returns the queries, or null if the body does not have the common form. The result is valid until the
   * next body is read. O(bytes).
   */
  read(bytes: DataView): PackedQueries | null {
    const body = bytesOf(bytes)
    const { texts } = this.#list
    texts.begin(bytes)
    const { unlikePartsMax: partsMax } = this.#options
    const reader = new QuestionReader(body, texts, ITEM_FIELDS, { partsMax })
    const list: ItemsBefore = { from: 0, to: 0, parts: 0, saysAttributes: false, isRead: true }
    const readItems = (from: number): number => {
      const { mark } = texts
      list.from = from
      list.parts = batch.parts
      list.saysAttributes = batch.saysAttributes
      list.to = this.#wasBehind ? REFUSED : this.#readItems(body, bytes, from, { reader, batch })
      if (list.to !== REFUSED) return list.to
      texts.forget(mark)
      list.isRead = false
      return (list.to = listEnd(body, from))
    }
    const batch: QuestionReader = new QuestionReader(body, texts, BATCH_FIELDS, { partsMax, readItems })
    const end = batch.read(skipBlanks(body, 0))
    if (end === REFUSED || skipBlanks(body, end) !== body.length) return null
    // If attributes follow the items, the positions of the items were not recorded.
    const mustRead = !list.isRead || batch.saysAttributes !== list.saysAttributes
    if (mustRead && !this.#readPassed(body, bytes, list, { reader, batch })) return null
    if (!this.#hasReadableAttributes(list, body.length)) return null
    const packed = this.#list.packed(itemsSent({ from: list.from, to: list.to, end: body.length }))
    // An AuthZEN request without items is a single evaluation, which the fallback handles.
    return packed === null || packed.count === 0 ? null : packed
  }

  /** Reads the items of a batch after its defaults. Returns the offset after the items, or `REFUSED`. */
  #readItems(body: Buffer, bytes: DataView, at: number, { reader, batch }: Readers): number {
    if (hasLongText(batch)) return REFUSED
    this.#useDefaults(batch)
    const asked = (known: QueryTerms | null) => this.#asked(body, { reader, batch, known })
    const { saysAttributes: inheritAttributes } = batch
    return this.#list.read(body, bytes, at, { reader, defaults: spotOf(batch), inheritAttributes, asked })
  }

  /**
   * Whether the attributes of every item, together with the attributes of the defaults, are within the limit.
   * If they are not, the fallback must read the body and create the error for the item.
   */
  #hasReadableAttributes({ from, to }: ByteRange, length: number): boolean {
    if (!this.#list.saysAttributes) return true
    return this.#list.longestText + length - (to - from) <= SENT_TEXT_BYTES_MAX
  }

  /**
   * Reads the items after the whole batch was read and all defaults are known. Returns whether all items
   * could be read.
   */
  #readPassed(body: Buffer, bytes: DataView, list: ItemsBefore, readers: Readers): boolean {
    const { from, to, parts, saysAttributes } = list
    const { batch } = readers
    const wasRead = !this.#wasBehind
    this.#wasBehind = batch.parts !== parts || batch.saysAttributes !== saysAttributes
    // The items were already read without success. If no defaults followed them, a second attempt would fail
    // again.
    if (wasRead && !this.#wasBehind) return false
    return this.#readItems(body, bytes, from, readers) === to
  }

  /**
   * Prepares the templates for the items. The templates of the previous body are kept only if its defaults
   * were the same. The user keys and resource keys in the defaults can differ.
   */
  #useDefaults(batch: QuestionReader): void {
    const { parts, subjectType, action, type, tenant } = batch
    const texts = [subjectType, action, type, tenant].map(place => batch.text(place))
    const hasKeys = `${parts} ${batch.user.from === 0} ${batch.key.from === 0}`
    // The separator does not occur in any text.
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
    // If a resource in an item has no ID, it does not inherit the type of the default resource.
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

  #isUser(body: Buffer, { from, to }: ByteRange): boolean {
    for (const type of this.#options.subjectTypes) if (isText(body, from, to, type)) return true
    return false
  }
}

/**
 * Whether a default is longer than any valid name. The reader reads a default again for each item that
 * inherits it. A default of a megabyte would be read up to ten thousand times. The fallback decodes it only
 * once.
 */
function hasLongText(batch: QuestionReader): boolean {
  return TEXTS.some(name => batch[name].to - batch[name].from > LONG_KEY_BYTES_MAX)
}

/** The value of the item if it has one, otherwise the default. */
function pick(own: ByteRange, inherited: ByteRange): ByteRange {
  return own.from === 0 ? inherited : own
}

/** Positions of the default keys, in the layout of a query that inherits both keys. */
function spotOf({ user, key }: QuestionReader): Int32Array {
  const range = new Int32Array(RANGE_WORDS)
  range[USER_RANGE] = user.at
  range[USER_RANGE + RANGE_LENGTH] = user.length
  range[KEY_RANGE] = key.at
  range[KEY_RANGE + RANGE_LENGTH] = key.length
  return range
}
