/**
 * Parses the query of a URL into typed values. All values in a query are text, and the schema of a route
 * defines which parameters are numbers, booleans or lists. The conversion is strict and takes place before
 * the validation: it accepts only `true`, `false` and decimal digits.
 *
 * A list is sent as a repeated parameter. If any other parameter is repeated, the request is rejected,
 * because the choice of a value would be a guess. An object is sent as several parameters whose names begin
 * with the same prefix. The rest of each name is the name of a member.
 *
 * Unknown parameters are ignored (native.md B.1), except in lists of the management API. If such a list
 * ignored an unknown filter, it would return more than the client requested. Therefore these lists reject
 * unknown parameters, apart from those in `tolerated-parameters.ts`.
 */
import type { TObject } from 'typebox'
import type { ErrorDetail } from '#model/errors.ts'
import { NAME_PREFIX } from '#model/wire/paging.ts'
import { DETAILS_MAX, Shape, shapeError } from './shape.ts'
import { TOLERATED_PARAMETERS } from './tolerated-parameters.ts'

/** Converts a text to a value. Returns `undefined` if the text is not valid. */
type Convert = (text: string) => string | number | boolean | undefined

interface Parameter {
  readonly name: string
  readonly convert: Convert
  readonly expected: string
  readonly isList: boolean
}

/**
 * The pattern allows more digits than a number can represent exactly. If a number is too large, the schema of
 * the parameter rejects it.
 */
const INTEGER = /^-?\d{1,40}$/
const DECIMAL = /^-?\d{1,15}(\.\d{1,15})?$/
const BOOLEANS = new Map([
  ['true', true],
  ['false', false],
])

/** An object parameter, sent as several parameters whose names have the same prefix. */
interface PrefixedParameters {
  readonly name: string
  readonly prefix: string
}

export class QueryShape {
  readonly schema: TObject
  readonly #shape: Shape
  readonly #parameters: readonly Parameter[]
  readonly #prefixed: readonly PrefixedParameters[]
  readonly #names: ReadonlySet<string>
  readonly #refusesUnknown: boolean

  constructor(schema: TObject, { refusesUnknown }: { readonly refusesUnknown: boolean }) {
    this.schema = schema
    this.#shape = new Shape(schema, 'query')
    const properties = Object.entries(schema.properties)
    this.#prefixed = properties.flatMap(([name, property]) => prefixedOf(name, property) ?? [])
    this.#parameters = properties
      .filter(([name]) => !this.#prefixed.some(prefixed => prefixed.name === name))
      .map(([name, property]) => parameterOf(name, property))
    this.#names = new Set(this.#parameters.map(({ name }) => name))
    this.#refusesUnknown = refusesUnknown
  }

  /** Parses a query, given in encoded form without its question mark. Throws `INVALID_SHAPE`. */
  read(query: string): Record<string, unknown> {
    const sent = parametersOf(query)
    const illegible = illegibleIn(query)
    const values: Record<string, unknown> = {}
    const detail: ErrorDetail[] = []
    for (const parameter of this.#parameters) {
      const texts = sent.getAll(parameter.name)
      if (texts.length === 0) continue
      if (illegible.has(parameter.name)) {
        detail.push({
          loc: ['query', parameter.name],
          msg: 'must be percent-encoded UTF-8',
          type: 'encoding',
        })
        continue
      }
      const problem = readParameter(parameter, texts, values)
      if (problem !== null) detail.push({ loc: ['query', parameter.name], msg: problem, type: 'type' })
    }
    if (this.#prefixed.length > 0 || this.#refusesUnknown) {
      for (const [name, pairs] of Map.groupBy(sent, ([of]) => of)) {
        if (detail.length === DETAILS_MAX) break
        const texts = pairs.map(([, text]) => text)
        if (!this.#names.has(name)) detail.push(...this.#readOther(name, { texts, illegible, values }))
      }
    }
    if (detail.length > 0) throw shapeError(detail)
    this.#shape.check(values)
    return values
  }

  /**
   * Reads a parameter that has no schema. Returns the findings, or an empty list if the parameter is
   * accepted.
   */
  #readOther(
    name: string,
    {
      texts,
      illegible,
      values,
    }: {
      readonly texts: readonly string[]
      readonly illegible: ReadonlySet<string>
      readonly values: Record<string, unknown>
    },
  ): ErrorDetail[] {
    const loc = ['query', name]
    const prefixed = this.#prefixed.find(
      ({ prefix }) => name.length > prefix.length && name.startsWith(prefix),
    )
    if (prefixed === undefined) {
      const isRefused = this.#refusesUnknown && !TOLERATED_PARAMETERS.has(name)
      return isRefused ? [{ loc, msg: 'is not a parameter of this list', type: 'unknown' }] : []
    }
    if (illegible.has(name)) return [{ loc, msg: 'must be percent-encoded UTF-8', type: 'encoding' }]
    const [text, ...others] = texts
    if (others.length > 0) return [{ loc, msg: 'must be given once', type: 'type' }]
    const known = (values[prefixed.name] ??= {}) as object
    // The value is defined as an own property. An assignment could call an accessor, because a client could
    // choose a name such as `__proto__`.
    Object.defineProperty(known, name.slice(prefixed.prefix.length), { value: text, enumerable: true })
    return []
  }
}

