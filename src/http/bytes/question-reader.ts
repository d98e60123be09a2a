/**
 * Reads one `AllowedQuery` from bytes, fields in any order, without making a value of it: where the five texts of the
 * question stand is all that is kept. Strict: what is out of the ordinary (escapes, other scripts, a field twice, deep
 * nesting) is refused and left to the ordinary parser.
 *
 * It is a security boundary. Whatever it accepts, `JSON.parse` and the schema accept, and they read the same texts; so
 * the fields below are those of the schema (`model/wire/decision.ts`), and everything else is skipped as JSON.
 */
import type { QueryForm } from '#model/packed-queries.ts'
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  isText,
  literalEnd,
  numberEnd,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  REFUSED,
  skipBlanks,
  stringEnd,
} from './plain-json.ts'

/** A text of a question: the places of its first byte and behind its last; both 0 when it is absent or null. */
interface Place {
  from: number
  to: number
}

/** The texts of a question. */
const TEXTS = ['user', 'action', 'type', 'key', 'tenant'] as const
type TextName = (typeof TEXTS)[number]

type Field =
  /** A text of the question: a string that is not empty. */
  | { readonly kind: 'text'; readonly text: TextName; readonly isNullable: boolean }
  /** What the question does not depend on, of the kind the schema wants. */
  | { readonly kind: 'string-or-null' }
  | { readonly kind: 'object-or-null' }
  | { readonly kind: 'object'; readonly fields: Fields }

interface Fields {
  readonly byName: readonly (readonly [name: string, field: Field])[]
  /** One bit for each field that must be there, by its place in the list. */
  readonly required: number
}

const IGNORED_STRING: Field = { kind: 'string-or-null' }
const IGNORED_OBJECT: Field = { kind: 'object-or-null' }

const NO_FIELDS = fields({}, [])

const USER_FIELDS = fields(
  {
    key: { kind: 'text', text: 'user', isNullable: false },
    email: IGNORED_STRING,
    first_name: IGNORED_STRING,
    last_name: IGNORED_STRING,
    firstName: IGNORED_STRING,
    lastName: IGNORED_STRING,
    attributes: IGNORED_OBJECT,
  },
  ['key'],
)

const RESOURCE_FIELDS = fields(
  {
    type: { kind: 'text', text: 'type', isNullable: false },
    key: { kind: 'text', text: 'key', isNullable: true },
    tenant: { kind: 'text', text: 'tenant', isNullable: true },
    attributes: IGNORED_OBJECT,
    context: IGNORED_OBJECT,
  },
  ['type'],
)

/** Those of the whole question. */
export const QUESTION_FIELDS = fields(
  {
    user: { kind: 'object', fields: USER_FIELDS },
    action: { kind: 'text', text: 'action', isNullable: false },
    resource: { kind: 'object', fields: RESOURCE_FIELDS },
    context: IGNORED_OBJECT,
    sdk: IGNORED_STRING,
  },
  ['user', 'action', 'resource'],
)

/** How the literals begin. */
const LETTER_F = 0x66
const LETTER_N = 0x6e
const LETTER_T = 0x74

/** Levels skipped in a value nobody reads; deeper ones are the ordinary parser's, which counts them. */
const SKIPPED_LEVELS_MAX = 16

export class QuestionReader {
  readonly user: Place = { from: 0, to: 0 }
  readonly action: Place = { from: 0, to: 0 }
  readonly type: Place = { from: 0, to: 0 }
  readonly key: Place = { from: 0, to: 0 }
  readonly tenant: Place = { from: 0, to: 0 }
  readonly #bytes: Buffer

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** Reads the question that begins there; returns the place behind it, or `REFUSED`. */
  read(at: number): number {
    for (const name of TEXTS) {
      this[name].from = 0
      this[name].to = 0
    }
    return this.#object(at, QUESTION_FIELDS, 0)
  }

