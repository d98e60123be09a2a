/** HTTP server on a free port with a few routes of each family whose handlers return their input. */
import { Type } from 'typebox'
import { afterAll, onTestFinished } from 'vitest'
import { InvariantError } from '#model/assert.ts'
import { AuthzError, type ErrorCode } from '#model/errors.ts'
import type { Principal } from '#model/principal.ts'
import { bearerToken } from '#model/bearer-token.ts'
import { RawBytes, RawJson, RawPieces } from '#http/message/request-reply.ts'
import { ContentStream } from '#management/content/content-stream.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import type { RequestObserver } from '#http/edge/request-watch.ts'
import { SegmentStock } from '#http/edge/body-segments.ts'
import { HttpServer, type HttpServerOptions } from '#http/edge/server.ts'
import { requestText } from '#testing/requests/raw-connection.ts'

export const ENVIRONMENT_KEY = 'environment-key'
export const ORGANIZATION_KEY = 'organization-key'
export const AUTHORIZED = { authorization: `Bearer ${ENVIRONMENT_KEY}` }
/** The authorization as a header line of a raw request. */
export const AUTHORIZATION = `Authorization: ${AUTHORIZED.authorization}`
export const BODY_BYTES_MAX = 200_000

export const ENVIRONMENT_PRINCIPAL = {
  kind: 'environment',
  keyId: null,
  level: 'admin',
  organizationId: 'o',
  projectId: 'p',
  projectKey: 'project',
  environmentId: 'e',
  environmentKey: 'environment',
} as const
const PRINCIPALS = new Map<string, Principal>([
  [ENVIRONMENT_KEY, ENVIRONMENT_PRINCIPAL],
  [ORGANIZATION_KEY, { kind: 'organization', keyId: null, level: 'admin', organizationId: 'o' }],
])

const optional = <T extends import('typebox').TSchema>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]))

const described = { summary: 'A test route', responses: { 200: { description: 'Fine' } } }
const decision = { ...described, family: 'native', access: 'environment', level: 'decide' } as const
const open = { ...described, family: 'native', access: 'public' } as const
const management = { ...described, family: 'management', access: 'any-key', level: 'read' } as const

/** Blocks a handler until it is released. */
export class Latch {
  readonly #entered = Promise.withResolvers<void>()
  readonly #released = Promise.withResolvers<void>()

  /** Resolves when the handler has been called. */
  readonly entered = this.#entered.promise

  async pass(): Promise<void> {
    this.#entered.resolve()
    await this.#released.promise
  }

  release(): void {
    this.#released.resolve()
  }
}

