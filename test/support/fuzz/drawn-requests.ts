/** Random requests for an OpenAPI document: plain ones, unusual but valid ones, and mutated ones. */
import { perhapsBent } from '#testing/requests/mutated-bodies.ts'
import type { Random } from '#testing/data/random.ts'
import { content, type Line } from '../content.ts'
import { bentValue } from './bent-values.ts'
import { DrawnValues, type Json, ODD_TEXTS, type Schema } from './drawn-values.ts'
import { kindAt, type KnownNames } from './known-names.ts'

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly schema: Schema
}

export interface Operation {
  readonly operationId: string
  readonly method: string
  readonly path: string
  readonly parameters: readonly Parameter[]
  readonly body: { readonly type: string; readonly schema: Schema; readonly isRequired: boolean } | null
  /** Names of the kinds of API keys that the operation accepts, or empty if it requires no key. */
  readonly keys: readonly string[]
}

export interface DrawnRequest {
  readonly operation: Operation
  readonly method: string
  /** Percent-encoded path with query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | null
  /** Whether the request is not mutated and therefore follows the schemas. */
  readonly isStraight: boolean
  readonly isOdd: boolean
}

interface Parts {
  method: string
  path: string
  readonly query: [name: string, text: string][]
  readonly headers: Map<string, string>
  value: unknown
  body: Buffer | null
}

type Bend = (parts: Parts, operation: Operation) => void

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
/** Path segments that are invalid, unusually encoded or empty. */
const ODD_PARTS = [
  '%zz',
  '%',
  '%C3',
  '%ED%A0%80',
  '%00',
  '%2F',
  '..',
  '.',
  '%2e%2e',
  '%20',
  '+',
  ';a=b',
  '~',
  '@',
  '',
]
const ODD_TYPES = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'application/json; charset=latin1',
  'é',
  '',
]
const ODD_NUMBERS = [
  '0',
  '-1',
  '1e3',
  '1.0',
  '',
  ' 1',
  '01',
  '9007199254740993',
  '9'.repeat(400),
  'NaN',
  'true',
]
const ODD_HEADERS: readonly (readonly [string, string])[] = [
  ['X-Request-ID', 'é'.repeat(300)],
  ['X-Request-ID', ' '],
  ['X-Wait-Timeout', 'soon'],
  ['X-Timeout-Policy', 'never'],
  ['X-Min-Revision', 'nonsense'],
  ['X-Min-Revision', ',,'],
  ['X-HTTP-Method-Override', 'DELETE'],
  ['Accept', 'text/html, image/png'],
  ['Accept-Encoding', 'br;q=x, gzip'],
  ['Content-Encoding', 'br'],
  ['If-None-Match', '"'],
  ['Cookie', 'a=b; '.repeat(100)],
  ['Origin', 'https://elsewhere.example'],
  ['Traceparent', '00-zz'],
  ['Permit-User-Key', 'é%'],
  ['Permit-Resource-Key', ''],
  ['X-Original-URI', '/../%zz'],
]
/** More bytes than an operation accepts unless it accepts lists. */
const LARGE_BYTES = 300_000

export class DrawnRequests {
  readonly operations: readonly Operation[]
  readonly #values: DrawnValues
  readonly #random: Random
  readonly #names: KnownNames
  readonly #keys: Readonly<Record<string, string>>
  /** The revision of an earlier response. */
  revision: string | null = null

  /** `keys` contains an API key for each kind in the description. */
  constructor(document: Json, random: Random, names: KnownNames, keys: Readonly<Record<string, string>>) {
    this.#random = random
    this.#names = names
    this.#keys = keys
    this.#values = new DrawnValues(document, random, names)
    this.operations = Object.entries(document['paths'] as Record<string, Json>).flatMap(([path, item]) =>
      METHODS.filter(method => method.toLowerCase() in item).map(method =>
        this.#operation(path, method, item[method.toLowerCase()] as Json),
      ),
    )
  }

