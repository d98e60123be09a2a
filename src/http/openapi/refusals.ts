/**
 * Error responses of an operation. The route determines which statuses are possible. The table of errors and
 * the path family determine their meaning and format (native.md 0.10, 0.13 and 0.19).
 */
import {
  ALLOW,
  ANSWERED_REQUEST_ID,
  CACHE_CONTROL,
  CHALLENGE,
  ETAG,
  type HeaderField,
  RETRY_AFTER,
} from '#http/message/header-fields.ts'
import type { ErrorFamily } from '#http/message/request-reply.ts'
import { reasonsOf } from '#http/routing/problem.ts'
import type { Route } from '#http/routing/route.ts'
import { ManagementError, NativeError, PlanRefusal } from '#model/wire/problem.ts'
import type { HeaderComponents } from './answer-headers.ts'
import type { Json, SchemaComponents } from './schema-components.ts'

/** Error statuses that a route can return, in ascending order. */
export function refusalStatuses(route: Route): number[] {
  const { family, access, level, body, bodyInPieces, paramNames, method, isRead, readsClaim, refusals } =
    route
  const isManagement = family === 'management'
  const isForAll = access === 'public' || access === 'optional-key'
  const hasPlace = paramNames.length > 0
  const isForEachKey = access === 'any-key' && (level === 'no_access' || level === 'decide')
  const statuses: readonly (readonly [number, boolean])[] = [
    [400, true],
    [401, access !== 'public'],
    [403, !isForAll && (!isForEachKey || paramNames.includes('proj_id'))],
    [404, hasPlace],
    [405, true],
    [408, body !== null || bodyInPieces !== null],
    // Applies only to operations in an environment. Routes about the organization list the status 409 in
    // `refusals`.
    [409, isManagement && method === 'POST' && !isRead && access === 'any-key'],
    [413, body !== null],
    [422, readsClaim],
    [429, access !== 'public'],
    [LONG_HEAD, true],
    [500, true],
    [503, !isForAll],
  ]
  const all = [...statuses.flatMap(([status, applies]) => (applies ? [status] : [])), ...refusals]
  return [...new Set(all)].toSorted((left, right) => left - right)
}

/**
 * Status with which the HTTP library responds to a head that is too long. The library does not read the rest
 * of the head, so the response has no request ID.
 */
const LONG_HEAD = 431
const LONG_HEAD_ANSWER = {
  description:
    'The request line and headers are longer than `MAX_HEADER_BYTES`. The response is HTML without content type and request id, and ' +
    'the connection is closed.',
}

const HEADERS: Readonly<Record<number, readonly HeaderField[]>> = {
  401: [CHALLENGE],
  405: [ALLOW],
  412: [ETAG, CACHE_CONTROL],
  429: [RETRY_AFTER],
  503: [RETRY_AFTER],
}

export class RefusalComponents {
  readonly #schemas: SchemaComponents
  readonly #headers: HeaderComponents
  readonly #components = new Map<string, Json>()

  constructor(schemas: SchemaComponents, headers: HeaderComponents) {
    this.#schemas = schemas
    this.#headers = headers
  }

  /** References to the error responses of a route, by status. */
  of(route: Route): Json {
    return Object.fromEntries(
      refusalStatuses(route).map(status => [status, this.#refer(route.family, status)]),
    )
  }

  /** All error responses that were referenced so far, by name. */
  all(): Json {
    return Object.fromEntries(this.#components)
  }

  #refer(family: ErrorFamily, status: number): Json {
    const isOfFamily = status !== LONG_HEAD
    const name = isOfFamily ? `${family}-${status}` : `any-${status}`
    if (!this.#components.has(name)) {
      this.#components.set(name, isOfFamily ? this.#refusal(family, status) : LONG_HEAD_ANSWER)
    }
    return { $ref: `#/components/responses/${name}` }
  }

  #refusal(family: ErrorFamily, status: number): Json {
    const own = HEADERS[status] ?? []
    return {
      description: description(family, status),
      headers: this.#headers.of([ANSWERED_REQUEST_ID, ...own]),
      content: this.#content(family),
    }
  }

  #content(family: ErrorFamily): Json {
    if (family === 'access') return { 'text/plain': { schema: { type: 'string' } } }
    const schema = family === 'management' ? ManagementError : family === 'plan' ? PlanRefusal : NativeError
    return { 'application/json': { schema: this.#schemas.refer(schema, family) } }
  }
}

function description(family: ErrorFamily, status: number): string {
  const reasons = new Set(
    reasonsOf(status, family).map(({ title, errorCode }) =>
      family === 'management' ? `\`${errorCode}\`: ${title}.` : `${title}.`,
    ),
  )
  return `${reasons.size > 1 ? 'One of: ' : ''}${[...reasons].join(' ')}`
}
