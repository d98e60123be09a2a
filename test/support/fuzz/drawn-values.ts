/** Random values for the schemas of an OpenAPI document, both plain ones and unusual but valid ones. */
import * as fc from 'fast-check'
import { conditions } from '#testing/oracle/random-conditions.ts'
import { USUAL } from '#testing/oracle/random-attributes.ts'
import type { Random } from '#testing/data/random.ts'
import { kindAt, type KnownNames } from './known-names.ts'

export type Json = Readonly<Record<string, unknown>>

export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
  readonly propertyNames?: Schema
  readonly items?: Schema
  readonly minItems?: number
  readonly maxItems?: number
  readonly format?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
}

/** Texts that often cause errors in programs. */
export const ODD_TEXTS = [
  '',
  ' ',
  '\u0000',
  '\n',
  '\u007f',
  '\u0085',
  '\ufeff',
  '\ufffd',
  '\u202e\u0645',
  'e\u0301',
  '\u{1f468}\u200d\u{1f469}',
  '\ud83d',
  '\ude00\ud83d',
  'ﬀİı',
  '"\\',
  "'; --",
  '../..',
  '%00%2F',
  '__proto__',
  'constructor',
  'null',
  '*',
  ':',
  'a:b:c',
  '#',
  '__user',
  '__tenant:default',
  '00000000-0000-4000-8000-000000000000',
  '\u{10ffff}',
  '計画',
]
const ODD_NUMBERS = [0, -0, -1, 1, 1.5, 127, 2 ** 31, 2 ** 53, -(2 ** 53), 1e21, 1e308, 5e-324]
const CONDITIONS = 64

export class DrawnValues {
  readonly #document: Json
  readonly #random: Random
  readonly #names: KnownNames
  readonly #conditions: readonly unknown[]

  constructor(document: Json, random: Random, names: KnownNames) {
    this.#document = document
    this.#random = random
    this.#names = names
    const seed = random.below(2 ** 31)
    this.#conditions = fc.sample(conditions(USUAL), { seed, numRuns: CONDITIONS })
  }

  /** A value of the schema. `way` is its path: the segments of the operation and the names of the members. */
  of(schema: Schema, way: readonly string[], isOdd: boolean): unknown {
    const resolved = this.resolve(schema)
    if (resolved.anyOf) return this.of(this.#random.pick(resolved.anyOf), way, isOdd)
    if (resolved.enum) return this.#random.pick(resolved.enum)
    switch (this.#typeOf(resolved)) {
      case 'null':
        return null
      case 'boolean':
        return this.#random.chance(0.5)
      case 'integer':
      case 'number':
        return this.#number(resolved, isOdd)
      case 'string':
        return this.#text(resolved, way, isOdd)
      case 'array':
        return this.#list(resolved, way, isOdd)
      case 'object':
        return this.#object(resolved, way, isOdd)
      default:
        return this.any()
    }
  }

  /** Any small JSON value. */
  any(depth = 0): unknown {
    const random = this.#random
    const makes: readonly (() => unknown)[] = [
      () => null,
      () => random.chance(0.5),
      () => random.pick(ODD_NUMBERS),
      () => random.pick(ODD_TEXTS),
      () => random.pick(['gold', 'eu', 'alice', '2026-11-26T00:00:00Z', 7, 12.5, true]),
      () => this.#times(3, () => this.any(depth + 1)),
      () => Object.fromEntries(this.#times(3, () => [this.#attributeName(), this.any(depth + 1)])),
    ]
    return makes[random.below(depth > 3 ? 5 : makes.length)]!()
  }

  resolve(schema: Schema): Schema {
    if (schema.$ref === undefined) return schema
    return this.resolve(this.at(schema.$ref.slice(1)) as Schema)
  }

  /** The part of the document at a JSON pointer. */
  at(pointer: string): unknown {
    let node: unknown = this.#document
    for (const step of pointer.split('/').slice(1)) node = (node as Json)[step]
    return node
  }

  #typeOf({ type }: Schema): string | undefined {
    if (typeof type === 'string' || type === undefined) return type
    return this.#random.chance(0.2) ? 'null' : type[0]
  }

  #number({ type, minimum = -1000, maximum = minimum + 2000 }: Schema, isOdd: boolean): number {
    const isInteger = type !== 'number'
    const fitting = [minimum, minimum + 1, maximum, ...ODD_NUMBERS].filter(
      number => number >= minimum && number <= maximum && (!isInteger || Number.isSafeInteger(number)),
    )
    if (isOdd) return this.#random.pick(fitting)
    return minimum + this.#random.below(Math.min(10, maximum - minimum + 1))
  }