  draw(operation: Operation): DrawnRequest {
    const isOdd = this.#random.chance(0.3)
    const parts = this.#straight(operation, isOdd)
    const bends = this.#random.chance(0.4) ? 1 + this.#random.below(2) : 0
    for (let done = 0; done < bends; done++) this.#random.pick(this.#bends)(parts, operation)
    const query = parts.query.map(([name, text]) => `${encoded(name)}=${encoded(text)}`).join('&')
    return {
      operation,
      method: parts.method,
      path: query === '' ? parts.path : `${parts.path}?${query}`,
      headers: Object.fromEntries(parts.headers),
      body: parts.body ?? (parts.value === undefined ? null : Buffer.from(JSON.stringify(parts.value))),
      isStraight: bends === 0,
      isOdd,
    }
  }

  #straight(operation: Operation, isOdd: boolean): Parts {
    const random = this.#random
    const { method, path, body, keys } = operation
    const drawn = operation.parameters
      .filter(parameter => parameter.required === true || random.chance(0.3))
      .map(parameter => ({ ...parameter, value: this.#parameter(parameter, operation, isOdd) }))
    const named = new Map(drawn.filter(each => each.in === 'path').map(({ name, value }) => [name, value]))
    const headers = new Map(
      drawn.filter(each => each.in === 'header').map(({ name, value }) => [name, String(value)]),
    )
    const key = this.#key(keys, named)
    if (key !== undefined) headers.set('Authorization', `Bearer ${key}`)
    const hasBody = body !== null && (body.isRequired || random.chance(0.7))
    if (hasBody) headers.set('Content-Type', body.type)
    const inLines = hasBody && body.type !== 'application/json'
    const way = waysOf(path)
    return {
      method,
      path: path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encoded(String(named.get(name)))),
      query: drawn
        .filter(each => each.in === 'query')
        .flatMap(({ name, schema, value }) => pairsOf(name, schema, value)),
      headers,
      value: hasBody && !inLines ? this.#values.of(body.schema, way, isOdd) : undefined,
      body: inLines ? this.#lines(body.schema, way, isOdd) : null,
    }
  }

  /** An API key that the operation accepts. For other environments, mostly the key of the organization. */
  #key(keys: readonly string[], named: ReadonlyMap<string, unknown>): string | undefined {
    const isElsewhere = ['proj_id', 'env_id'].some(name => (named.get(name) ?? 'default') !== 'default')
    const widest = 'organizationKey'
    const isWide = isElsewhere && keys.includes(widest) && this.#random.chance(0.9)
    return keys.length === 0 ? undefined : this.#keys[isWide ? widest : this.#random.pick(keys)]
  }