export function edgeRoutes(latch: Latch): Route[] {
  return [
    defineRoute({
      ...decision,
      method: 'POST',
      path: '/allowed',
      operationId: 'allowed',
      body: Type.Object({
        user: Type.Object({ key: Type.String({ minLength: 1 }), email: optional(Type.String()) }),
        action: Type.String({ minLength: 1 }),
        roles: Type.Optional(Type.Array(Type.Object({ key: Type.String() }))),
        mode: Type.Optional(Type.Union([Type.Literal('fast'), Type.Literal('slow')])),
        context: optional(Type.Object({ ip: Type.String() })),
      }),
      handle: call => ({
        status: 200,
        body: { user: call.body.user.key, bytes: JSON.stringify(call.body).length },
      }),
    }),
    defineRoute({
      ...decision,
      method: 'POST',
      path: '/allowed/bulk',
      operationId: 'allowed-bulk',
      body: Type.Array(Type.Unknown()),
      handle: async call => ({ status: 200, body: { count: call.body.length } }),
    }),
    defineRoute({
      ...decision,
      method: 'POST',
      path: '/v1/data/root',
      operationId: 'opa-root',
      handle: () => ({ status: 200, body: {} }),
    }),
    defineRoute({
      ...open,
      method: 'GET',
      path: '/healthy',
      operationId: 'healthy',
      handle: call => ({ status: 200, body: { caller: call.principal } }),
    }),
    defineRoute({
      ...open,
      method: 'GET',
      path: '/metrics',
      operationId: 'metrics',
      handle: () => ({ status: 200, body: new RawJson('up 1\n'), headers: { 'content-type': 'text/plain' } }),
    }),
    defineRoute({
      ...described,
      method: 'POST',
      path: '/access/v1/evaluation',
      operationId: 'evaluation',
      family: 'access',
      access: 'environment',
      level: 'decide',
      requireJsonContentType: true,
      body: Type.Object({ action: Type.Object({ name: Type.String() }) }),
      handle: call => ({ status: 200, body: { decision: call.body.action.name === 'read' } }),
    }),
    defineRoute({
      ...described,
      method: 'GET',
      path: '/.well-known/authzen-configuration',
      operationId: 'metadata',
      family: 'access',
      access: 'optional-key',
      handle: call => ({ status: 200, body: { caller: call.principal?.kind ?? null } }),
    }),
    defineRoute({
      ...management,
      method: 'GET',
      path: '/v2/things',
      operationId: 'list-things',
      query: Type.Object({
        page: Type.Optional(Type.Integer({ minimum: 1 })),
        ratio: Type.Optional(Type.Number()),
        detailed: Type.Optional(Type.Boolean()),
        search: Type.Optional(Type.String()),
        user: Type.Optional(Type.Array(Type.String())),
        level: Type.Optional(Type.Array(Type.Integer())),
      }),
      handle: call => ({ status: 200, body: call.query }),
    }),
    defineRoute({
      ...management,
      method: 'POST',
      path: '/v2/things',
      operationId: 'create-thing',
      body: Type.Object({ key: Type.String({ pattern: '^[a-z]+$' }), attributes: Type.Unknown() }),
      handle: call => ({ status: 200, body: call.body, headers: { 'X-Revision': 'epoch.7' } }),
    }),
    defineRoute({
      ...management,
      method: 'GET',
      path: '/v2/things/{thing_id}',
      operationId: 'get-thing',
      handle: call => ({ status: 200, body: { thing: call.params.thing_id } }),
    }),
    defineRoute({
      ...management,
      method: 'DELETE',
      path: '/v2/things/bulk',
      operationId: 'delete-things',
      optionalBody: Type.Object({ tenant: Type.Optional(Type.String()) }),
      handle: call =>
        call.body === undefined ? { status: 204, body: undefined } : { status: 200, body: call.body },
    }),
    defineRoute({
      ...management,
      method: 'PUT',
      path: '/v2/things/{thing_id}/users/{user_id}',
      operationId: 'put-user',
      params: Type.Object({ thing_id: Type.String(), user_id: Type.String({ maxLength: 8 }) }),
      handle: call => ({ status: 200, body: call.params }),
    }),
    ...(['native', 'access', 'management'] as const).map(family =>
      defineRoute({
        ...described,
        method: 'POST',
        path: `${{ native: '', access: '/access/v1', management: '/v2' }[family]}/failures/{code}`,
        operationId: `fail-${family}`,
        family,
        access: 'public',
        handle: call => fail(call.params.code ?? ''),
      }),
    ),
    defineRoute({
      ...open,
      method: 'GET',
      path: '/large/{length}',
      operationId: 'large',
      handle: call => ({ status: 200, body: new RawJson(`"${'ü'.repeat(Number(call.params.length))}"`) }),
    }),
    defineRoute({
      ...open,
      method: 'GET',
      path: '/pieces/{count}',
      operationId: 'pieces',
      handle: async call => {
        const pieces = Array.from({ length: Number(call.params.count) }, (_, n) => `${n}\n`)
        return { status: 200, body: await RawPieces.begun(new ContentStream(pieces, () => {})) }
      },
    }),
    defineRoute({
      ...open,
      method: 'GET',
      path: '/latch',
      operationId: 'latch',
      handle: async () => {
        await latch.pass()
        return { status: 200, body: 'passed' }
      },
    }),
  ]
}

