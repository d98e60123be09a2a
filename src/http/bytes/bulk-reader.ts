/**
 * Reads the body of a bulk check directly from its bytes into packed queries, if the body has the common
 * form.
 *
 * If this reader accepts a body, then `JSON.parse` and the schema also accept it and read the same queries. A
 * fuzz test verifies this. The reader never rejects a request: the fallback handles all other bodies and
 * creates all error messages.
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
   * `checksMax`: maximum number of queries. `now` returns milliseconds since 1970. `unlikePartsMax`: maximum
   * number of members and elements in queries that match no template, because reading such queries takes
   * several times as long. A bulk that exceeds one of the limits is left to the fallback, which rejects a
   * bulk with too many queries.
   */
  constructor(checksMax: number, now: () => number, unlikePartsMax?: number) {
    this.#list = new ListReader(checksMax, now)
    this.#unlikePartsMax = unlikePartsMax
  }

  /**
   * Returns the queries, or null if the body does not have the common form. The result is valid until the
   * next body is read. O(bytes).
   */
  read(bytes: DataView): PackedQueries | null {
    const body = bytesOf(bytes)
    const { texts } = this.#list
    texts.begin(bytes)
    const reader = new QuestionReader(body, texts, NATIVE.fields, { partsMax: this.#unlikePartsMax })
    const asked = (known: QueryTerms | null) => NATIVE.asked(reader, known)
    const questions = { reader, defaults: NO_DEFAULTS, inheritAttributes: false, asked }
    const end = this.#list.read(body, bytes, skipBlanks(body, 0), questions)
    if (end === REFUSED || skipBlanks(body, end) !== body.length) return null
    return this.#list.packed(NATIVE.sent)
  }
}
