/**
 * Maps error codes to statuses and to the error formats of the path families (native.md A.1, B.1, 0.10, 0.13
 * and 0.19).
 *
 * The compiler verifies that the table is complete. Codes of internal failures have a public message here,
 * because the message of the error could contain hosts, directories or store keys. That message is only
 * logged.
 */
import { randomUUID } from 'node:crypto'
import { type Answer, JSON_TYPE } from '#http/message/answer.ts'
import { UNTRANSFORMED } from '#http/message/header-fields.ts'
import type { ErrorFamily } from '#http/message/request-reply.ts'
import { AuthzError, type ErrorCode, type ErrorDetail, errorToData } from '#model/errors.ts'
import type { ManagementError, ManagementErrorCode, NativeError } from '#model/wire/problem.ts'
import { MethodNotAllowedError } from './router.ts'

/** Representation of one error code on the wire. */
interface ProblemSpec {
  readonly status: number
  /** Status in the management API if it differs: invalid input is 422 there. */
  readonly managementStatus?: number
  /** `error_code` of the management API. */
  readonly errorCode: ManagementErrorCode
  readonly title: string
  /**
   * Sent instead of the error's message, unless the error has its own message for the client
   * (`publicMessage`).
   */
  readonly publicMessage?: string
}

const LOAD_AGAIN = {
  status: 503,
  errorCode: 'UNEXPECTED_ERROR',
  title: 'Temporarily unavailable',
  publicMessage: 'the service is catching up with its store; try again',
} as const satisfies ProblemSpec

const PROBLEMS: Readonly<Record<ErrorCode, ProblemSpec>> = {
  UNAUTHENTICATED: { status: 401, errorCode: 'UNAUTHORIZED', title: 'Credentials are missing or not valid' },
  FORBIDDEN: { status: 403, errorCode: 'FORBIDDEN_ACCESS', title: 'This key may not do that' },
  UNKNOWN_PATH: { status: 404, errorCode: 'NOT_FOUND', title: 'No such path' },
  METHOD_NOT_ALLOWED: { status: 405, errorCode: 'INVALID_INPUT', title: 'No such method on this path' },
  BODY_TOO_LARGE: { status: 413, errorCode: 'INVALID_INPUT', title: 'The request body is too large' },
  MALFORMED_REQUEST: {
    status: 400,
    managementStatus: 422,
    errorCode: 'INVALID_INPUT',
    title: 'The request cannot be read',
  },
  INVALID_SHAPE: {
    status: 400,
    managementStatus: 422,
    errorCode: 'INVALID_INPUT',
    title: 'The request has the wrong shape',
  },
  INVALID_PERMISSION_FORMAT: {
    status: 400,
    managementStatus: 422,
    errorCode: 'INVALID_PERMISSION_FORMAT',
    title: 'A permission must have the form type:action',
  },
  RATE_LIMITED: { status: 429, errorCode: 'UNEXPECTED_ERROR', title: 'Too many requests with this key' },
  REQUEST_TIMEOUT: { status: 408, errorCode: 'INVALID_INPUT', title: 'The request took too long to arrive' },
  LIMIT_EXCEEDED: { status: 400, errorCode: 'INVALID_INPUT', title: 'The request exceeds a limit' },
  NOT_FOUND: { status: 404, errorCode: 'NOT_FOUND', title: 'The requested data could not be found' },
  DUPLICATE_ENTITY: { status: 409, errorCode: 'DUPLICATE_ENTITY', title: 'This already exists' },
  STILL_NEEDED: { status: 409, errorCode: 'INVALID_INPUT', title: 'Other entities depend on this one' },
  PRECONDITION_FAILED: {
    status: 412,
    errorCode: 'PRECONDITION_FAILED',
    title: 'The entity changed since you read it',
  },
  INVALID_INPUT: { status: 400, errorCode: 'INVALID_INPUT', title: 'The request is not valid' },
  MISMATCH_RESOURCE_INSTANCES_TENANTS: {
    status: 400,
    errorCode: 'MISMATCH_RESOURCE_INSTANCES_TENANTS',
    title: 'The tenants differ',
  },
  MISMATCH_RELATION_TYPE: {
    status: 400,
    errorCode: 'MISMATCH_RELATION_TYPE',
    title: 'The relation links other resource types',
  },
  NOT_READY: { status: 503, errorCode: 'UNEXPECTED_ERROR', title: 'The service is not ready' },
  STALE: { status: 503, errorCode: 'UNEXPECTED_ERROR', title: 'The state is too old' },
  ENVIRONMENT_CLOSED: {
    status: 503,
    errorCode: 'UNEXPECTED_ERROR',
    title: 'This environment is closed',
  },
  OVERLOADED: { status: 503, errorCode: 'UNEXPECTED_ERROR', title: 'The service is overloaded' },
  INTERNAL: {
    status: 500,
    errorCode: 'UNEXPECTED_ERROR',
    title: 'Unexpected error',
    publicMessage: 'the service failed to answer this request',
  },
  // Not 409, which means "already exists" here. Clients must know that they should retry.
  REVISION_CONFLICT: {
    status: 503,
    errorCode: 'CONCURRENT_OPERATION_DISALLOWED',
    title: 'Conflict with a concurrent change',
  },
  REVISION_TOO_OLD: LOAD_AGAIN,
  STORE_RESET: LOAD_AGAIN,
  STORE_CLOSED: LOAD_AGAIN,
  STORE_LOCKED: LOAD_AGAIN,
  STORE_UNAVAILABLE: {
    status: 503,
    errorCode: 'UNEXPECTED_ERROR',
    title: 'Temporarily unavailable',
    publicMessage:
      'the store cannot be reached; the change may or may not have been made: check before you retry',
  },
  STORE_REFUSED: {
    status: 503,
    errorCode: 'UNEXPECTED_ERROR',
    title: 'The store does not accept writes',
    publicMessage:
      'the store does not accept writes at the moment; nothing was changed, and you can retry the request',
  },
  STORE_DAMAGED: {
    status: 503,
    errorCode: 'UNEXPECTED_ERROR',
    title: 'The store is damaged',
    publicMessage:
      'the store lost data of this environment; nothing was changed; decisions and changes fail until the data is restored',
  },
}

