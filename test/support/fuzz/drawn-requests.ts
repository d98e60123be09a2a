/**
 * Random requests for the operations of a description: as it asks for them, as oddly as it lets them be, and with something in them
 * that it does not allow or a client never sends.
 */
import { perhapsBent } from '#testing/requests/mutated-bodies.ts'
import type { Random } from '#testing/data/random.ts'
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
  /** By content type. */
  readonly body: { readonly type: string; readonly schema: Schema; readonly isRequired: boolean } | null
  /** Names of the kinds of keys it takes; empty: it takes none. */
  readonly keys: readonly string[]
}

export interface DrawnRequest {
  readonly operation: Operation
  readonly method: string
  /** With its query, percent-encoded. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | null
  /** Whether nothing in it was bent, so that the schemas of the description have been followed throughout. */
  readonly isStraight: boolean
  readonly isOdd: boolean
}

/** What a request is put together from. */
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
/** Path parts as no client would encode them, or with nothing in them. */
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
/** So many bytes are too many for most bodies, and for no list. */
const LARGE_BYTES = 300_000

export class DrawnRequests {
  readonly operations: readonly Operation[]
  readonly #values: DrawnValues
  readonly #random: Random
  readonly #names: KnownNames
  readonly #keys: Readonly<Record<string, string>>
  /** As an answer told it. */
  revision: string | null = null

  /** `keys`: one of each kind that the description names. */
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

  /** One of the keys that the operation takes; mostly that of the organization where the path is not in its own environment. */
  #key(keys: readonly string[], named: ReadonlyMap<string, unknown>): string | undefined {
    const isElsewhere = ['proj_id', 'env_id'].some(name => (named.get(name) ?? 'default') !== 'default')
    const widest = 'organizationKey'
    const isWide = isElsewhere && keys.includes(widest) && this.#random.chance(0.9)
    return keys.length === 0 ? undefined : this.#keys[isWide ? widest : this.#random.pick(keys)]
  }

  /** An environment's content: a head, some lines, mostly an end. */
  #lines(schema: Schema, way: readonly string[], isOdd: boolean): Buffer {
    const count = this.#random.below(5)
    const lines = Array.from({ length: count }, () => this.#values.of(schema, way, isOdd))
    const head = { kind: 'environment', format: 1 }
    const all = [head, ...lines, { kind: 'end', lines: count + 1 }]
    return Buffer.from(all.map(line => `${JSON.stringify(line)}\n`).join(''))
  }

  #parameter({ name, in: place, schema }: Parameter, operation: Operation, isOdd: boolean): unknown {
    const { path, method } = operation
    if (name === 'X-Min-Revision') return this.revision ?? 'none.0'
    const kind = kindAt([...waysOf(path), name])
    if (place === 'path') {
      // What much rests on is seldom deleted, and mostly spoken of.
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

  /** Another text for one of the parameters in the path. */
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
    const [content] = Object.entries(requestBody?.content ?? {})
    return {
      operationId,
      method,
      path,
      parameters: parameters.map(each =>
        each.$ref ? (this.#values.at(each.$ref.slice(1)) as Parameter) : each,
      ),
      body: content
        ? { type: content[0], schema: content[1].schema, isRequired: requestBody?.required === true }
        : null,
      keys: security.flatMap(each => Object.keys(each)),
    }
  }
}

/** What stands in headers: numbers, and tags of what an answer may have shown. */
const HEADER_TEXTS = ['5', '0', '-1', '*', '"another"', 'W/"another", "one"']

/** Control characters end a header or the request; what is not ASCII at its ends, the library cuts off. */
function headerText(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '-').replaceAll(/^[^!-~]+|[^!-~]+$/g, '') || '-'
}

/** The fixed parts of a path: within them things are named. */
function waysOf(path: string): string[] {
  return path.split('/').filter(part => part !== '' && !part.startsWith('{'))
}

/** An object is as many parameters as it has members. */
function pairsOf(name: string, schema: Schema, value: unknown): [string, string][] {
  if (schema.type === 'object') return Object.entries(value as Json).map(([of, text]) => [of, String(text)])
  return (Array.isArray(value) ? value : [value]).map(each => [name, String(each)])
}

/** Percent-encoded; of halves of surrogate pairs, which are no UTF-8, the bytes they would have. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll('%EF%BF%BD', '%ED%A0%80')
}
