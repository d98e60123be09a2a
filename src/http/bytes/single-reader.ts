/**
 * Reads the body of a single check directly from its bytes, if the body has the common form and resembles an
 * earlier one. Like `bulk-reader.ts`, it accepts only bodies that `JSON.parse` and the schema accept, reads
 * the same query, and never rejects a request.
 */
import { bytesOf } from '#http/message/byte-views.ts'
import type { PackedQueries } from '#model/packed-queries.ts'
import type { Dialect } from './dialects.ts'
import { TemplateYield, ListReader, NO_DEFAULTS } from './list-reader.ts'
import { isBlank, REFUSED, skipBlanks } from './plain-json.ts'
import { QuestionReader } from './question-reader.ts'

/** The yield of templates is evaluated again after this many bodies, because the clients change. */
const BODIES_A_JUDGEMENT = 1_000

export class SingleReader {
  readonly #dialect: Dialect
  readonly #list = new ListReader(1)
  #gain = new TemplateYield()
  #bodies = 0

  constructor(dialect: Dialect) {
    this.#dialect = dialect
  }

  /**
   * Returns the query, valid until the next body is read, or null if the body does not have the common form.
   * `readAt`: see `ListReader`. O(bytes).
   */
  read(bytes: DataView, readAt: number | null): PackedQueries | null {
    const gain = this.#judged()
    const limit = this.#list.texts.begin(bytes)
    const end = this.#list.matchOne(bytes, blanksEnd(bytes, 0, limit), limit, gain)
    // A query that matches a template but is followed by other text is not read again. Otherwise it would
    // replace a useful template.
    const isRead = end === REFUSED ? this.#readUnlike(bytes, gain) : blanksEnd(bytes, end, limit) === limit
    return isRead ? this.#list.packed(readAt, this.#dialect.sent) : null
  }

  #readUnlike(bytes: DataView, gain: TemplateYield): boolean {
    const body = bytesOf(bytes)
    const source = { body, bytes, defaults: NO_DEFAULTS, gain }
    const dialect = this.#dialect
    const reader = new QuestionReader(body, this.#list.texts, dialect.fields)
    const asked = () => dialect.asked(reader, null)
    const end = this.#list.readOne(
      source,
      { reader, defaults: NO_DEFAULTS, isRuled: false, asked },
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
 * Like `skipBlanks`, for a view. Creating a byte array over the view would allocate one more object per
 * decision.
 */
function blanksEnd(bytes: DataView, from: number, limit: number): number {
  let at = from
  while (at < limit && isBlank(bytes.getUint8(at))) at++
  return at
}
