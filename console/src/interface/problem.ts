/** An error as the interface says it: a code, sentences, and where they are about a part of what was sent, that part. */

/** Where in a request something is not as it must be. */
export interface Finding {
  /** As `['body', 'name']`. */
  readonly place: readonly (string | number)[]
  readonly message: string
  /** What it is about: a keyword of a schema, as `maxLength`, or `missing`. */
  readonly kind: string
}

/** What is wrong with a field: a sentence of the console, or what the interface says. */
export type FieldProblem = string | Finding | Problem

interface MoreOfProblem {
  readonly title?: string
  readonly findings?: readonly Finding[]
  readonly tag?: string | null
}

interface Detail {
  readonly loc: readonly (string | number)[]
  readonly msg: string
  readonly type: string
}

export class Problem extends Error {
  /** 0: the service was not reached. */
  readonly status: number
  readonly code: string
  readonly findings: readonly Finding[]
  /** The tag of what is there, where something else was expected; null: nothing is there, or it has none. */
  readonly tag: string | null

  /** The message without what its code says already. */
  readonly particulars: string

  private constructor(status: number, code: string, message: string, more: MoreOfProblem = {}) {
    super(message)
    const { title = '', findings = [], tag = null } = more
    this.status = status
    this.code = code
    this.findings = findings
    this.tag = tag
    this.particulars = message.startsWith(`${title}: `) ? message.slice(title.length + 2) : message
  }

  static unreachable(): Problem {
    return new Problem(0, 'UNREACHABLE', '')
  }

  /** Somebody else changed the thing meanwhile, as one finds who looks before writing. */
  static stale(): Problem {
    return new Problem(412, 'PRECONDITION_FAILED', '')
  }

  /** There is nothing of that name, and no address for it either. */
  static nameless(name: string): Problem {
    return new Problem(404, 'NOT_FOUND', `there is no ${JSON.stringify(name)}`)
  }

  /** `error`: the body of the answer, parsed where it was JSON. */
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
    })
  }

  /** What is said of one field of the body; null: nothing. */
  about(field: string): Finding | null {
    return this.findings.find(({ place }) => place[1] === field || place[0] === field) ?? null
  }

  /** Whether the interface refused what was asked: it would do so again. Else the service was away, or had trouble. */
  get isRefusal(): boolean {
    return this.status >= 400 && this.status < 500
  }

  /** Whether another one changed the thing meanwhile. */
  get isStale(): boolean {
    return this.status === 412
  }
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