  #text(schema: Schema, way: readonly string[], isOdd: boolean): string {
    const { format, pattern, minLength = 0, maxLength } = schema
    if (format === 'date-time') {
      // Expiration times must be in the future. Filters can use any time.
      return this.#random.pick([
        '2131-01-01T00:00:00Z',
        '2096-02-29T23:59:59.999+01:00',
        '2024-02-29T23:59:59.999+01:00',
      ])
    }
    const kind = kindAt(way)
    if (isOdd && pattern === undefined && this.#random.chance(0.5)) {
      const odd = this.#random.pick(ODD_TEXTS)
      const long = odd.repeat(Math.ceil((maxLength ?? 600) / Math.max(1, odd.length))).slice(0, maxLength)
      const text = this.#random.chance(0.2) ? long : odd
      if (text.length >= minLength) return text
    }
    const fits = (text: string) => pattern === undefined || new RegExp(pattern, 'u').test(text)
    const named =
      kind === null ? this.#random.pick(['name', 'Text of a few words', 'x']) : this.#names.pick(kind)
    // Keys of new entities are mostly unused, so that the request succeeds.
    const isNew = way.at(-1) === 'key' && this.#random.chance(0.8)
    const kinds = /^\^\(([\w|]+)\):/.exec(pattern ?? '')?.[1]?.split('|')
    if (kinds !== undefined) return `${this.#random.pick(kinds)}:${named}`
    const drawn = isNew || !fits(named) ? this.#names.made() : named
    const text = [drawn, `${drawn}@example.com`].find(fits) ?? drawn
    if (isOdd && pattern !== undefined && this.#random.chance(0.3)) {
      const long = text.padEnd(this.#random.pick([127, 128, 255]), '-a_Z9')
      if (fits(long)) return long
    }
    return text
  }

  #list({ items = {}, minItems = 0, maxItems = Infinity }: Schema, way: readonly string[], isOdd: boolean) {
    const most = Math.min(maxItems, minItems + (isOdd ? this.#random.pick([0, 1, 5, 40]) : 2))
    return this.#times(most, () => this.of(items, way, isOdd && this.#random.chance(0.3)), minItems)
  }

  #object(schema: Schema, way: readonly string[], isOdd: boolean): Json {
    const { properties = {}, required = [], additionalProperties, propertyNames } = schema
    if (way.at(-1) === 'conditions' && schema.properties === undefined)
      return this.#random.pick(this.#conditions) as Json
    const share = isOdd ? this.#random.pick([0, 0.5, 1]) : 0.5
    const members = Object.entries(properties)
      .filter(([name]) => required.includes(name) || this.#random.chance(share))
      .map(([name, part]) => [name, this.of(part, [...way, name], isOdd)])
    if (schema.properties !== undefined) return Object.fromEntries(members)
    const value = additionalProperties === undefined ? true : additionalProperties
    const others = this.#times(isOdd ? 4 : 2, () => [
      propertyNames ? this.#memberName(this.resolve(propertyNames), way, isOdd) : this.#attributeName(),
      typeof value === 'object' ? this.of(value, way, isOdd) : this.any(isOdd ? 0 : 3),
    ])
    return Object.fromEntries(others)
  }

  #memberName(schema: Schema, way: readonly string[], isOdd: boolean): string {
    const beginning = /^\^(\w+)\.$/.exec(schema.pattern ?? '')
    return beginning ? `${beginning[1]}${this.#attributeName()}x` : this.#text(schema, way, isOdd)
  }

  #attributeName(): string {
    const random = this.#random
    return random.chance(0.2) ? random.pick(ODD_TEXTS) : random.pick(['plan', 'level', 'a', 'b.c', 'of'])
  }

  #times<T>(most: number, make: () => T, least = 0): T[] {
    return Array.from({ length: least + this.#random.below(most - least + 1) }, make)
  }
}
