/**
 * Bodies of `/allowed/bulk`, from usual to malformed, and functions that verify the readers which parse them
 * from bytes. A reader must return the same queries as the generic parser and the schema. Seeded.
 */
import { queryOf } from '#decisions/dialects/native-query.ts'
import type { BulkReader } from '#http/bytes/bulk-reader.ts'
import type { SingleReader } from '#http/bytes/single-reader.ts'
import { DECISION_DEPTH_MAX, parseJson } from '#http/routing/json.ts'
import { Shape } from '#http/routing/shape.ts'
import type { Query } from '#model/decision.ts'
import { type AllowedQuery, BulkAuthorizationQuery } from '#model/wire/decisions/decision.ts'
import { Random } from '#testing/data/random.ts'
import { differingAttributes, judgeReader, perhapsBent, written } from './mutated-bodies.ts'

const shape = new Shape(BulkAuthorizationQuery, 'body')

/** Returns the queries that the generic parser reads from a body, or `null` if it rejects the body. */
export function readOrdinarily(body: Buffer): Query[] | null {
  let value: unknown
  try {
    value = parseJson(body, DECISION_DEPTH_MAX)
    shape.check(value)
  } catch {
    return null
  }
  return (value as AllowedQuery[]).map(question => queryOf(question, 0))
}

export function judge(reader: BulkReader, body: Buffer): boolean {
  return judgeReader(reader, body, readOrdinarily(body))
}

/** Verifies a reader of single checks. */
export function judgeSingle(reader: SingleReader, body: Buffer): boolean {
  const ordinary = readOrdinarily(Buffer.concat([Buffer.from('['), body, Buffer.from(']')]))
  return judgeReader(reader, body, ordinary)
}

const KEYS = [
  'alice',
  'b',
  'user-17',
  'doc 4',
  'a:b#c',
  "it's",
  '{"',
  '__proto__',
  'null',
  '\x7f',
  'x'.repeat(40),
  '',
]
const ODD_KEYS = ['é', '計画', '😀', '\ufeff', 'a"b', 'a\\b', 'a/b', 'tab\t', '\u0000', '\ud800']
const TYPES = ['document', 'folder', '__proto__']
const ACTIONS = ['read', 'write', 'a']
const TENANTS = ['default', 'acme', null, undefined, '']
const BLANKS = ['', '', '', ' ', '\n  ', '\t', '\r\n']
const IGNORED = [
  null,
  'text',
  '',
  0,
  -1.5e-7,
  true,
  false,
  {},
  [],
  { a: { b: [1, 'x', null] } },
  [[[{}]]],
  'é',
  { '"': '\\' },
]
const NAMES = [
  'user',
  'action',
  'resource',
  'context',
  'sdk',
  'key',
  'type',
  'tenant',
  'email',
  'first_name',
  'lastName',
  'attributes',
  '__proto__',
  'toString',
  'other',
]

export class BulkBodies {
  readonly #random: Random

  constructor(seed: number) {
    this.#random = new Random(seed)
  }

  /** Half of the bodies are valid. In the other half, some bytes are changed. */
  next(): Buffer {
    return perhapsBent(written(this.#bulk(), this.#random), this.#random)
  }

  /** Returns the body of a single check: a bulk of one element without its brackets, valid or malformed. */
  nextSingle(): Buffer {
    return perhapsBent(written(this.#bulk(1).trim().slice(1, -1), this.#random), this.#random)
  }

  #bulk(length = this.#random.below(7)): string {
    const [blank, isShuffled, isDecorated] = [
      this.#random.pick(BLANKS),
      this.#random.chance(0.3),
      this.#random.chance(0.3),
    ]
    const isUniform = this.#random.chance(0.8)
    const hasAttributes = this.#random.chance(0.3)
    const question = {
      type: this.#random.pick(TYPES),
      action: this.#random.pick(ACTIONS),
      tenant: this.#random.pick(TENANTS),
    }
    const hasKey = this.#random.chance(0.9)
    const items = Array.from({ length }, () => {
      const form =
        isUniform && this.#random.chance(0.9) ? question : { ...question, action: this.#random.pick(ACTIONS) }
      const resource: [string, unknown][] = [
        ['type', form.type],
        ...(hasKey || this.#random.chance(0.1) ? [['key', this.#key()] as [string, unknown]] : []),
        ...(form.tenant === undefined ? [] : [['tenant', form.tenant] as [string, unknown]]),
      ]
      if (hasAttributes) resource.push(['attributes', differingAttributes(this.#random)])
      const user: [string, unknown][] = [['key', this.#key()]]
      const whole: [string, unknown][] = [
        ['user', user],
        ['action', form.action],
        ['resource', resource],
      ]
      for (const fields of [user, resource, whole]) {
        if (isDecorated)
          for (let more = this.#random.below(3); more > 0; more--) fields.push(this.#decoration())
        if (isShuffled) this.#random.shuffle(fields)
      }
      return this.#text(whole, blank)
    })
    return `${blank}[${blank}${items.join(`${blank},${blank}`)}${blank}]${blank}`
  }

  /** Returns a field that is unknown or occurs twice. */
  #decoration(): [string, unknown] {
    return [this.#random.pick(NAMES), this.#random.pick(IGNORED)]
  }

  #key(): unknown {
    if (this.#random.chance(0.06)) return this.#random.pick(ODD_KEYS)
    if (this.#random.chance(0.02)) return this.#random.pick(IGNORED)
    return this.#random.chance(0.3) ? this.#random.pick(KEYS) : `key-${this.#random.below(100_000)}`
  }

  /** Like `JSON.stringify`, with whitespace. A list of pairs becomes an object that can repeat names. */
  #text(fields: readonly [string, unknown][], blank: string): string {
    const members = fields.map(([name, value]) => {
      const isFields =
        Array.isArray(value) && value.length > 0 && Array.isArray(value[0]) && value[0].length === 2
      const text = isFields ? this.#text(value as [string, unknown][], blank) : JSON.stringify(value)
      return `${JSON.stringify(name)}${blank}:${blank}${text}`
    })
    return `{${blank}${members.join(`${blank},${blank}`)}${blank}}`
  }
}