/**
 * Names of the parameters that cannot be decoded. They are searched for here, because `URLSearchParams` would
 * replace invalid parts without an error.
 */
function illegibleIn(query: string): ReadonlySet<string> {
  const names = new Set<string>()
  for (const pair of query.split('&')) {
    if (isLegible(pair)) continue
    for (const name of parametersOf(pair).keys()) names.add(name)
  }
  return names
}

/**
 * Parses a query. A leading `&` is added because `URLSearchParams` would remove a question mark at the
 * beginning of the text.
 */
function parametersOf(text: string): URLSearchParams {
  return new URLSearchParams(`&${text}`)
}

function isLegible(text: string): boolean {
  // The HTTP library replaces invalid UTF-8 with this character.
  if (text.includes('\uFFFD')) return false
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/**
 * Converts the texts of a parameter and stores the value in `values`. If they are not valid, returns the
 * finding.
 */
function readParameter(
  parameter: Parameter,
  texts: string[],
  values: Record<string, unknown>,
): string | null {
  if (!parameter.isList && texts.length > 1) return 'must be given once'
  const converted = texts.map(parameter.convert)
  if (converted.includes(undefined)) return `must be ${parameter.expected}`
  values[parameter.name] = parameter.isList ? converted : converted[0]
  return null
}

function prefixedOf(name: string, schema: unknown): PrefixedParameters | null {
  const prefix = (schema as { readonly [NAME_PREFIX]?: string })[NAME_PREFIX]
  return prefix === undefined ? null : { name, prefix }
}

function parameterOf(name: string, schema: unknown): Parameter {
  const type = typeOf(schema)
  const isList = type === 'array'
  return { name, isList, ...conversionTo(isList ? typeOf((schema as { items?: unknown }).items) : type) }
}

/** JSON Schema type of a parameter. A schema without a type, such as a union of strings, counts as text. */
function typeOf(schema: unknown): unknown {
  return (schema as { type?: unknown } | undefined)?.type
}

function conversionTo(type: unknown): { convert: Convert; expected: string } {
  if (type === 'integer') {
    return { expected: 'integer', convert: text => (INTEGER.test(text) ? Number(text) : undefined) }
  }
  if (type === 'number') {
    return { expected: 'number', convert: text => (DECIMAL.test(text) ? Number(text) : undefined) }
  }
  if (type === 'boolean') return { expected: 'true or false', convert: text => BOOLEANS.get(text) }
  return { expected: 'string', convert: text => text }
}
