/**
 * Reads the body of a single check directly from its bytes, if the body has the common form and resembles an
 * earlier one. Like `bulk-reader.ts`, it accepts only bodies that `JSON.parse` and the schema accept, and
 * reads the same query. It never rejects a request. The JSON itself is read by `question-reader.ts`.
 */
import { bytesOf } from '#http/message/byte-views.ts'
import type { PackedQueries } from '#model/packed-queries.ts'
import type { Dialect } from './dialects.ts'
import { TemplateYield, ListReader, NO_DEFAULTS } from './list-reader.ts'
import { isBlank, REFUSED, skipBlanks } from './plain-json.ts'
import { QuestionReader } from './question-reader.ts'

/**
 * Number of bodies after which the reader starts to count matches of templates again. The clients, and with
 * them the form of the bodies, can change.
 */
const BODIES_A_JUDGEMENT = 1_000

export class SingleReader {
  readonly #dialect: Dialect
  readonly #list: ListReader
  #gain = new TemplateYield()
  #bodies = 0

  /** `now` returns milliseconds since 1970. */
  constructor(dialect: Dialect, now: () => number) {
    this.#dialect = dialect
    this.#list = new ListReader(1, now, { isSingle: true })
  }

  /**
   * Returns the query, or null if the body does not have the common form. The result is valid until the next
   * body is read. O(bytes).
   */
  read(bytes: DataView): PackedQueries | null {
    const gain = this.#judged()
    const limit = this.#list.texts.begin(bytes)
    const end = this.#list.matchOne(bytes, blanksEnd(bytes, 0, limit), limit, gain)
    // If a query matches a template but other text follows it, the body is not read in full. Otherwise its
    // query would replace a useful template.
    const isRead = end === REFUSED ? this.#readUnlike(bytes, gain) : blanksEnd(bytes, end, limit) === limit
    return isRead ? this.#list.packed(this.#dialect.sent) : null
  }

  #readUnlike(bytes: DataView, gain: TemplateYield): boolean {
    const body = bytesOf(bytes)
    const source = { body, bytes, defaults: NO_DEFAULTS, gain }
    const dialect = this.#dialect
    const reader = new QuestionReader(body, this.#list.texts, dialect.fields)
    const asked = () => dialect.asked(reader, null)
    const end = this.#list.readOne(
      source,
      { reader, defaults: NO_DEFAULTS, inheritAttributes: false, asked },
      skipBlanks(body, 0),
    )
    return end !== REFUSED && skipBlanks(body, end) === body.length
  }

  #judged(): TemplateYield {
    if (++this.#bodies % BODIES_A_JUDGEMENT === 0) this.#gain = new TemplateYield()
    return this.#gain
  }
}

/**
 * Like `skipBlanks`, with a `DataView` as its argument. Converting the view to a byte array would allocate
 * another object for each decision.
 */
function blanksEnd(bytes: DataView, from: number, limit: number): number {
  let at = from
  while (at < limit && isBlank(bytes.getUint8(at))) at++
  return at
}
