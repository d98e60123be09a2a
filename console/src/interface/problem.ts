/** An error response of the API: its code, its messages, and the request field that each message is about. */

/** A validation error about one field of the request. */
export interface Finding {
  /** Path of the field, such as `['body', 'name']`. */
  readonly place: readonly (string | number)[]
  readonly message: string
  /** Kind of the error: `missing`, or a keyword of JSON Schema such as `maxLength`. */
  readonly kind: string
}

/** An error about a form field: either a sentence of the console or an error of the API. */
export type FieldProblem = string | Finding | Problem

/** Levels of a request that was rejected because its level is too low. */
interface Levels {
  readonly needed: string
  readonly held: string
}

interface MoreOfProblem {
  readonly title?: string
  readonly findings?: readonly Finding[]
  readonly tag?: string | null
  readonly levels?: Levels | null
}

interface Detail {
  readonly loc: readonly (string | number)[]
  readonly msg: string
  readonly type: string
}

export class Problem extends Error {
  /** HTTP status; 0 if the service could not be reached. */
  readonly status: number
  readonly code: string
  readonly findings: readonly Finding[]
  /**
   * Current `ETag` of the entity if a precondition failed. Null if the entity does not exist or has no tag.
   */
  readonly tag: string | null
  /** Null if the request was not rejected because of its level. */
  readonly levels: Levels | null

  /** Specific part of the message, without the part that the error code already expresses. */
  readonly particulars: string

  private constructor(status: number, code: string, message: string, more: MoreOfProblem = {}) {
    super(message)
    const { title = '', findings = [], tag = null, levels = null } = more
    this.status = status
    this.code = code
    this.findings = findings
    this.tag = tag
    this.levels = levels
    this.particulars = message.startsWith(`${title}: `) ? message.slice(title.length + 2) : message
  }

  static unreachable(): Problem {
    return new Problem(0, 'UNREACHABLE', '')
  }

  /** Error about a concurrent change by another user that was found before the write. */
  static stale(): Problem {
    return new Problem(412, 'PRECONDITION_FAILED', '')
  }

  /** Error about a name that does not exist. Used for names that cannot be part of a path. */
  static nameless(name: string): Problem {
    return new Problem(404, 'NOT_FOUND', `there is no ${JSON.stringify(name)}`)
  }

  /** `error` is the body of the response. It is parsed if it was JSON. */
  static of(response: Response, error: unknown): Problem {
    const body: Readonly<Record<string, unknown>> =
      typeof error === 'object' && error !== null ? { ...error } : {}
    const code = body['error_code'] ?? body['code'] ?? response.status
    const message =
      body['message'] ?? body['title'] ?? (typeof error === 'string' ? error : response.statusText)
    return new Problem(response.status, String(code), String(message), {
      title: String(body['title'] ?? ''),
      findings: findingsIn(body),
      tag: response.headers.get('etag'),
      levels: levelsIn(body),
    })
  }

  /** Error about a field of the request body. Null if there is none. */
  about(field: string): Finding | null {
    return this.findings.find(({ place }) => place[1] === field || place[0] === field) ?? null
  }

  /**
   * Whether the API rejected the request, so that the same request would fail again. False if the service was
   * unavailable or failed internally.
   */
  get isRefusal(): boolean {
    return this.status >= 400 && this.status < 500
  }

  /** Whether another user has changed the entity since it was read. */
  get isStale(): boolean {
    return this.status === 412
  }
}

function levelsIn({ additional_info: info }: Readonly<Record<string, unknown>>): Levels | null {
  if (typeof info !== 'object' || info === null) return null
  const { required_access_level: needed, access_level: held } = info as Readonly<Record<string, unknown>>
  return typeof needed === 'string' && typeof held === 'string' ? { needed, held } : null
}

function findingsIn({ detail }: Readonly<Record<string, unknown>>): readonly Finding[] {
  if (!Array.isArray(detail)) return []
  return detail.filter(isDetail).map(({ loc, msg, type }) => ({ place: loc, message: msg, kind: type }))
}

function isDetail(value: unknown): value is Detail {
  return (
    typeof value === 'object' &&
    value !== null &&
    'loc' in value &&
    Array.isArray(value.loc) &&
    'msg' in value
  )
}
