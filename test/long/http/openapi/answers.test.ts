/**
 * Calls every route and compares every response with the served description. Undescribed parts of a response,
 * and routes without an example, are errors.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bearerToken } from '#model/bearer-token.ts'
import type { Route } from '#http/routing/route.ts'
import { SessionAccess, type SessionSource } from '#http/routing/session-access.ts'
import { OrganizationPlaces } from '#model/members/organization-places.ts'
import type { Principal } from '#model/principal.ts'
import { AuthzError } from '#model/errors.ts'
import { HttpServer } from '#http/edge/server.ts'
import { Description, type JudgedAnswer } from '../../../support/documents/description.ts'
import { exampleCalls } from '../../../support/calls/example-calls.ts'
import { exampleMembers } from '../../../support/calls/member-calls.ts'
import { ForgingIssuer } from '#testing/issuer/forging-issuer.ts'
import { headersOf, ORIGIN, SIGN_IN, type SignedIn, signedIn } from '#testing/requests/member-sessions.ts'
import { routes as table, routesWithoutService } from '#testing/requests/routes.ts'
import {
  ADMIN_KEY,
  API_KEY,
  textOf,
  RESOURCES,
  SCHEMA,
  sharedService,
  startedService,
} from '#testing/processes/running-service.ts'
import { type Call, call as exampleOf } from '../../../support/calls/schema-calls.ts'
import { sharedDirectory } from '../../../support/processes/temporary-directories.ts'
import { RawConnection, requestText } from '#testing/requests/raw-connection.ts'

const BODY_BYTES_MAX = 16_384
const routes = table.filter(({ isDescribed }) => isDescribed)
/** An issuer that listens in this process. */
const issuer = await ForgingIssuer.start()
afterAll(() => issuer.close())
const ISSUED = { ...SIGN_IN, oidcIssuer: issuer.origin }
// On disk, because a store in memory has no backup.
const storeUrl = `lmdb:${sharedDirectory()}`
const verdict = await sharedService({ bodyBytesMax: BODY_BYTES_MAX, storeUrl, ...ISSUED })
await verdict.user('alice')
// Checks that read their query from headers must be allowed, because a denial has another status.
await verdict.resource({ key: 'gate', actions: { pass: {} } })
await verdict.tenantRole('guest', ['gate:pass'])
await verdict.assign('alice', 'guest', 'default')
const description = new Description(
  (await verdict.send<Record<string, unknown>>('GET', '/openapi.json', { key: null })).body,
)

