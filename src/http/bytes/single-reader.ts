/**
 * Reads the body of a single decision from its bytes, where it is of the usual kind and looks like one before it. As
 * `bulk-reader.ts`: it accepts nothing that the parser or the schema refuses, reads the same, and never refuses.
 */
import { type PackedQueries, SPOT_WORDS } from '#model/packed-queries.ts'
import { Learning, ListReader } from './list-reader.ts'
import { REFUSED, skipBlanks } from './plain-json.ts'
import { QUESTION_FIELDS } from './question-fields.ts'
import { QuestionReader } from './question-reader.ts'

const NO_DEFAULTS = new Int32Array(SPOT_WORDS)
/** What was learned of templates is judged anew after so many bodies: callers come and go. */
const BODIES_A_JUDGEMENT = 1_000

export class SingleReader {
  readonly #list = new ListReader(1)
  #learned = new Learning()
  #bodies = 0

  /** The question, good until the next is read; `null` if the body is not of the usual kind. O(bytes). */
  read(body: Buffer): PackedQueries | null {
    const bytes = new DataView(body.buffer, body.byteOffset, body.byteLength)
    const source = { body, bytes, defaults: NO_DEFAULTS, learned: this.#judged() }
    const from = skipBlanks(body, 0)
    let end = this.#list.matchOne(source, from)
    if (end === REFUSED) end = this.#readUnlike(source, from)
    if (end === REFUSED || skipBlanks(body, end) !== body.length) return null
    return this.#list.packed(bytes)
  }

  #readUnlike(source: Parameters<ListReader['readOne']>[0], from: number): number {
    const reader = new QuestionReader(source.body, QUESTION_FIELDS)
    const settle = () => ({
      form: reader.form(null),
      user: reader.user,
      key: reader.key.from === 0 ? ('none' as const) : reader.key,
    })
    return this.#list.readOne(source, { reader, defaults: NO_DEFAULTS, settle }, from)
  }

  #judged(): Learning {
    if (++this.#bodies % BODIES_A_JUDGEMENT === 0) this.#learned = new Learning()
    return this.#learned
  }
}
