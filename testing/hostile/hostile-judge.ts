/**
 * Sends hostile requests over its own connections and verifies every response. A response must be an error in
 * the specified form, or a 200 with the correct result. The correct result is computed from the parsed body,
 * without the service. Hangs, faults and missing responses are also reported.
 */
import { isUtf8 } from 'node:buffer'
import { listAuthorizedUsers, listPermissions } from '#decisions/lists/listing.ts'
import type { Query } from '#model/decision.ts'
import { type Resumable, runAtOnce } from '#scheduling/resumable.ts'
import { compareUtf8 } from '#model/text/utf8-order.ts'
import type { AuthorizedUsersQuery, UserPermissionsQuery } from '#model/wire/decisions/permissions.ts'
import { Oracle } from '#testing/oracle/oracle.ts'
import { StateView } from '#testing/oracle/current-state.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'
import { RawConnection, type RawAnswer } from '#testing/requests/raw-connection.ts'
import { answerFindings, routes } from '#testing/requests/routes.ts'
import { type DecisionPath, type HostileRequest, WORLD } from './hostile-requests.ts'

const BODY_BYTES_MAX = 16_777_216
/** Number of bytes that can be sent even if the other side does not read them. */
const PACKET_BYTES = 16_384
const PAGE_SIZE = 1_000
const PAGE_SIZE_MAX = 10_000
const REFUSALS = new Set([400, 401, 413])

/** Statuses with which the HTTP library rejects invalid HTTP; 401 if the key was checked first. */
const PROTOCOL_ERRORS = new Set([400, 401, 431, 505])

type Json = Readonly<Record<string, unknown>>

/** A connection that is opened again after the service has closed it. */
export class HostileCaller {
  readonly #port: number
  readonly #apiKey: string
  #connection: RawConnection | null = null

  constructor(port: number, apiKey: string) {
    this.#port = port
    this.#apiKey = apiKey
  }

  /** Sends a request. Returns `closed` if the connection was closed instead. Throws after a timeout. */
  async send(request: HostileRequest, id: string): Promise<RawAnswer | 'closed'> {
    this.#connection ??= await RawConnection.open(this.#port)
    const head = [
      `POST ${request.path} HTTP/1.1`,
      'Host: test',
      `Authorization: Bearer ${this.#apiKey}${request.isKeyValid ? '' : 'x'}`,
      `X-Request-ID: ${id}`,
      ...(request.contentType === null ? [] : [`Content-Type: ${request.contentType}`]),
      ...request.lengths.map(length => `Content-Length: ${length}`),
      '\r\n',
    ].join('\r\n')
    void this.#connection.send(Buffer.concat([Buffer.from(head), request.body]))
    const answer = await this.#connection.answer()
    // If the service rejects a request before it has read the body, it closes the connection.
    if (answer === null || request.lengths.length > 1 || answer.status === 413) this.close()
    return answer ?? 'closed'
  }

  close(): void {
    this.#connection?.destroy()
    this.#connection = null
  }
}

export function describe({ path, contentType, lengths, body }: HostileRequest): string {
  return `${path} ${contentType} ${lengths.join()} ${body.subarray(0, 1_000).toString()}`
}

export class HostileJudge {
  readonly #oracle = new Oracle()
  readonly #world = new StateView(WORLD)
  readonly #decided = new Map<string, boolean>()
  readonly #listings: ReadonlyMap<string, (body: unknown) => unknown>

