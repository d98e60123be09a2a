/**
 * The OpenAPI document a service serves, as a judge of answers: whatever an answer has must be described, and what is
 * described as always there must be there. Objects are closed for that: a field nobody described is a finding.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { EventReader } from '#cli/event-stream.ts'

type Json = Readonly<Record<string, unknown>>

export interface DescribedOperation {
  readonly operationId: string
  readonly method: string
  readonly path: string
  /** The statuses it documents. */
  readonly statuses: readonly number[]
}

/** What is judged; `body` is the text as it came. */
export interface JudgedAnswer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/** The description, as answers and as requests have to follow it: these may bring along whatever they like. */
const CLOSED = 'closed-description'
const OPEN = 'open-description'
/** To a head that is too long the HTTP library says something of its own, and not of which type that is. */
const LIBRARY_STATUS = 431
/** Headers of ours that an answer has only if they are described. */
const OWN_HEADERS =
  /^(x-(?!content-type-options).*|allow|cache-control|etag|retry-after|warning|www-authenticate)$/

export class Description {
  readonly operations: readonly DescribedOperation[]
  readonly #document: Json
  readonly #ajv: Ajv2020
  readonly #validators = new Map<string, ValidateFunction>()

  constructor(document: Json) {
    this.#document = document
    // Not strict about keywords: the document around the schemas is none.
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

  /** What is wrong with an answer to this operation; empty when nothing is. */
  findings(operationId: string, answer: JudgedAnswer): string[] {
    const { method, path } = this.operation(operationId)
    const pointer = `/paths/${escaped(path)}/${method.toLowerCase()}/responses/${answer.status}`
    if (this.#at(pointer) === undefined) return [`status ${answer.status} is not described`]
    const place = this.#resolve(pointer)
    return [...this.#headerFindings(place, answer), ...this.#bodyFindings(place, answer)]
  }

  /** What is wrong with the body of a request to this operation; empty when nothing is. */
  bodyFindings(operationId: string, body: unknown): string[] {
    const { method, path } = this.operation(operationId)
    const content = `/paths/${escaped(path)}/${method.toLowerCase()}/requestBody/content`
    return this.#validate(`${content}/${escaped('application/json')}/schema`, body, OPEN)
  }

  /** What is wrong with the query of a request to this operation, as far as its parameters are described. */
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
      if (type === 'array') {
        const { type: each } = (
          items && '$ref' in items ? this.#at(String(items['$ref']).slice(1)) : items
        ) as Json
        return this.#validate(
          `${place}/schema`,
          texts.map(text => valueOf(text, each)),
          OPEN,
        )
      }
      if (texts.length > 1) return [`${name} is sent ${texts.length} times`]
      return this.#validate(`${place}/schema`, valueOf(texts[0]!, type), OPEN)
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

  /** Where a place leads that may be a reference. */
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

/** The document with every object schema closed that does not say what else may be in it. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed)
  if (typeof node !== 'object' || node === null) return node
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closed(value)]))
  const isObjectSchema = copy['type'] === 'object' && typeof copy['properties'] === 'object'
  return isObjectSchema && !('additionalProperties' in copy) ? { ...copy, additionalProperties: false } : copy
}

/** What a text in a query stands for, in the one way to write each value. A text that stands for none is a finding. */
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
