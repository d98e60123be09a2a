/**
 * Maps error codes to HTTP statuses and to the error format of each path family (native.md A.1, B.1, 0.10,
 * 0.13 and 0.19).
 *
 * The compiler verifies that the table is complete. For codes of internal failures, the table contains a
 * public message. The message of the error itself is only logged, because it could contain hosts, directories
 * or store keys.
 */
import { randomUUID } from 'node:crypto'
import { type Answer, JSON_TYPE } from '#http/message/answer.ts'
import { UNTRANSFORMED } from '#http/message/header-fields.ts'
import type { ErrorFamily } from '#http/message/request-reply.ts'
import { AuthzError, type ErrorCode, type ErrorDetail, errorToData, type LevelGap } from '#model/errors.ts'
import type { ManagementError, ManagementErrorCode, NativeError, PlanRefusal } from '#model/wire/problem.ts'
import { MethodNotAllowedError } from './router.ts'

/** Status, code and texts of the response for one error code. */
interface ProblemSpec {
  readonly status: number
  /**
   * Status in the management API if it differs. For example, the management API responds to invalid input
   * with 422.
   */
  readonly managementStatus?: number
  /** `error_code` of the management API. */
  readonly errorCode: ManagementErrorCode
  readonly title: string
  /**
   * Message that is sent and replaces the message of the error. If the error has its own `publicMessage`,
   * that message is sent.
   */
  readonly publicMessage?: string
  /** The only family of routes that have the error. If absent, all routes can have it. */
  readonly only?: ErrorFamily
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
  UNKNOWN_RELATION: {
    status: 422,
    errorCode: 'INVALID_INPUT',
    title: 'The resource does not define a relation of `columns.relations`',
    only: 'plan',
  },
  FILTER_NOT_EXPRESSIBLE: {
    status: 422,
    errorCode: 'INVALID_INPUT',
    title: 'No filter expresses the rules exactly',
    only: 'plan',
  },
  FILTER_TOO_LARGE: {
    status: 422,
    errorCode: 'INVALID_INPUT',
    title: 'The filter would be too large',
    only: 'plan',
  },
  FILTER_TOO_COSTLY: {
    status: 422,
    errorCode: 'INVALID_INPUT',
    title: 'The plan would take too long',
    only: 'plan',
  },
  // The status is not 409, because 409 means "already exists" in this API. Clients must know that they can
  // retry.
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

/** Value of `Retry-After` in responses with the status 429 or 503. */
const RETRY_AFTER_SECONDS = '1'

/**
 * Creates the response to a failed request. If the error is not an `AuthzError`, the client gets the code
 * `INTERNAL` without the message of the error.
 */
export function problemAnswer(error: unknown, family: ErrorFamily): Answer {
  const { code, message, detail, publicMessage, levels = null, planDetail } = errorToData(error)
  const spec = PROBLEMS[code]
  const status = statusOf(spec, family)
  const text = publicMessage ?? spec.publicMessage ?? message
  return {
    status,
    contentType: family === 'access' ? 'text/plain; charset=utf-8' : JSON_TYPE,
    body:
      family === 'plan'
        ? planBody(code, status, text, [...(planDetail ?? detail)])
        : bodyText(family, { status, spec, message: text, detail, levels }),
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

/** Titles and error codes of all errors with this status in this family, for the OpenAPI document. */
export function reasonsOf(status: number, family: ErrorFamily): Pick<ProblemSpec, 'title' | 'errorCode'>[] {
  return Object.values(PROBLEMS).filter(
    spec => statusOf(spec, family) === status && (spec.only ?? family) === family,
  )
}

interface ProblemFields {
  readonly status: number
  readonly spec: ProblemSpec
  readonly message: string
  readonly detail: readonly ErrorDetail[]
  readonly levels: LevelGap | null
}

function bodyText(family: ErrorFamily, { status, spec, message, detail, levels }: ProblemFields): string {
  if (family === 'access') return message
  if (family === 'native') return JSON.stringify({ code: status, message } satisfies NativeError)
  if (family === 'opa') return JSON.stringify({ code: opaCode(status), message })
  const error: ManagementError = {
    id: randomUUID(),
    title: spec.title,
    error_code: spec.errorCode,
    // Published clients examine the beginning of the message. They distinguish a missing entity from other
    // failures by the title.
    message: spec === PROBLEMS.NOT_FOUND ? `${spec.title}: ${message}` : message,
    support_link: null,
    additional_info: levels && { required_access_level: levels.required, access_level: levels.held },
    // Clients expect a list in `detail` for the status 422, even if the error has no list of findings.
    ...((status === 422 || detail.length > 0) && { detail: findings(detail, message) }),
  }
  return JSON.stringify(error)
}

/** Errors that only plans have, and `LIMIT_EXCEEDED`, keep their own code (filter.md, section 6). */
function planBody(code: ErrorCode, status: number, message: string, detail: PlanRefusal['detail']): string {
  const { only, errorCode: general } = PROBLEMS[code]
  const errorCode = only === 'plan' || code === 'LIMIT_EXCEEDED' ? code : general
  return JSON.stringify({
    code: status,
    message,
    error_code: errorCode as PlanRefusal['error_code'],
    detail,
  } satisfies PlanRefusal)
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

/** `ETag` header with the current entity tag, if the request required another one. */
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