  constructor() {
    this.#oracle.apply(WORLD)
    const engine = SharedEngine.with(WORLD)
    const limits = { entriesMax: 100_000, bytesMax: Infinity }
    const listed = (work: Resumable<Uint8Array>): unknown =>
      JSON.parse(Buffer.from(runAtOnce(work)).toString())
    this.#listings = new Map([
      [
        '/user-permissions',
        query =>
          listed(
            listPermissions(engine, {
              kind: 'permissions',
              query: query as UserPermissionsQuery,
              limits,
              format: 'action:resource',
              page: null,
              requestAttributes: null,
            }),
          ),
      ],
      [
        '/authorized_users',
        body => {
          const { action, resource } = body as AuthorizedUsersQuery
          const { type, key = null, tenant = null } = resource
          const job = { kind: 'authorized-users', areRulesAsked: false, limits } as const
          return listed(
            listAuthorizedUsers(engine, {
              ...job,
              question: { action, type, key, tenant, requestAttributes: null },
            }),
          )
        },
      ],
    ])
  }

  /** Returns a description of the error in a response, or null if the response is correct. */
  problem(request: HostileRequest, id: string, answer: RawAnswer | 'closed'): string | null {
    if (isCutShort(request)) return this.#problemOfCutShort(answer)
    if (answer === 'closed') return isRefusedUnread(request) ? null : 'closed without an answer'
    if (answer.headers.get('x-request-id') !== id) return 'the request id is not echoed'
    if (answer.status !== 200) return this.#problemOfRefusal(request, answer)
    if (answer.headers.get('content-type') !== 'application/json') return 'a 200 that is no JSON'
    const asked = parse(request.body)
    if (asked === undefined) return 'accepted what is no I-JSON'
    if (request.lengths.length > 1) return 'accepted two lengths'
    if (!request.isKeyValid) return 'accepted a wrong key'
    const body: unknown = JSON.parse(answer.body)
    const { operationId } = routeOf(request.path)
    const findings = answerFindings(operationId, 200, body)
    if (findings.length > 0) return `not of the documented shape: ${JSON.stringify(findings)}`
    const right = this.#rightAnswer(request.path, asked as Json)
    const said = withoutWords(body)
    return JSON.stringify(said) === JSON.stringify(right) ? null : `wrong: should be ${JSON.stringify(right)}`
  }

  /** Bytes after the shorter length look like a second, invalid request, which might be rejected first. */
  #problemOfCutShort(answer: RawAnswer | 'closed'): string | null {
    return answer === 'closed' || PROTOCOL_ERRORS.has(answer.status) ? null : `two lengths: ${answer.status}`
  }

  #problemOfRefusal(request: HostileRequest, { status, headers, body }: RawAnswer): string | null {
    if (!REFUSALS.has(status)) return `status ${status}`
    if (request.isGood) return 'refused a good request'
    if (status === 401 && request.isKeyValid) return 'refused a valid key'
    if (request.path.startsWith('/access')) {
      const isText = headers.get('content-type') === 'text/plain; charset=utf-8' && body !== ''
      if (!isText) return 'an error that is no plain text'
    } else {
      const error = JSON.parse(body) as Json
      const isError = Object.keys(error).join() === 'code,message' && error['code'] === status
      if (!isError || typeof error['message'] !== 'string') return 'an error that is not {code, message}'
      if (headers.get('content-type') !== 'application/json') return 'a native error that is no JSON'
    }
    return this.#isSurelyRight(request) ? 'refused a request of the right shape' : null
  }

  /** Returns true if the request must succeed, and false if its content can be a reason to reject it. */
  #isSurelyRight(request: HostileRequest): boolean {
    const { path, isKeyValid, lengths, body, contentType } = request
    const isPlain = isKeyValid && lengths.length === 1 && /^application\/json(;|$)/.test(contentType ?? '')
    const isShort = body.length < 4_096
    const isForShape = !path.includes('search') && path !== '/access/v1/evaluations'
    if (!isPlain || !isShort || !isForShape) return false
    const asked = parse(body)
    // A lone surrogate is rejected even if a later member of the same name replaced it in the parsed body.
    if (asked === undefined || /\\ud/i.test(body.toString())) return false
    try {
      routeOf(path).body!.shape.check(asked)
      return true
    } catch {
      return false
    }
  }

  #rightAnswer(path: DecisionPath, asked: Json): unknown {
    switch (path) {
      case '/allowed':
        return this.#allowed(asked)
      case '/allowed/bulk':
        return { allow: (asked as unknown as readonly Json[]).map(question => this.#allowed(question)) }
      case '/user-permissions':
      case '/authorized_users':
        return this.#listings.get(path)!(asked)
      case '/access/v1/evaluation':
        return { decision: this.#permits(asked) }
      case '/access/v1/evaluations':
        return this.#batch(asked)
      default:
        return this.#search(path, asked)
    }
  }

  #allowed({ user, action, resource }: Json) {
    const { type, key = null, tenant = null } = resource as Json
    const query = { user: (user as Json)['key'], action, type, key, tenant } as Query
    const allow = this.#decide(query)
    return { allow, result: allow }
  }

  #decide(query: Query): boolean {
    const { user, action, type, key, tenant } = query
    const name = JSON.stringify([user, action, type, key, tenant])
    const known = this.#decided.get(name)
    if (known !== undefined) return known
    const decision = this.#oracle.evaluate(query)
    // Decisions on huge names are not cached: such a name occurs only once.
    if (name.length < 1_000) this.#decided.set(name, decision)
    return decision
  }

  #permits(evaluation: Json, open: Partial<Query> = {}): boolean {
    const subject = evaluation['subject'] as Json
    if (subject['type'] !== 'user' && subject['type'] !== 'identity') return false
    const resource = evaluation['resource'] as Json
    const properties = (resource['properties'] ?? {}) as Json
    const named = Object.hasOwn(properties, 'tenant') ? properties['tenant'] : null
    return this.#decide({
      user: subject['id'] as string,
      action: (evaluation['action'] as Json | undefined)?.['name'] as string,
      type: resource['type'] as string,
      key: (resource['id'] ?? null) as string | null,
      tenant: typeof named === 'string' ? named : null,
      ...open,
    })
  }

  #batch(asked: Json): unknown {
    const items = (asked['evaluations'] ?? []) as readonly unknown[]
    if (items.length === 0) return { decision: this.#permits(asked) }
    const semantic = (asked['options'] as Json | null | undefined)?.['evaluations_semantic'] ?? 'execute_all'
    const evaluations: object[] = []
    for (const item of items) {
      const evaluation = withDefaults(item, asked)
      const isReadable = evaluation !== null && isEvaluation(evaluation)
      const decision = isReadable && this.#permits(evaluation)
      evaluations.push(
        isReadable ? { decision } : { decision, context: { error: { status: 400, message: '' } } },
      )
      if (semantic === (decision ? 'permit_on_first_permit' : 'deny_on_first_deny')) break
    }
    return { evaluations }
  }

  #search(path: DecisionPath, asked: Json): unknown {
    const { type } = asked['resource'] as { type: string }
    const page = (asked['page'] ?? {}) as Json
    const token = page['token'] ?? page['next_token'] ?? ''
    if (token !== '') return 'no answer: the token is none of this service'
    const limit = Math.min((page['limit'] ?? page['size'] ?? PAGE_SIZE) as number, PAGE_SIZE_MAX)
    const found = this.#found(path, asked, type).toSorted(compareUtf8)
    const subjectType = (asked['subject'] as Json)['type']
    const results = found.slice(0, limit).map(id => {
      if (path.endsWith('action')) return { name: id }
      return path.endsWith('subject') ? { type: subjectType, id } : { type, id }
    })
    const next_token = found.length > limit ? 'more' : ''
    return { page: { next_token, count: results.length, total: found.length }, results }
  }

  #found(path: DecisionPath, asked: Json, type: string): readonly string[] {
    if (path.endsWith('subject')) return this.#world.users.filter(user => this.#permits(asked, { user }))
    if (path.endsWith('resource')) {
      return this.#world.keysOf(type).filter(key => this.#permits(asked, { key }))
    }
    return this.#world.actionsOf(type).filter(action => this.#permits(asked, { action }))
  }
}

