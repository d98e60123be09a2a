/**
 * Revocation of a key, or the end of a session, while the body of a request is received, is queued for the
 * thread that reads it, or is read there. After the revocation takes effect, the client receives no decision.
 * Also the end of a session that was unknown when its request was admitted.
 */
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { ThreadScheduler } from '#scheduling/thread-scheduler.ts'
import { TimeBudget } from '#scheduling/time-budget.ts'
import { LargeAnswers } from '#http/routing/large-answers.ts'
import { BYTES_HERE_MAX, LargeBodies } from '#http/routing/large-bodies.ts'
import { decisionRoutes } from '#http/routes/route-table.ts'
import type { Call } from '#http/message/request-reply.ts'
import type { RevisionGate } from '#http/routing/dispatch.ts'
import { defineRoute } from '#http/routing/route.ts'
import { HttpServer } from '#http/edge/server.ts'
import { BodyPool } from '#threads/pool/body-pool.ts'
import { ApiKeyAuthentication } from '#threads/channel/api-key-authentication.ts'
import type { AccessLevel } from '#model/principal.ts'
import { withoutSecrets } from '../../../src/config/settings.ts'
import { readConfig } from '../../../src/config/read-config.ts'
import { WORKER_URLS } from '../../../src/composition/process/worker-urls.ts'
import { decisionParts } from '../../../src/composition/wiring/thread-routes.ts'
import { documentReaders } from '../../support/documents/document-readers.ts'
import { RawConnection, requestText } from '#testing/requests/raw-connection.ts'
import { ownDirectory } from '../../support/processes/temporary-directories.ts'
import { ENVIRONMENT_PRINCIPAL } from '../edge/edge-server.ts'
import { COOKIE, ORIGIN } from '#testing/requests/member-sessions.ts'
import { csrfTokenOf } from '#http/message/csrf-token.ts'
import { SessionAccess } from '#http/routing/session-access.ts'
import type { AcceptedSession } from '#management/sessions/session-directory.ts'
import { hashOfSecret } from '#secrets/secret-hash.ts'
import { ThreadSessions } from '#threads/channel/session-authentication.ts'

const readers = documentReaders('e')

/** Two keys of one environment. Only the second key is revoked. */
const KEYS = ['valid', 'revoked'] as const
type Key = (typeof KEYS)[number]

const credential = (key: Key, slot: number, level: AccessLevel = 'decide') => ({
  secretHash: createHash('sha256').update(key).digest('hex'),
  principal: { ...ENVIRONMENT_PRINCIPAL, keyId: key, level },
  slot,
  validUntil: null,
})

const SECRET = 'A'.repeat(43)
const SCOPE = {
  projectId: ENVIRONMENT_PRINCIPAL.projectId,
  projectKey: 'p',
  environmentId: ENVIRONMENT_PRINCIPAL.environmentId,
  environmentKey: 'e',
}
const SESSION: AcceptedSession = {
  caller: { sessionId: 's', memberId: 'm', issuer: 'i', subject: 'ann', name: null },
  grants: [{ projectId: null, environmentId: null, accessLevel: 'read', delegation: null }],
  groups: [],
  secretHash: hashOfSecret(SECRET),
  expiresAt: Date.now() + 3_600_000,
  lastUsedAt: Date.now(),
  slot: 2,
}
const IN_SESSION = [
  `Cookie: ${COOKIE}=${SECRET}.epoch.1`,
  `X-CSRF-Token: ${csrfTokenOf(SECRET)}`,
  'X-Verdict-Environment: p/e',
]

interface Events {
  /** Called before a decision starts in the other thread, and before its result is returned. */
  readonly onIndex?: () => void
  readonly onStartFailure?: () => void
  readonly entry?: URL
  readonly settings?: Record<string, string>
  /** Called by a management request. */
  readonly onManaged?: (caller: Call['caller']) => void
  readonly minRevision?: RevisionGate
}