/** Fails in the way that the path names. */
function fail(
  code: string,
): Promise<never> | { status: number; body: unknown; headers?: Record<string, string> } {
  if (code === 'broken') throw new TypeError('the secret of host db-1 is 42')
  if (code === 'later') return Promise.reject(new TypeError('the secret of host db-1 is 42'))
  if (code === 'invariant') throw new InvariantError('the secret of host db-1 is 42')
  if (code === 'cyclic') {
    const body: Record<string, unknown> = {}
    body['self'] = body
    return { status: 200, body }
  }
  if (code === 'unwritable') return { status: 200, body: new RawBytes([1, 2] as never) }
  if (code === 'header') return { status: 200, body: 'fine', headers: { 'X-Revision': 'a\r\nX-Evil: 1' } }
  throw new AuthzError(code as ErrorCode, `about ${code}`)
}

export interface Fault {
  readonly error: unknown
  readonly requestId: string
}

export interface EdgeServer {
  readonly server: HttpServer
  readonly port: number
  readonly origin: string
  readonly latch: Latch
  readonly faults: Fault[]
}

/** `onCall` is called with the ID of each request directly before its handler runs. */
export async function startEdge(
  options: Partial<HttpServerOptions> = {},
  onCall: (requestId: string) => void = () => {},
): Promise<EdgeServer> {
  const latch = new Latch()
  const faults: Fault[] = []
  const server = new HttpServer({
    routes: edgeRoutes(latch).map(route => ({
      ...route,
      handle: call => {
        onCall(call.names.requestId)
        return route.handle(call)
      },
    })),
    authenticate: authorization => PRINCIPALS.get(bearerToken(authorization) ?? '') ?? null,
    limits: { bodyBytesMax: BODY_BYTES_MAX },
    onFault: (error, requestId) => faults.push({ error, requestId }),
    ...options,
  })
  const port = await server.listen({ host: '127.0.0.1', port: 0 })
  return { server, port, origin: `http://127.0.0.1:${port}`, latch, faults }
}

/** Counts the segments that are in use. */
export class CountedSegments extends SegmentStock {
  out = 0

  override take(share: string): SharedArrayBuffer {
    const segment = super.take(share)
    this.out += 1
    return segment
  }

  override giveBack(share: string, segments: readonly SharedArrayBuffer[]): void {
    this.out -= segments.length
    super.giveBack(share, segments)
  }
}

/** Starts a server for the current test. */
export async function startedEdge(options: Partial<HttpServerOptions> = {}): Promise<EdgeServer> {
  const edge = await startEdge(options)
  onTestFinished(() => edge.server.close())
  return edge
}

/** Starts a server for all tests of the current file. */
export async function sharedEdge(options: Partial<HttpServerOptions> = {}): Promise<EdgeServer> {
  const edge = await startEdge(options)
  afterAll(() => edge.server.close())
  return edge
}

/** A body that `/allowed` accepts and that has exactly this many bytes. */
export function allowedBody(bytes = 0): string {
  const bare = JSON.stringify({ user: { key: 'alice', email: '' }, action: 'read' })
  return bare.replace('"email":""', `"email":"${'x'.repeat(Math.max(0, bytes - bare.length))}"`)
}

/** Text of a POST with the length of its body. */
export function postText(path: string, body: string, headers: readonly string[] = []): string {
  return requestText(`POST ${path}`, [...headers, `Content-Length: ${body.length}`], body)
}

/** Returns an observer and the statuses that it records: one per request, or 0 if the client disconnected. */
export function countingObserver(): { statuses: number[]; observer: RequestObserver } {
  const statuses: number[] = []
  const observer = {
    endpoint: () => 0,
    began: () => {},
    ended: (_endpoint: number, status: number) => void statuses.push(status),
    connected: () => {},
    limitReached: () => {},
  }
  return { statuses, observer }
}
