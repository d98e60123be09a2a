/**
 * Reads the body of a bulk decision from its bytes into packed questions, where it is of the usual kind.
 *
 * Whatever this reader accepts, the ordinary parser and the schema accept, and they read the same questions. It never
 * refuses: a body it cannot read is theirs, and so are all error texts. The fuzz test holds it to that.
 */
import { bytesOf } from '#http/message/byte-views.ts'
import type { PackedQueries, QueryTerms } from '#model/packed-queries.ts'
import { NATIVE } from './dialects.ts'
import { ListReader, NO_DEFAULTS } from './list-reader.ts'
import { REFUSED, skipBlanks } from './plain-json.ts'
import { QuestionReader } from './question-reader.ts'

export class BulkReader {
  readonly #list: ListReader
  readonly #unlikePartsMax: number | undefined

  /**
   * Longer bulks are not read here; the ordinary way refuses them. Nor are bulks with more than `unlikePartsMax` members
   * and elements in questions that no template matches, which take several times as long.
   */
  constructor(checksMax: number, unlikePartsMax?: number) {
    this.#list = new ListReader(checksMax)
    this.#unlikePartsMax = unlikePartsMax
  }

  /** The questions, valid until the next body is read; `null` if the body is not of the usual kind. O(bytes). `readAt`: see `ListReader`. */
  read(bytes: DataView, readAt: number | null): PackedQueries | null {
    const body = bytesOf(bytes)
    const { texts } = this.#list
    texts.begin(bytes)
    const reader = new QuestionReader(body, texts, NATIVE.fields, { partsMax: this.#unlikePartsMax })
    const asked = (known: QueryTerms | null) => NATIVE.asked(reader, known)
    const questions = { reader, defaults: NO_DEFAULTS, isRuled: readAt !== null, asked }
    const end = this.#list.read(body, bytes, skipBlanks(body, 0), questions)
    if (end === REFUSED || skipBlanks(body, end) !== body.length) return null
    return this.#list.packed(readAt, NATIVE.sent)
  }
}