async function started({
  onIndex = () => {},
  onStartFailure = () => {},
  entry = WORKER_URLS.bodies,
  settings: given = {},
  onManaged = () => {},
  minRevision,
}: Events = {}) {
  const credentials = new ApiKeyAuthentication({ now: Date.now, elapsedMs: () => performance.now() })
  credentials.replaceAll(KEYS.map((key, slot) => credential(key, slot)))
  const clocks = { now: Date.now, elapsedMs: () => performance.now() }
  const places = { organizationId: 'o', projects: [SCOPE], environments: [SCOPE] }
  const options = { clocks, idleMs: 3_600_000, onUse: () => {} }
  const sessions = new ThreadSessions({ places, groups: [], sessions: [SESSION] }, options)
  const settings = withoutSecrets(readConfig(given))
  const tokenSecret = '00'.repeat(32)
  const counts = { decisions: 0, calls: 0, rates: 0 }
  const observer = {
    readsChecks: false,
    decided: ({ length }: Uint8Array) => {
      counts.decisions += length
      counts.calls += 1
    },
  }
  const pool = new BodyPool({
    entry,
    data: { settings, tokenSecret, observes: 'decisions' },
    bodyBytesMax: 8 * BYTES_HERE_MAX,
    jobsMax: 10,
    bytesMax: 100 * BYTES_HERE_MAX,
    index: environmentId => {
      onIndex()
      return readers.shareable(environmentId).index
    },
    observer,
    onIndexFault: () => {},
    onThreadEnd: () => {},
    onStartFailure,
  })
  const answers = new LargeAnswers(settings.listedBytesMax)
  const parts = decisionParts({
    engines: readers,
    observer,
    tokenSecret,
    settings,
    sliced: new ThreadScheduler(new TimeBudget('http')),
    pool: null,
    answers,
  })
  const managed = defineRoute({
    method: 'GET',
    path: '/v2/managed',
    operationId: 'managed',
    summary: 'A test route',
    family: 'management',
    access: 'any-key',
    level: 'read',
    responses: { 200: { description: 'Fine' } },
    handle: ({ caller }) => {
      onManaged(caller)
      return { status: 200, body: {} }
    },
  })
  const server = new HttpServer({
    routes: [...decisionRoutes(parts), managed],
    ...(minRevision && { minRevision }),
    authenticate: credentials.authenticate,
    takeRate: () => {
      counts.rates += 1
      return true
    },
    limits: { bodyBytesMax: settings.bodyBytesMax },
    largeBodies: new LargeBodies(pool, answers),
    sessions: new SessionAccess(sessions, ORIGIN, () => true),
    onFault: error => expect.unreachable(String(error)),
  })
  const port = await server.listen({ host: '127.0.0.1', port: 0 })
  onTestFinished(async () => {
    await server.close()
    await pool.close()
  })
  const revoke = () => credentials.replaceAll([credential('valid', 0)])
  const setLevel = (level: AccessLevel) => credentials.replaceAll([credential('valid', 0, level)])
  const changes = { places: null, groups: [], removedIds: [], set: [], used: [] }
  const endSession = () => sessions.apply({ ...changes, removedIds: [SESSION.caller.sessionId] })
  const removeGrants = () => sessions.apply({ ...changes, set: [{ ...SESSION, grants: [] }] })
  const beginSession = () => sessions.apply({ ...changes, set: [SESSION] })
  return { port, counts, revoke, setLevel, endSession, removeGrants, beginSession }
}

const CHECK = { user: { key: 'alice' }, action: 'read', resource: { type: 'document', key: 'd' } }
const SHORT = JSON.stringify([CHECK])
/** A large body that the byte reader reads quickly. */
const LARGE = JSON.stringify(Array(4_500).fill(CHECK))
const LONG = JSON.stringify([{ ...CHECK, context: { long: 'x'.repeat(BYTES_HERE_MAX) } }])

function request(key: Key | 'session', body: string): string {
  const credentials = key === 'session' ? IN_SESSION : [`Authorization: Bearer ${key}`]
  return requestText('POST /allowed/bulk', [...credentials, `Content-Length: ${body.length}`], body)
}

async function connected(port: number): Promise<RawConnection> {
  const connection = await RawConnection.open(port)
  onTestFinished(() => connection.destroy())
  return connection
}

async function ask(port: number, key: Key, body: string): Promise<number | undefined> {
  const connection = await connected(port)
  return (await connection.ask(request(key, body)))?.status
}

const BODIES = { short: SHORT, large: LARGE, long: LONG }
const ENDS = [
  ['its key is revoked', 'revoked', 'revoke', 401],
  ['its session ends', 'session', 'endSession', 401],
  ['the grants of its session are removed', 'session', 'removeGrants', 403],
] as const

test.each(
  Object.entries(BODIES).flatMap(([name, body]) =>
    ENDS.map(([what, ...end]) => [name, what, body, ...end] as const),
  ),
)(
  'a request with a %s body gets no decision if %s before the last byte',
  async (_name, _what, body, client, end, status) => {
    const edge = await started()
    const { port, counts } = edge
    const text = request(client, body)
    const connection = await connected(port)
    await connection.send(text.slice(0, -1))
    // The server, which runs in this thread, identified the client and checked its rate.
    while (counts.rates === 0) await new Promise(resolve => setImmediate(resolve))
    edge[end]()
    expect((await connection.ask(text.slice(-1)))?.status).toBe(status)
    expect(counts).toEqual({ decisions: 0, calls: 0, rates: 1 })
  },
)

