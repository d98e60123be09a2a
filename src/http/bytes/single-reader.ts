/**
 * Reads the body of a single decision from its bytes, where it is of the usual kind and looks like one before it. As
 * `bulk-reader.ts`: it accepts nothing that the parser or the schema refuses, reads the same, and never refuses.
 */
import { bytesOf } from '#http/message/byte-views.ts'
import type { PackedQueries } from '#model/packed-queries.ts'
import type { Dialect } from './dialects.ts'
import { TemplateYield, ListReader, NO_DEFAULTS } from './list-reader.ts'
import { isBlank, REFUSED, skipBlanks } from './plain-json.ts'
import { QuestionReader } from './question-reader.ts'

/** The yield of templates is judged anew after so many bodies: callers come and go. */
const BODIES_A_JUDGEMENT = 1_000

export class SingleReader {
  readonly #dialect: Dialect
  readonly #list = new ListReader(1)
  #gain = new TemplateYield()
  #bodies = 0

  constructor(dialect: Dialect) {
    this.#dialect = dialect
  }

  /** The question, valid until the next is read; `null` if the body is not of the usual kind. O(bytes). `readAt`: see `ListReader`. */
  read(bytes: DataView, readAt: number | null): PackedQueries | null {
    const gain = this.#judged()
    const limit = this.#list.texts.begin(bytes)
    const end = this.#list.matchOne(bytes, blanksEnd(bytes, 0, limit), limit, gain)
    // What looks alike and has something behind it is not read again: it would be learned in the place of what is good.
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

/** `skipBlanks` for a view: bytes over it would be one more object for each decision. */
function blanksEnd(bytes: DataView, from: number, limit: number): number {
  let at = from
  while (at < limit && isBlank(bytes.getUint8(at))) at++
  return at
}