const spareKey = await verdict.createKey()
const decideKey = await verdict.createKey({
  project_id: 'default',
  environment_id: 'default',
  access_level: 'decide',
})
const members = await exampleMembers(verdict)
const [eve, leaving, ended] = [
  await signedIn(verdict, 'eve'),
  await signedIn(verdict, 'eve'),
  await signedIn(verdict, 'eve'),
]
const inSession = (session: SignedIn) => ({ key: null, headers: headersOf(session) })
const logout = { events: { 'http://schemas.openid.net/event/backchannel-logout': {} }, sub: 'no one' }
const EXAMPLE_CALLS = [
  ...exampleCalls(spareKey.id, members),
  exampleOf('getSignIn', 'GET', '/v2/sign-in'),
  exampleOf('beginSignIn', 'POST', '/v2/sign-in', {}),
  exampleOf('finishSignIn', 'GET', '/v2/sign-in/callback?state=a&code=b'),
  exampleOf('receiveLogout', 'POST', '/v2/sign-in/back-channel-logout', undefined, {
    text: `logout_token=${issuer.token(logout, { head: { typ: 'logout+jwt' } })}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  }),
  exampleOf('getSession', 'GET', '/v2/session', undefined, inSession(eve)),
  exampleOf('getOwnMember', 'GET', '/v2/members/me', undefined, inSession(eve)),
  exampleOf('listSessions', 'GET', '/v2/sessions', undefined, { key: ADMIN_KEY }),
  exampleOf('deleteSession', 'DELETE', `/v2/sessions/${ended.sessionId}`, undefined, { key: ADMIN_KEY }),
  exampleOf('endSession', 'DELETE', '/v2/session', undefined, inSession(leaving)),
]

const { operations } = description

/** Operations and the statuses that they returned: `isAllowed 200`. */
const seen = new Set<string>()
/** The first example of each operation. */
const example = new Map(EXAMPLE_CALLS.toReversed().map(each => [each.operation, each]))
// The session of the example has ended when it succeeded.
example.set('endSession', { ...example.get('endSession')!, ...inSession(eve) })

interface Spoilt {
  readonly key?: string | null
  readonly headers?: Readonly<Record<string, string>>
  readonly method?: string
  readonly path?: string
  readonly text?: string
  readonly address?: string
}

/** Makes a call and checks the response against the description. */
async function call(made: Call, spoilt: Spoilt = {}): Promise<number> {
  const { operation, method, path, body, headers } = made
  const { key = made.key === undefined ? API_KEY : made.key, address = verdict.address } = spoilt
  const text = spoilt.text ?? made.text ?? (body === undefined ? undefined : JSON.stringify(body))
  const response = await fetch(address + (spoilt.path ?? path), {
    method: spoilt.method ?? method,
    redirect: 'manual',
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(text !== undefined && { 'content-type': 'application/json' }),
      ...headers,
      ...spoilt.headers,
    },
    ...(text !== undefined && { body: text }),
  })
  const answered = new Map(response.headers)
  // The description states once that responses in a session have this header, and states it in words for an
  // invalid logout token.
  if (made.key === null || (operation === 'receiveLogout' && response.status === 400))
    answered.delete('cache-control')
  judge(operation, { status: response.status, headers: answered, body: await textOf(response) })
  return response.status
}

function judge(operation: string, answer: JudgedAnswer): void {
  expect(description.findings(operation, answer), `${operation} ${answer.status}: ${answer.body}`).toEqual([])
  seen.add(`${operation} ${answer.status}`)
}

/** Routes that can return a status, whether it is described or not, with their examples. */
function those(canBe: (route: Route) => boolean) {
  return routes.filter(canBe).map(route => {
    const { operationId } = route
    return { operationId, route, call: example.get(operationId)! }
  })
}

/** Whether only members in a session may call a route. */
function isOfSession(access: Route['access']): boolean {
  return access === 'session' || access === 'cookie'
}

/** Whether keys of any kind may call a route. */
function isForAnyCaller(access: Route['access']): boolean {
  return ['public', 'optional-key', 'any-key'].includes(access)
}

/** Fills in the first parameters of a path. The other parameters name entities that do not exist. */
function filled(template: string, ...values: readonly string[]): string {
  let index = 0
  return template.replaceAll(/\{\w+\}/g, () => values[index++] ?? 'nothing')
}

describe('successful responses', () => {
  test('every route has an example call', () => {
    const called = new Set(EXAMPLE_CALLS.map(({ operation }) => operation))
    const described = operations.map(({ operationId }) => operationId)
    expect(described.filter(operation => !called.has(operation))).toEqual([])
    expect([...called].filter(operation => !described.includes(operation))).toEqual([])
  })

  test('every example succeeds; a repetition returns 200 or 409, and another `If-Match` returns 412', async () => {
    const conditional = new Set(those(takesIfMatch).map(({ operationId }) => operationId))
    for (const each of EXAMPLE_CALLS) {
      if (conditional.has(each.operation)) {
        expect(await call(each, { headers: { 'If-Match': '"another"' } }), each.operation).toBe(412)
      }
      expect(await call(each), `${each.operation} ${each.path}`).toBeLessThan(400)
      if (['POST', 'PUT'].includes(each.method))
        expect([200, 409], each.operation).toContain(await call(each))
    }
  })

  function takesIfMatch({ headers }: Route): boolean {
    return headers.some(({ name }) => name === 'If-Match')
  }

  test('every described success was returned', () => {
    const described = operations.flatMap(({ operationId, statuses }) =>
      statuses.filter(status => status < 400).map(status => `${operationId} ${status}`),
    )
    expect(described.filter(answer => !seen.has(answer))).toEqual([])
  })

  test('explained decisions match the description', async () => {
    const open = await sharedDebug
    for (const body of [question('alice'), question('nobody'), question('bob')]) {
      expect(await call({ operation: 'isAllowed', method: 'POST', path: '/allowed', body }, open)).toBe(200)
    }
    function question(user: string) {
      return { user: { key: user }, action: 'read', resource: { type: 'document', key: 'd1' } }
    }
  })
})

/** A service with explained decisions: alice is allowed by an instance role, and bob by a tenant role. */
const sharedDebug = (async () => {
  const open = await sharedService({ hasDebug: true })
  await open.createDocumentModel()
  await open.tenantRole('reader', ['document:read'])
  await open.users('alice', 'bob')
  await open.group('team')
  await open.join('team', 'alice')
  await open.grant('team', 'editor', 'document:d1')
  await open.assign('bob', 'reader', 'default')
  return { address: open.address }
})()

describe('error responses', () => {
  test.each(those(() => true))('$operationId returns 400 for two Content-Length headers', async each => {
    const { method, path } = each.call
    const connection = await RawConnection.open(verdict.port)
    const lengths = ['Content-Length: 2', 'Content-Length: 2']
    const sent = [`Authorization: Bearer ${each.call.key ?? API_KEY}`, ...lengths]
    const answer = await connection.ask(requestText(`${method} ${path}`, sent, '{}'))
    connection.destroy()
    expect(answer?.status).toBe(400)
    judge(each.operationId, answer!)
  })

  test('decision routes return 400 for malformed JSON, and any route for an invalid X-Wait-Timeout', async () => {
    const broken = those(({ family, body }) => family !== 'management' && body !== null)
    for (const each of broken) expect(await call(each.call, { text: '{' })).toBe(400)
    const waiting = those(({ headers }) => headers.some(isWaitTimeout))
    expect(waiting).not.toEqual([])
    for (const each of waiting) {
      expect(await call(each.call, { headers: { 'X-Wait-Timeout': 'soon' } })).toBe(400)
    }
    function isWaitTimeout({ name }: { readonly name: string }): boolean {
      return name === 'X-Wait-Timeout'
    }
  })

  test.each(those(({ access }) => access !== 'public'))(
    '$operationId returns 401 for an unknown key',
    async each => {
      expect(await call(each.call, { key: 'nonsense' })).toBe(401)
    },
  )

  test.each(those(({ access, path }) => !isForAnyCaller(access) || path.includes('{env_id}')))(
    '$operationId returns 403 for a key of another scope',
    async ({ call: made, route }) => {
      const isDecision = route.access === 'environment'
      const spoilt = isDecision
        ? { key: ADMIN_KEY }
        : { key: API_KEY, path: filled(route.path, 'default', 'other') }
      expect(await call(made, spoilt)).toBe(403)
    },
  )

  test.each(
    those(({ access, level }) => access === 'any-key' && level !== 'no_access' && level !== 'decide'),
  )('$operationId returns 403 for a key of a lower level', async ({ call: made }) => {
    expect(await call(made, { key: decideKey.secret })).toBe(403)
  })

  test('getRecentFigures returns 403 if metrics require a token', async () => {
    const { address } = await startedService({ metricsToken: 'token-of-the-scraper' })
    expect(await call(example.get('getRecentFigures')!, { address })).toBe(403)
  })

  test.each(those(({ family, paramNames }) => family === 'management' && paramNames.length > 0))(
    '$operationId returns 404 for an entity that does not exist',
    async each => {
      const isInEnvironment = each.route.path.includes('{env_id}')
      const path = filled(each.route.path, ...(isInEnvironment ? ['default', 'other'] : []))
      // Required parameters are validated first.
      const query = each.call.path.split(/(?=\?)/)[1] ?? ''
      expect(await call(each.call, { key: ADMIN_KEY, path: path + query })).toBe(404)
    },
  )

  test('operations of sessions return 403 for a key below the organization, and beginSignIn for a foreign page', async () => {
    expect(await call(example.get('beginSignIn')!, { headers: { origin: 'https://evil.example' } })).toBe(403)
    for (const operation of ['listSessions', 'deleteSession'])
      expect(await call(example.get(operation)!, { key: API_KEY })).toBe(403)
  })

  test('operations that need an issuer return 404 without one', async () => {
    const { address } = await startedService({})
    for (const each of those(needsIssuer))
      expect(await call(each.call, { key: ADMIN_KEY, address }), each.operationId).toBe(404)
    function needsIssuer({ path, operationId }: Route): boolean {
      return /^\/v2\/(sign-in|sessions?|members\/me)\b/.test(path) && operationId !== 'getSignIn'
    }
  })

  test('listApiKeys and createApiKey return 404 for a project that does not exist', async () => {
    expect(await call(example.get('listApiKeys')!, { path: '/v2/api-key?proj_id=nothing' })).toBe(404)
    expect(await call(example.get('createApiKey')!, { text: '{"project_id":"nothing"}' })).toBe(404)
  })

  test('operations of members return 404 for a project that does not exist, and 409 for used names', async () => {
    const permissions = [{ object_type: 'project', project_id: 'nothing', access_level: 'read' }]
    const { memberId } = members
    const listed = example.get('listMembers')!
    expect(await call(listed, { path: '/v2/members?project_id=nothing' })).toBe(404)
    for (const [operation, body] of [
      ['createMember', { subject: 'cid', permissions }],
      ['deleteMemberPermissions', { id: memberId, permissions }],
      ['createMemberGroup', { group: 'others', permissions }],
    ] as const) {
      expect(await call(example.get(operation)!, { text: JSON.stringify(body) }), operation).toBe(404)
    }
    const onProject = { permissions: [{ ...permissions[0], project_id: 'default' }] }
    const taken = { id: memberId, subject: 'another', ...onProject }
    expect(await call(example.get('createMember')!, { text: JSON.stringify(taken) })).toBe(409)
    const made = async (group: string) =>
      (await verdict.admin<{ id: string }>('POST', '/v2/member_groups', { group, ...onProject })).body.id
    const [path] = [await made('first'), await made('second')].map(id => `/v2/member_groups/${id}`)
    const renamed = JSON.stringify({ group: 'second', ...onProject })
    expect(await call(example.get('replaceMemberGroup')!, { path: path!, text: renamed })).toBe(409)
  })

  test.each(those(() => true))(
    '$operationId returns 405 for a method that its path does not support',
    async each => {
      expect(await call({ ...each.call, body: undefined }, { method: 'OPTIONS' })).toBe(405)
    },
  )

  test('every route with a body returns 408 if the body does not arrive', async () => {
    const impatient = await startedService({ receiveMsMax: 100, ...ISSUED })
    await Promise.all(
      those(takesBody).map(async ({ operationId, route, call: { method, key } }) => {
        // Streamed bodies are awaited only if the environment exists.
        const path = filled(route.path, 'default', 'default')
        const connection = await RawConnection.open(impatient.port)
        const headers = [`Authorization: Bearer ${key ?? API_KEY}`, 'Content-Type: application/json']
        await connection.send(requestText(`${method} ${path}`, [...headers, 'Content-Length: 100'], '{'))
        const answer = await connection.answer()
        expect(answer?.status, operationId).toBe(408)
        judge(operationId, answer!)
        await connection.closed
      }),
    )
    function takesBody({ body, bodyInPieces }: Route): boolean {
      return body !== null || bodyInPieces !== null
    }
  })

  test('every route that requires a key or a session returns 429 above the request rate', async () => {
    const limited = await startedService({ requestsPerSecondMax: 1, ...ISSUED })
    for (const each of those(({ access }) => access !== 'public')) {
      const spoilt = async () =>
        isOfSession(each.route.access) ? { headers: headersOf(await signedIn(limited, 'eve')) } : {}
      while ((await call(each.call, { address: limited.address, ...(await spoilt()) })) !== 429);
    }
  })

  test('replaceResource returns 409 for a built-in resource', async () => {
    const made = example.get('replaceResource')!
    expect(await call(made, { path: `${RESOURCES}/__user` })).toBe(409)
  })

  test('deleteConditionSet returns 409 for a set with children', async () => {
    const path = `${SCHEMA}/condition_sets`
    const made = example.get('createConditionSet')!
    for (const body of [
      { key: 'above', name: 'X' },
      { key: 'below', name: 'X', parent_id: 'above' },
    ]) {
      expect(await call(made, { text: JSON.stringify(body) })).toBe(200)
    }
    expect(await call(example.get('deleteConditionSet')!, { path: `${path}/above` })).toBe(409)
  })

  test.each(those(({ body }) => body !== null))(
    '$operationId returns 413 for a body above the limit',
    async each => {
      expect(await call(each.call, { text: '{}'.padEnd(BODY_BYTES_MAX + 1) })).toBe(413)
    },
  )

  test.each(those(() => true))('$operationId returns 431 for a request head above the limit', async each => {
    const { method, path } = each.call
    const connection = await RawConnection.open(verdict.port)
    const answer = await connection.ask(requestText(`${method} ${path}`, [`X-Long: ${'x'.repeat(20_000)}`]))
    connection.destroy()
    expect(answer?.status).toBe(431)
    judge(each.operationId, answer!)
  })

  test.each(
    those(
      ({ family, paramNames, query, body }) =>
        family === 'management' &&
        (paramNames.length > 0 || query !== null || (body !== null && !body.isForm)),
    ),
  )('$operationId returns 422 for an invalid path, query or body', async ({ call: made, route }) => {
    expect(await call(made, { key: ADMIN_KEY, ...illegible(route) })).toBe(422)
  })

  test('planAccess returns 422 for a relation that does not exist', async () => {
    const text = JSON.stringify({
      user: { key: 'alice' },
      action: 'read',
      resource: { type: 'document' },
      columns: { relations: ['nothing'] },
    })
    expect(await call(example.get('planAccess')!, { text })).toBe(422)
  })

  test.each(those(({ readsClaim }) => readsClaim))(
    '$operationId returns 422 for an invalid X-Actor',
    async each => {
      expect(await call(each.call, { headers: { 'X-Actor': 'a,b' } })).toBe(422)
    },
  )

  function illegible({ paramNames, query, path }: Route): Spoilt {
    if (paramNames.length > 0) return { path: filled(path, '%zz') }
    if (query === null) return { text: '{' }
    // The parameters of the issuer are any text.
    return { path: `${path}?${path.endsWith('/callback') ? 'state=%zz' : 'page=0'}` }
  }
})

describe('internal failures', () => {
  function authenticate(authorization: string): Principal | null {
    const organization = { keyId: null, level: 'admin', organizationId: 'o' } as const
    if (bearerToken(authorization) === ADMIN_KEY) return { kind: 'organization', ...organization }
    if (bearerToken(authorization) !== API_KEY) return null
    const names = { projectKey: 'default', environmentKey: 'default' }
    return { kind: 'environment', ...organization, projectId: 'p', environmentId: 'e', ...names }
  }
  const { memberId, sessionId } = eve!
  const known = { caller: { sessionId, memberId, issuer: 'i', subject: 's', name: null }, grants: [] }
  const anySession: SessionSource = {
    places: new OrganizationPlaces({ organizationId: 'o', projects: [], environments: [] }),
    find: () => known,
    byId: () => known,
    noteUse: () => {},
  }
  const faults: unknown[] = []
  const fault = new Error('an internal reason')
  const servers = [fault, new AuthzError('NOT_READY', 'loading')].map(
    lost =>
      new HttpServer({
        routes: routesWithoutService(lost),
        authenticate,
        limits: { bodyBytesMax: BODY_BYTES_MAX },
        sessions: new SessionAccess(anySession, ORIGIN, () => true),
        onFault: error => faults.push(error),
      }),
  )
  const addresses: string[] = []
  beforeAll(async () => {
    for (const server of servers) {
      addresses.push(`http://127.0.0.1:${await server.listen({ host: '127.0.0.1', port: 0 })}`)
    }
  })
  afterAll(async () => {
    for (const server of servers) await server.close()
  })
  /** Routes that fail if one of the internal parts fails. */
  const dependent = those(
    ({ access, operationId }) =>
      (!['public', 'optional-key'].includes(access) && operationId !== 'getApiKeyScope') ||
      ['beginSignIn', 'finishSignIn', 'receiveLogout'].includes(operationId),
  )

  test.each(dependent)('$operationId returns 500 without the internal reason', async each => {
    faults.length = 0
    expect(await call(each.call, { address: addresses[0]! })).toBe(500)
    expect(faults).toEqual([fault])
  })

  test.each(dependent)('$operationId returns 503 while the service is not ready', async each => {
    expect(await call(each.call, { address: addresses[1]! })).toBe(503)
  })

  test('getMetrics returns 401 without the token of metrics, and 500 and 503 for failures', async () => {
    const metrics = example.get('getMetrics')!
    const { address } = await startedService({ metricsToken: 'token-of-the-scraper' })
    expect(await call(metrics, { address })).toBe(401)
    expect(await call(metrics, { address: addresses[0]! })).toBe(500)
    expect(await call(metrics, { address: addresses[1]! })).toBe(503)
  })

  test('ready and fresh return 503 while the service is not ready', async () => {
    for (const state of ['ready', 'fresh'])
      expect(await call(example.get(state)!, { address: addresses[1]! })).toBe(503)
  })
})

test('every described status was returned, except those that a test cannot cause', () => {
  const unseen = operations.flatMap(({ operationId, statuses }) =>
    statuses
      .filter(status => !seen.has(`${operationId} ${status}`))
      .map(status => `${operationId} ${status}`),
  )
  // These routes return 500 only if their code has a defect.
  const independent = [
    'authzenMetadata',
    'getApiKeyScope',
    'getEntrance',
    'getSignIn',
    'healthy',
    'ready',
    'fresh',
  ]
  const reference = ['getDescription', 'getReference', 'getConsole']
  // These routes skip existing entities. Like every POST, they describe 409.
  const skipping = ['addResourceRolePermissions', 'addTenantRolePermissions', 'assignRoles', 'createSetRule']
  expect(unseen.toSorted()).toEqual(
    [
      ...[...independent, ...reference].map(operation => `${operation} 500`),
      'getApiKeyScope 503',
      // Returned only if the console is not built.
      'getConsole 404',
      ...[...skipping, 'createRelationshipTuples', 'createSetRules'].map(operation => `${operation} 409`),
    ].toSorted(),
  )
})