// administration.md K4
test.each([
  ['its session ends', 'endSession', 401],
  ['the grants of its session are removed', 'removeGrants', 403],
] as const)(
  'a request whose session became known during a wait is checked again: it is rejected if %s',
  async (_name, end, status) => {
    const edge = await started({
      minRevision: {
        isReached: () => false,
        isAhead: () => true,
        reached: async (_text, identify) => {
          edge.beginSession()
          identify()
        },
      },
      onManaged: caller => {
        edge[end]()
        caller.identifyAgain()
      },
    })
    edge.endSession()
    const connection = await connected(edge.port)
    const answer = await connection.ask(requestText('GET /v2/managed', IN_SESSION))
    expect([answer?.status, edge.counts.rates]).toEqual([status, 1])
  },
)

// administration.md C7
test('a request waits once for the revision of its session and for the one that it states', async () => {
  const waits: unknown[] = []
  const edge = await started({
    minRevision: {
      isReached: () => false,
      isAhead: () => true,
      reached: async (text, identify, begun) => {
        waits.push([text, begun])
        edge.beginSession()
        identify()
      },
    },
  })
  edge.endSession()
  const connection = await connected(edge.port)
  const headers = [...IN_SESSION, 'X-Min-Revision: epoch.2', `Content-Length: ${SHORT.length}`]
  const answer = await connection.ask(requestText('POST /allowed/bulk', headers, SHORT))
  expect([answer?.status, waits]).toEqual([200, [['epoch.2', 'epoch.1']]])
})

test.each([
  ['read', 'decide', false],
  ['decide', 'read', true],
] as const)(
  'reasons of decisions follow a level that changes from %s to %s before the last byte',
  async (before, after, isShown) => {
    const { port, counts, setLevel } = await started({ settings: { DEBUG_DECISIONS: 'true' } })
    for (const body of [SHORT, LARGE, LONG]) {
      setLevel(before)
      const text = request('valid', body)
      const connection = await connected(port)
      const rates = counts.rates
      await connection.send(text.slice(0, -1))
      while (counts.rates === rates) await new Promise(resolve => setImmediate(resolve))
      setLevel(after)
      const answer = await connection.ask(text.slice(-1))
      expect([body.length, answer?.status, answer?.body.includes('"debug"')]).toEqual([
        body.length,
        200,
        isShown,
      ])
    }
  },
)

test('a request is not decided if its key is revoked while its body is queued', async () => {
  let indexes = 0
  let revoke = () => {}
  const other = Promise.withResolvers<number | undefined>()
  const edge = await started({
    onIndex: () => {
      indexes += 1
      // Send the second request when the first one starts. Revoke its key when the first result is returned.
      if (indexes === 1) ask(edge.port, 'revoked', LONG).then(other.resolve, other.reject)
      if (indexes === 2) revoke()
    },
  })
  revoke = edge.revoke
  const many = JSON.stringify(
    Array.from({ length: 10_000 }, () => ({ ...CHECK, context: { long: 'x'.repeat(300) } })),
  )
  expect(await ask(edge.port, 'valid', many)).toBe(200)
  expect(await other.promise).toBe(401)
  expect([indexes, edge.counts.calls]).toEqual([2, 1])
})

test('decisions are not returned, counted or logged if the key is revoked while the body is read', async () => {
  let indexes = 0
  let revoke = () => {}
  const edge = await started({
    onIndex: () => {
      indexes += 1
      if (indexes === 1) revoke()
    },
  })
  revoke = edge.revoke
  expect(await ask(edge.port, 'revoked', LONG)).toBe(401)
  expect([indexes, edge.counts]).toEqual([1, { decisions: 0, calls: 0, rates: 1 }])
  expect(await ask(edge.port, 'valid', LONG)).toBe(200)
  expect(edge.counts).toEqual({ decisions: 1, calls: 1, rates: 2 })
})

test('a body is not read if its key is revoked while the request waits for a thread that fails to start', async () => {
  const directory = ownDirectory()
  const file = join(directory, 'entry.mjs')
  await writeFile(file, "throw new Error('not today')")
  let revoke = () => {}
  const edge = await started({ entry: pathToFileURL(file), onStartFailure: () => revoke() })
  revoke = edge.revoke
  expect(await ask(edge.port, 'revoked', LONG)).toBe(401)
  expect(edge.counts).toEqual({ decisions: 0, calls: 0, rates: 1 })
  expect(await ask(edge.port, 'valid', LONG)).toBe(200)
})