function isCutShort({ lengths, body }: HostileRequest): boolean {
  return lengths.length > 1 && lengths[0]! < body.length
}

/** Returns true if the service responds before it has read the body. A reset can then hide the response. */
function isRefusedUnread({ lengths, body }: HostileRequest): boolean {
  return body.length > BODY_BYTES_MAX || (lengths.length > 1 && body.length > PACKET_BYTES)
}

function routeOf(path: DecisionPath) {
  return routes.find(route => route.path === path)!
}

/** Parses a body as strictly as the API. Returns undefined if it is not valid JSON. */
function parse(body: Buffer): unknown {
  if (!isUtf8(body)) return undefined
  try {
    // A single byte order mark at the start is valid and is skipped.
    const value: unknown = JSON.parse(body.toString('utf8').replace(/^\ufeff/, ''))
    return isWellFormed(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Does not use recursion, because the value can be deeply nested. */
function isWellFormed(value: unknown): boolean {
  const waiting = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (typeof next === 'string' && !next.isWellFormed()) return false
    if (typeof next !== 'object' || next === null) continue
    for (const [name, member] of Object.entries(next)) waiting.push(name, member)
  }
  return true
}

/** Removes messages and page tokens, because their texts are not verified here. */
function withoutWords(body: unknown): unknown {
  return JSON.parse(JSON.stringify(body), (name, value: unknown) => {
    if (name === 'message') return ''
    return name === 'next_token' && value !== '' ? 'more' : value
  })
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Inherits whole members from the defaults. Only a missing type is completed (authzen.md 4.2). */
function withDefaults(item: unknown, defaults: Json): Json | null {
  if (!isObject(item)) return null
  const member = (name: string): unknown => {
    const [own, inherited] = [item[name] ?? null, defaults[name] ?? null]
    if (own === null) return inherited
    const lacksType =
      name !== 'action' &&
      name !== 'context' &&
      isObject(own) &&
      (own['type'] ?? null) === null &&
      (own['id'] ?? null) !== null
    return lacksType && isObject(inherited) ? { ...own, type: inherited['type'] } : own
  }
  return {
    subject: member('subject'),
    action: member('action'),
    resource: member('resource'),
    context: member('context'),
  }
}

function isEvaluation({ subject, action, resource, context }: Json): boolean {
  const isName = (value: unknown) => typeof value === 'string' && value !== ''
  const isBag = (value: unknown) => value === undefined || value === null || isObject(value)
  if (!isObject(subject) || !isObject(action) || !isObject(resource) || !isBag(context)) return false
  if (![subject, action, resource].every(entity => isBag(entity['properties']))) return false
  const hasNames = [subject['type'], subject['id'], action['name'], resource['type']].every(isName)
  return hasNames && (isName(resource['id']) || (resource['id'] ?? null) === null)
}