/** Value of `Retry-After` for 429 and 503. */
const RETRY_AFTER_SECONDS = '1'

/**
 * The response to a failed request. Any error other than an `AuthzError` is answered as `INTERNAL`, without
 * its message.
 */
export function problemAnswer(error: unknown, family: ErrorFamily): Answer {
  const { code, message, detail, publicMessage } = errorToData(error)
  const spec = PROBLEMS[code]
  const status = statusOf(spec, family)
  const text = publicMessage ?? spec.publicMessage ?? message
  return {
    status,
    contentType: family === 'access' ? 'text/plain; charset=utf-8' : JSON_TYPE,
    body: bodyText(family, { status, spec, message: text, detail }),
    buffer: null,
    lent: null,
    pieces: null,
    live: null,
    headers: problemHeaders(status, error),
  }
}

function statusOf({ status, managementStatus }: ProblemSpec, family: ErrorFamily): number {
  return family === 'management' ? (managementStatus ?? status) : status
}

/** Titles and error codes that use a status in a family, for the OpenAPI document. */
export function reasonsOf(status: number, family: ErrorFamily): Pick<ProblemSpec, 'title' | 'errorCode'>[] {
  return Object.values(PROBLEMS).filter(spec => statusOf(spec, family) === status)
}

interface ProblemFields {
  readonly status: number
  readonly spec: ProblemSpec
  readonly message: string
  readonly detail: readonly ErrorDetail[]
}

function bodyText(family: ErrorFamily, { status, spec, message, detail }: ProblemFields): string {
  if (family === 'access') return message
  if (family === 'native') return JSON.stringify({ code: status, message } satisfies NativeError)
  if (family === 'opa') return JSON.stringify({ code: opaCode(status), message })
  const error: ManagementError = {
    id: randomUUID(),
    title: spec.title,
    error_code: spec.errorCode,
    // Clients examine the beginning of the message to distinguish a missing entity from other failures.
    message: spec === PROBLEMS.NOT_FOUND ? `${spec.title}: ${message}` : message,
    support_link: null,
    additional_info: null,
    // The error might not contain its location, but clients expect the list.
    ...((status === 422 || detail.length > 0) && { detail: findings(detail, message) }),
  }
  return JSON.stringify(error)
}

function findings(detail: readonly ErrorDetail[], message: string): ManagementError['detail'] & object {
  if (detail.length === 0) return [{ loc: ['body'], msg: message, type: 'value_error' }]
  return detail.map(({ loc, msg, type }) => ({ loc: [...loc], msg, type }))
}

/** Error codes of the REST API of the Open Policy Agent. Its clients evaluate them. */
function opaCode(status: number): string {
  if (status === 401 || status === 403) return 'unauthorized'
  if (status === 404) return 'resource_not_found'
  if (status === 405) return 'invalid_operation'
  return status < 500 ? 'invalid_parameter' : 'internal_error'
}

/** The tag of the current state, if the request expected another one. */
function tagIn(error: unknown): Readonly<Record<string, string>> {
  return error instanceof AuthzError && error.tag !== null ? { ETag: error.tag } : {}
}

function problemHeaders(status: number, error: unknown): Readonly<Record<string, string>> {
  if (status === 401) return { 'WWW-Authenticate': 'Bearer realm="verdict"' }
  if (status === 503 || status === 429) return { 'Retry-After': RETRY_AFTER_SECONDS }
  if (error instanceof MethodNotAllowedError) return { Allow: error.allow }
  if (status === 412) return { ...UNTRANSFORMED, ...tagIn(error) }
  return {}
}
