/**
 * Reads the body of a bulk decision from its bytes into packed questions, where it is of the usual kind. The first
 * question is read; those that look like it are compared instead (`question-template.ts`), which is several times faster
 * than parsing. Templates outlive the body: the next one will look the same.
 *
 * Whatever this reader accepts, the ordinary parser and the schema accept, and they read the same questions. It never
 * refuses: a body it cannot read is theirs, and so are all error texts. The fuzz test holds it to that.
 */
import {
  PackedQueries,
  type QueryForm,
  SPOT_KEY,
  SPOT_LENGTH,
  SPOT_USER,
  SPOT_WORDS,
} from '#model/packed-queries.ts'
import { CLOSE_BRACKET, COMMA, OPEN_BRACKET, REFUSED, skipBlanks } from './plain-json.ts'
import { QuestionReader } from './question-reader.ts'
import { QuestionTemplate } from './question-template.ts'

const TEMPLATES_MAX = 8
/** Questions longer than that are read each time: a template is kept, and a caller decides how long it is. */
const TEMPLATE_BYTES_MAX = 1_024
/** Another template is learned when those learned from the same body have been of use so many times each. */
const USES_PER_TEMPLATE = 4
/** Questions there is room for at first; doubled as needed. */
const CHECKS_MIN = 512

export class BulkReader {
  readonly #checksMax: number
  /** The one used last first. */
  readonly #templates: QuestionTemplate[] = []
  #spots = new Int32Array(CHECKS_MIN * SPOT_WORDS)

  /** Longer bulks are not read: the ordinary way says that they are too long. */
  constructor(checksMax: number) {
    this.#checksMax = checksMax
  }

  /** The questions, good until the next body is read; `null` if the body is not of the usual kind. O(bytes). */
  read(body: Buffer): PackedQueries | null {
    const bytes = new DataView(body.buffer, body.byteOffset, body.byteLength)
    const forms: QueryForm[] = []
    const end = this.#readAll(body, bytes, forms)
    if (end === REFUSED || skipBlanks(body, end) !== body.length) return null
    return new PackedQueries(forms.length, { bytes, spots: this.#spots, forms })
  }

  #readAll(body: Buffer, bytes: DataView, forms: QueryForm[]): number {
    let at = skipBlanks(body, 0)
    if (body[at] !== OPEN_BRACKET) return REFUSED
    at = skipBlanks(body, at + 1)
    if (body[at] === CLOSE_BRACKET) return at + 1
    const reader = new QuestionReader(body)
    const learned = { templates: 0, uses: 0, misses: 0 }
    for (let count = 0; count < this.#checksMax; count++) {
      if ((count + 1) * SPOT_WORDS > this.#spots.length) this.#grow()
      // Where hardly anything looks alike, comparing costs more than it saves.
      const isTried = learned.misses <= TEMPLATES_MAX + learned.uses
      let next = isTried ? this.#match(bytes, at, count, forms) : REFUSED
      if (next !== REFUSED) learned.uses++
      else {
        learned.misses++
        next = reader.read(at)
        if (next === REFUSED) return REFUSED
        const form = reader.form(forms[count - 1] ?? null)
        this.#keep(reader, count)
        forms.push(form)
        if (learned.templates * USES_PER_TEMPLATE <= learned.uses && next - at <= TEMPLATE_BYTES_MAX) {
          learned.templates++
          this.#learn(body, { from: at, to: next }, reader, form)
        }
      }
      at = skipBlanks(body, next)
      if (body[at] === CLOSE_BRACKET) return at + 1
      if (body[at] !== COMMA) return REFUSED
      at = skipBlanks(body, at + 1)
    }
    return REFUSED
  }

  /** Tries the templates; the place behind the question, or `REFUSED` if none fits. */
  #match(bytes: DataView, at: number, index: number, forms: QueryForm[]): number {
    const templates = this.#templates
    const spot = index * SPOT_WORDS
    for (let place = 0; place < templates.length; place++) {
      const template = templates[place]!
      const end = template.match(bytes, at, this.#spots, spot)
      if (end === REFUSED) continue
      for (let before = place; before > 0; before--) templates[before] = templates[before - 1]!
      templates[0] = template
      forms.push(template.form)
      return end
    }
    return REFUSED
  }

  #keep({ user, key }: QuestionReader, index: number): void {
    const spots = this.#spots
    const spot = index * SPOT_WORDS
    spots[spot + SPOT_USER] = user.from
    spots[spot + SPOT_USER + SPOT_LENGTH] = user.to - user.from
    spots[spot + SPOT_KEY] = key.from
    spots[spot + SPOT_KEY + SPOT_LENGTH] = key.to - key.from
  }

  #learn(
    body: Buffer,
    question: { readonly from: number; readonly to: number },
    { user, key }: QuestionReader,
    form: QueryForm,
  ): void {
    const templates = this.#templates
    if (templates.length === TEMPLATES_MAX) templates.pop()
    const instance = key.from === 0 ? null : key
    templates.unshift(new QuestionTemplate(body, { ...question, user, instance }, form))
  }

  #grow(): void {
    const spots = new Int32Array(Math.min(this.#checksMax * SPOT_WORDS, 2 * this.#spots.length))
    spots.set(this.#spots)
    this.#spots = spots
  }
}