  /** What the question last read asks beside its keys: `known` again if it is the same. */
  form(known: QueryForm | null): QueryForm {
    const { type, action, tenant } = this
    const isKnown =
      known !== null &&
      isText(this.#bytes, type.from, type.to, known.type) &&
      isText(this.#bytes, action.from, action.to, known.action) &&
      isText(this.#bytes, tenant.from, tenant.to, known.tenant ?? '')
    if (isKnown) return known
    return {
      type: this.#text(type),
      action: this.#text(action),
      tenant: tenant.from === 0 ? null : this.#text(tenant),
    }
  }

  #text({ from, to }: Place): string {
    return this.#bytes.toString('latin1', from, to)
  }

  #object(at: number, { byName, required }: Fields, depth: number): number {
    const bytes = this.#bytes
    if (bytes[at] !== OPEN_BRACE) return REFUSED
    let next = skipBlanks(bytes, at + 1)
    if (bytes[next] === CLOSE_BRACE) return required === 0 ? next + 1 : REFUSED
    let seen = 0
    for (;;) {
      const nameEnd = stringEnd(bytes, next)
      if (nameEnd === REFUSED) return REFUSED
      const colon = skipBlanks(bytes, nameEnd)
      if (bytes[colon] !== COLON) return REFUSED
      const place = fieldAt(bytes, next + 1, nameEnd - 1, byName)
      const value = skipBlanks(bytes, colon + 1)
      if (place === -1) next = this.#skip(value, depth + 1)
      else {
        // Of two fields with one name `JSON.parse` takes the last: left to it, here nothing is ever taken back.
        if ((seen & (1 << place)) !== 0) return REFUSED
        seen |= 1 << place
        next = this.#field(value, byName[place]![1])
      }
      if (next === REFUSED) return REFUSED
      next = skipBlanks(bytes, next)
      if (bytes[next] === CLOSE_BRACE) return (seen & required) === required ? next + 1 : REFUSED
      if (bytes[next] !== COMMA) return REFUSED
      next = skipBlanks(bytes, next + 1)
    }
  }

  #field(at: number, field: Field): number {
    if (field.kind === 'object') return this.#object(at, field.fields, 0)
    const bytes = this.#bytes
    const isNullable = field.kind !== 'text' || field.isNullable
    if (isNullable && bytes[at] === LETTER_N) return literalEnd(bytes, at, 'null')
    if (field.kind === 'object-or-null') return this.#object(at, NO_FIELDS, 0)
    const end = stringEnd(bytes, at)
    if (end === REFUSED || field.kind === 'string-or-null') return end
    const place = this[field.text]
    place.from = at + 1
    place.to = end - 1
    return place.from === place.to ? REFUSED : end
  }

  /** Any value, as long as it is JSON. */
  #skip(at: number, depth: number): number {
    if (depth > SKIPPED_LEVELS_MAX) return REFUSED
    const bytes = this.#bytes
    switch (bytes[at]) {
      case QUOTE:
        return stringEnd(bytes, at)
      case OPEN_BRACE:
        return this.#object(at, NO_FIELDS, depth)
      case OPEN_BRACKET:
        return this.#array(at, depth)
      case LETTER_N:
        return literalEnd(bytes, at, 'null')
      case LETTER_T:
        return literalEnd(bytes, at, 'true')
      case LETTER_F:
        return literalEnd(bytes, at, 'false')
      default:
        return numberEnd(bytes, at)
    }
  }

  #array(at: number, depth: number): number {
    const bytes = this.#bytes
    let next = skipBlanks(bytes, at + 1)
    if (bytes[next] === CLOSE_BRACKET) return next + 1
    for (;;) {
      next = this.#skip(next, depth + 1)
      if (next === REFUSED) return REFUSED
      next = skipBlanks(bytes, next)
      if (bytes[next] === CLOSE_BRACKET) return next + 1
      if (bytes[next] !== COMMA) return REFUSED
      next = skipBlanks(bytes, next + 1)
    }
  }
}

function fields(byName: Readonly<Record<string, Field>>, required: readonly string[]): Fields {
  const list = Object.entries(byName)
  const bits = list.map(([name], place) => (required.includes(name) ? 1 << place : 0))
  return { byName: list, required: bits.reduce((sum, bit) => sum | bit, 0) }
}

/** The place in the list of the field with the name that stands there, -1 if it is none of them. */
function fieldAt(bytes: Uint8Array, from: number, to: number, byName: Fields['byName']): number {
  for (let place = 0; place < byName.length; place++) {
    if (isText(bytes, from, to, byName[place]![0])) return place
  }
  return -1
}
