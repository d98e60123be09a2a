/**
 * Checks responses against the OpenAPI document of the service: every part must be described, and required
 * parts must exist. Schemas of objects are closed, so that an undescribed field is reported.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { EventReader } from '#cli/session/event-stream.ts'

type Json = Readonly<Record<string, unknown>>

export interface DescribedOperation {
  readonly operationId: string
  readonly method: string
  readonly path: string
  readonly statuses: readonly number[]
}

export interface JudgedAnswer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/** Names of two groups of schemas: for responses, and for requests, which can have additional fields. */
const CLOSED = 'closed-description'
const OPEN = 'open-description'
/** Status of a response of the HTTP library, which has a body without a content type. */
const LIBRARY_STATUS = 431
/** Headers that a response may have only if they are described. */
const OWN_HEADERS =
  /^(x-(?!content-type-options).*|allow|cache-control|etag|retry-after|warning|www-authenticate)$/

export class Description {
  readonly operations: readonly DescribedOperation[]
  readonly #document: Json
  readonly #ajv: Ajv2020
  readonly #validators = new Map<string, ValidateFunction>()

  constructor(document: Json) {
    this.#document = document
    // The document itself is not a schema, so unknown keywords are allowed.
    this.#ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true })
    addFormats.default(this.#ajv)
    this.#ajv.addSchema(closed(document) as object, CLOSED)
    this.#ajv.addSchema(document as object, OPEN)
    this.operations = Object.entries(document['paths'] as Json).flatMap(([path, item]) =>
      Object.entries(item as Json).map(([method, operation]) => {
        const { operationId, responses } = operation as { operationId: string; responses: Json }
        const statuses = Object.keys(responses).map(Number)
        return { operationId, method: method.toUpperCase(), path, statuses }
      }),
    )
  }

  operation(operationId: string): DescribedOperation {
    const operation = this.operations.find(candidate => candidate.operationId === operationId)
    if (!operation) throw new Error(`no operation ${operationId} is described`)
    return operation
  }

  /** Errors of a response to this operation. */
  findings(operationId: string, answer: JudgedAnswer): string[] {
    const { method, path } = this.operation(operationId)
    const pointer = `/paths/${escaped(path)}/${method.toLowerCase()}/responses/${answer.status}`
    if (this.#at(pointer) === undefined) return [`status ${answer.status} is not described`]
    const place = this.#resolve(pointer)
    return [...this.#headerFindings(place, answer), ...this.#bodyFindings(place, answer)]
  }

  /** Errors of a request body of this operation. */
  bodyFindings(operationId: string, body: unknown): string[] {
    const { method, path } = this.operation(operationId)
    const content = `/paths/${escaped(path)}/${method.toLowerCase()}/requestBody/content`
    return this.#validate(`${content}/${escaped('application/json')}/schema`, body, OPEN)
  }

  /** Errors of the described parameters in a query of this operation. */
  queryFindings(operationId: string, query: string): string[] {
    const { method, path } = this.operation(operationId)
    const parameters = `/paths/${escaped(path)}/${method.toLowerCase()}/parameters`
    const sent = new URLSearchParams(query)
    return (this.#at(parameters) as Json[]).flatMap((_, index) => {
      const place = this.#resolve(`${parameters}/${index}`)
      const { name, in: where } = this.#at(place) as { name: string; in: string }
      const texts = sent.getAll(name)
      if (where !== 'query' || texts.length === 0) return []
      const { type, items } = this.#at(this.#resolve(`${place}/schema`)) as { type?: string; items?: Json }
      if (type === 'object') return []
      const isList = type === 'array'
      if (!isList && texts.length > 1) return [`${name} is sent ${texts.length} times`]
      const item = items && '$ref' in items ? this.#at(String(items['$ref']).slice(1)) : items
      const values = texts.map(text => valueOf(text, isList ? (item as Json)['type'] : type))
      return this.#validate(`${place}/schema`, isList ? values : values[0], OPEN)
    })
  }

  #bodyFindings(place: string, { status, headers, body }: JudgedAnswer): string[] {
    const content = this.#at(`${place}/content`) as Json | undefined
    const type = headers.get('content-type')
    if (content === undefined) {
      const isNone = body === '' || status === LIBRARY_STATUS
      return isNone && type === undefined ? [] : ['no body is described']
    }
    const mediaType = type?.split(';')[0] ?? ''
    if (!(mediaType in content)) return [`content type ${type} is not described`]
    const schema = `${place}/content/${escaped(mediaType)}/schema`
    if (mediaType === 'application/x-ndjson') {
      const lines = body.trimEnd().split('\n')
      return lines.flatMap(line => this.#validate(schema, JSON.parse(line)))
    }
    if (mediaType === 'text/event-stream') {
      const events = [...new EventReader().read(new TextEncoder().encode(body))]
      return events.flatMap(({ data }) => this.#validate(schema, JSON.parse(data)))
    }
    return this.#validate(schema, mediaType === 'application/json' ? JSON.parse(body) : body)
  }

  #headerFindings(place: string, { headers }: JudgedAnswer): string[] {
    const described = Object.keys((this.#at(`${place}/headers`) as Json | undefined) ?? {})
    const missing = described.filter(
      name => !headers.has(name.toLowerCase()) && this.#isRequired(`${place}/headers/${escaped(name)}`),
    )
    const known = new Set(described.map(name => name.toLowerCase()))
    const unknown = [...headers.keys()].filter(name => OWN_HEADERS.test(name) && !known.has(name))
    const wrong = described
      .filter(name => headers.has(name.toLowerCase()))
      .flatMap(name => {
        const header = this.#resolve(`${place}/headers/${escaped(name)}`)
        return this.#validate(`${header}/schema`, headers.get(name.toLowerCase()))
      })
    return [
      ...missing.map(name => `header ${name} is described and missing`),
      ...unknown.map(name => `header ${name} is not described`),
      ...wrong,
    ]
  }

  #validate(pointer: string, value: unknown, id = CLOSED): string[] {
    const validate = this.#validators.get(pointer) ?? this.#ajv.compile({ $ref: `${id}#${encoded(pointer)}` })
    this.#validators.set(pointer, validate)
    if (validate(value)) return []
    return validate.errors!.map(
      ({ instancePath, message, params }) => `${instancePath || 'body'} ${message} ${JSON.stringify(params)}`,
    )
  }

  #isRequired(header: string): boolean {
    return (this.#at(this.#resolve(header)) as { readonly required?: boolean }).required === true
  }

  #resolve(pointer: string): string {
    const { $ref } = this.#at(pointer) as { $ref?: string }
    return $ref === undefined ? pointer : $ref.slice(1)
  }

  #at(pointer: string): unknown {
    let node: unknown = this.#document
    for (const step of pointer.split('/').slice(1)) {
      node = (node as Json | undefined)?.[step.replaceAll('~1', '/').replaceAll('~0', '~')]
    }
    return node
  }
}

/** The document with all object schemas closed that do not define additional properties. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed)
  if (typeof node !== 'object' || node === null) return node
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closed(value)]))
  const isObjectSchema = copy['type'] === 'object' && typeof copy['properties'] === 'object'
  return isObjectSchema && !('additionalProperties' in copy) ? { ...copy, additionalProperties: false } : copy
}

/** The value of a text in a query. An invalid text stays a text, which the validation then reports. */
function valueOf(text: string, type: unknown): unknown {
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  if (type === 'integer' && /^-?\d+$/.test(text)) return Number(text)
  return text
}

function escaped(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1')
}

function encoded(pointer: string): string {
  return pointer.split('/').map(encodeURIComponent).join('/')
}