  /** The content of an environment, some lines of which are random. */
  #lines(schema: Schema, way: readonly string[], isOdd: boolean): Buffer {
    const length = this.#random.below(5)
    return Buffer.from(content(...Array.from({ length }, () => this.#values.of(schema, way, isOdd) as Line)))
  }

  #parameter({ name, in: place, schema }: Parameter, operation: Operation, isOdd: boolean): unknown {
    const { path, method } = operation
    if (name === 'X-Min-Revision') return this.revision ?? 'none.0'
    const kind = kindAt([...waysOf(path), name])
    if (place === 'path') {
      // Projects and environments are used often and deleted rarely.
      const isScope = name === 'proj_id' || name === 'env_id'
      const isDeletion = method === 'DELETE' && path.endsWith(`{${name}}`)
      return this.#names.pick(kind!, isScope ? (isDeletion ? 0.2 : 0.9) : undefined)
    }
    if (place === 'header' && kind === null) {
      const { enum: values, pattern = '' } = this.#values.resolve(schema)
      return this.#random.pick(values ?? HEADER_TEXTS.filter(text => new RegExp(pattern, 'u').test(text)))
    }
    const value = this.#values.of(schema, [...waysOf(path), name], isOdd)
    return place === 'header' ? headerText(String(value)) : value
  }

  readonly #bends: readonly Bend[] = [
    parts => this.#bendBody(parts),
    parts => this.#bendBody(parts),
    parts => this.#bendBody(parts),
    parts => this.#bendBytes(parts),
    parts => this.#bendBytes(parts),
    (parts, { path }) => this.#bendPath(parts, path),
    parts => this.#bendQuery(parts),
    (parts, { parameters }) => this.#bendNumber(parts, parameters),
    parts => parts.headers.set(...(this.#random.pick(ODD_HEADERS) as [string, string])),
    parts => this.#bendKey(parts),
    parts => parts.headers.set('Content-Type', this.#random.pick(ODD_TYPES)),
    parts => {
      parts.value = undefined
      parts.body = this.#random.chance(0.5) ? null : Buffer.alloc(this.#random.pick([0, LARGE_BYTES]), ' ')
    },
  ]

  #bendBody(parts: Parts): void {
    if (parts.value !== undefined) parts.value = bentValue(parts.value, this.#random)
  }

  #bendBytes(parts: Parts): void {
    const bytes = parts.body ?? (parts.value === undefined ? null : Buffer.from(JSON.stringify(parts.value)))
    if (bytes !== null) parts.body = perhapsBent(bytes, this.#random)
  }

  #bendPath(parts: Parts, template: string): void {
    const sent = parts.path.split('/')
    const places = template.split('/').flatMap((part, index) => (part.startsWith('{') ? [index] : []))
    if (places.length === 0) return
    const odd = this.#random.chance(0.5)
      ? this.#random.pick(ODD_PARTS)
      : encoded(this.#random.pick(ODD_TEXTS))
    sent[this.#random.pick(places)] = this.#random.chance(0.1) ? 'x'.repeat(1_100) : odd
    parts.path = sent.join('/')
  }

  #bendQuery({ query }: Parts): void {
    const random = this.#random
    const some =
      query.length > 0 && random.chance(0.6) ? random.pick(query)[0] : random.pick(['page', 'q', 'attr_', ''])
    query.push([some, random.pick(ODD_TEXTS)])
  }

  #bendNumber({ query }: Parts, parameters: readonly Parameter[]): void {
    const asked = parameters.filter(parameter => parameter.in === 'query')
    if (asked.length > 0) query.push([this.#random.pick(asked).name, this.#random.pick(ODD_NUMBERS)])
  }

  #bendKey({ headers }: Parts): void {
    const key = this.#random.pick([...Object.values(this.#keys), 'nonsense', '', 'x'.repeat(2_000)])
    headers.set('Authorization', this.#random.pick([`Bearer ${key}`, `bearer  ${key}`, key, `Basic ${key}`]))
  }

  #operation(path: string, method: string, item: Json): Operation {
    const {
      operationId,
      parameters = [],
      requestBody,
      security = [],
    } = item as {
      operationId: string
      parameters?: readonly (Parameter & Schema)[]
      requestBody?: { required?: boolean; content: Record<string, { schema: Schema }> }
      security?: readonly Json[]
    }
    const [media] = Object.entries(requestBody?.content ?? {})
    return {
      operationId,
      method,
      path,
      parameters: parameters.map(each =>
        each.$ref ? (this.#values.at(each.$ref.slice(1)) as Parameter) : each,
      ),
      body: media
        ? { type: media[0], schema: media[1].schema, isRequired: requestBody?.required === true }
        : null,
      keys: security.flatMap(each => Object.keys(each)),
    }
  }
}

/** Values of headers: numbers and entity tags. */
const HEADER_TEXTS = ['5', '0', '-1', '*', '"another"', 'W/"another", "one"']

/** Replaces control characters and trims characters that `fetch` cannot send. */
function headerText(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '-').replaceAll(/^[^!-~]+|[^!-~]+$/g, '') || '-'
}

/** The fixed segments of a path. */
function waysOf(path: string): string[] {
  return path.split('/').filter(part => part !== '' && !part.startsWith('{'))
}

/** The query parameters of a value. An object has one parameter per member. */
function pairsOf(name: string, schema: Schema, value: unknown): [string, string][] {
  if (schema.type === 'object') return Object.entries(value as Json).map(([of, text]) => [of, String(text)])
  return (Array.isArray(value) ? value : [value]).map(each => [name, String(each)])
}

/** Percent-encodes a text. Lone surrogates become the bytes that they would have in UTF-8. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll('%EF%BF%BD', '%ED%A0%80')
}
