/**
 * Every route is called and every answer held against the description that the service itself serves: the successes,
 * and every way to be refused that can be brought about. An answer with anything undescribed in it is a failure, and so
 * is a route without an example call.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bearerToken } from '#model/bearer-token.ts'
import type { Route } from '#http/routing/route.ts'
import type { Principal } from '#model/principal.ts'
import { AuthzError } from '#model/errors.ts'
import { HttpServer } from '#http/edge/server.ts'
import { Description, type JudgedAnswer } from '../../../support/description.ts'
import { exampleCalls } from '../../../support/example-calls.ts'
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
import type { Call } from '../../../support/schema-calls.ts'
import { RawConnection, requestText } from '#testing/requests/raw-connection.ts'

const BODY_BYTES_MAX = 16_384
const routes = table.filter(({ isDescribed }) => isDescribed)
/** On a disk, since a store in memory has no backup. */
const directory = mkdtempSync(join(tmpdir(), 'verdict-answers-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))
const verdict = await sharedService({ bodyBytesMax: BODY_BYTES_MAX, storeUrl: `lmdb:${directory}` })
await verdict.user('alice')
// What an example asks in headers is allowed: a deny has another status.
await verdict.resource({ key: 'gate', actions: { pass: {} } })
await verdict.tenantRole('guest', ['gate:pass'])
await verdict.assign('alice', 'guest', 'default')
const description = new Description(
  (await verdict.send<Record<string, unknown>>('GET', '/openapi.json', { key: null })).body,
)

const spareKey = await verdict.admin<{ id: string }>('POST', '/v2/api-key', {
  project_id: 'default',
  environment_id: 'default',
})
const EXAMPLE_CALLS = exampleCalls(spareKey.body.id)

/** What was answered to what: `isAllowed 200`. */
const seen = new Set<string>()
/** The first example of each operation, to be spoilt. */
const example = new Map(EXAMPLE_CALLS.toReversed().map(each => [each.operation, each]))

interface Spoilt {
  readonly key?: string | null
  readonly headers?: Readonly<Record<string, string>>
  readonly method?: string
  readonly path?: string
  readonly text?: string
  readonly address?: string
}

/** Makes a call and holds its answer against the description. */
async function call(made: Call, spoilt: Spoilt = {}): Promise<number> {
  const { operation, method, path, body, headers } = made
  const { key = made.key ?? API_KEY, address = verdict.address } = spoilt
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
  judge(operation, {
    status: response.status,
    headers: new Map(response.headers),
    body: await textOf(response),
  })
  return response.status
}

function judge(operation: string, answer: JudgedAnswer): void {
  expect(description.findings(operation, answer), `${operation} ${answer.status}: ${answer.body}`).toEqual([])
  seen.add(`${operation} ${answer.status}`)
}

/** The routes this can happen to, whatever the description says of them, with their examples. */
function those(canBe: (route: Route) => boolean) {
  return routes.filter(canBe).map(route => {
    const { operationId } = route
    return { operationId, route, call: example.get(operationId)! }
  })
}

/** Whether the kind of key makes no difference to who may call a route. */
function isForAnyCaller(access: Route['access']): boolean {
  return ['public', 'optional-key', 'any-key'].includes(access)
}

/** The template with its first parameters as given and the others naming nothing. */
function filled(template: string, ...values: readonly string[]): string {
  let index = 0
  return template.replaceAll(/\{\w+\}/g, () => values[index++] ?? 'nothing')
}

describe('successes', () => {
  test('no route is without an example call', () => {
    const called = new Set(EXAMPLE_CALLS.map(({ operation }) => operation))
    const described = description.operations.map(({ operationId }) => operationId)
    expect(described.filter(operation => !called.has(operation))).toEqual([])
    expect([...called].filter(operation => !described.includes(operation))).toEqual([])
  })

  test('every example succeeds as described, and so does, or is 409, its second try; none does that expects something else', async () => {
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

  test('every success that is described was seen', () => {
    const described = description.operations.flatMap(({ operationId, statuses }) =>
      statuses.filter(status => status < 400).map(status => `${operationId} ${status}`),
    )
    expect(described.filter(answer => !seen.has(answer))).toEqual([])
  })

  test('an explained decision is as described, too', async () => {
    const open = await sharedDebug
    for (const body of [question('alice'), question('nobody'), question('bob')]) {
      expect(await call({ operation: 'isAllowed', method: 'POST', path: '/allowed', body }, open)).toBe(200)
    }
    function question(user: string) {
      return { user: { key: user }, action: 'read', resource: { type: 'document', key: 'd1' } }
    }
  })
})

/** A service whose decisions explain themselves, where alice may by an instance role and bob by a tenant role. */
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

describe('refusals', () => {
  test.each(those(() => true))('400: $operationId, when the length of its body is said twice', async each => {
    const { method, path } = each.call
    const connection = await RawConnection.open(verdict.port)
    const lengths = ['Content-Length: 2', 'Content-Length: 2']
    const sent = [`Authorization: Bearer ${each.call.key ?? API_KEY}`, ...lengths]
    await connection.send(requestText(`${method} ${path}`, sent, '{}'))
    const answer = await connection.answer()
    connection.destroy()
    expect(answer?.status).toBe(400)
    judge(each.operationId, answer!)
  })

  test('400: what breaks a rule, with the codes of management and the texts of decisions', async () => {
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
    '401: $operationId, with a key that is none',
    async each => {
      expect(await call(each.call, { key: 'nonsense' })).toBe(401)
    },
  )

  test.each(those(({ access, path }) => !isForAnyCaller(access) || path.includes('{env_id}')))(
    '403: $operationId, with a key for something else',
    async ({ call: made, route }) => {
      const isDecision = route.access === 'environment'
      const spoilt = isDecision
        ? { key: ADMIN_KEY }
        : { key: API_KEY, path: filled(route.path, 'default', 'other') }
      expect(await call(made, spoilt)).toBe(403)
    },
  )

  test('403: figures of the node, where metrics are not for everybody', async () => {
    const { address } = await startedService({ metricsToken: 'token-of-the-scraper' })
    expect(await call(example.get('getRecentFigures')!, { address })).toBe(403)
  })

  test.each(those(({ family, paramNames }) => family === 'management' && paramNames.length > 0))(
    '404: $operationId, of something that is not there',
    async each => {
      const isInEnvironment = each.route.path.includes('{env_id}')
      const path = filled(each.route.path, ...(isInEnvironment ? ['default', 'other'] : []))
      // Parameters that it cannot do without are looked at first.
      const query = each.call.path.split(/(?=\?)/)[1] ?? ''
      expect(await call(each.call, { key: ADMIN_KEY, path: path + query })).toBe(404)
    },
  )

  test('404: keys of a project that is not there', async () => {
    expect(await call(example.get('listApiKeys')!, { path: '/v2/api-key?proj_id=nothing' })).toBe(404)
    expect(await call(example.get('createApiKey')!, { text: '{"project_id":"nothing"}' })).toBe(404)
  })

  test.each(those(() => true))('405: $operationId, by a method its path does not have', async each => {
    expect(await call({ ...each.call, body: undefined }, { method: 'OPTIONS' })).toBe(405)
  })

  test('408: what has a body, when it does not arrive', async () => {
    const impatient = await startedService({ receiveMsMax: 100 })
    await Promise.all(
      those(takesBody).map(async ({ operationId, route, call: { method, key } }) => {
        // What comes in pieces is awaited where it is to go.
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

  test('429: what needs a key, when the key has been used too often', async () => {
    const { address } = await startedService({ requestsPerSecondMax: 1 })
    for (const each of those(({ access }) => access !== 'public')) {
      while ((await call(each.call, { address })) !== 429);
    }
  })

  test('409: replacing a resource that is built in', async () => {
    const made = example.get('replaceResource')!
    expect(await call(made, { path: `${RESOURCES}/__user` })).toBe(409)
  })

  test('409: deleting a condition set that is above another', async () => {
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

  test.each(those(({ body }) => body !== null))('413: $operationId, with too large a body', async each => {
    expect(await call(each.call, { text: '{}'.padEnd(BODY_BYTES_MAX + 1) })).toBe(413)
  })

  test.each(those(() => true))('431: $operationId, with a head without end', async each => {
    const { method, path } = each.call
    const connection = await RawConnection.open(verdict.port)
    await connection.send(requestText(`${method} ${path}`, [`X-Long: ${'x'.repeat(20_000)}`]))
    const answer = await connection.answer()
    connection.destroy()
    expect(answer?.status).toBe(431)
    judge(each.operationId, answer!)
  })

  test.each(
    those(
      ({ family, paramNames, query, body }) =>
        family === 'management' && (paramNames.length > 0 || query !== null || body !== null),
    ),
  )('422: $operationId, with what cannot be read', async ({ call: made, route }) => {
    expect(await call(made, { key: ADMIN_KEY, ...illegible(route) })).toBe(422)
  })

  function illegible({ paramNames, query, path }: Route): Spoilt {
    if (paramNames.length > 0) return { path: filled(path, '%zz') }
    return query === null ? { text: '{' } : { path: `${path}?page=0` }
  }
})

describe('trouble of ours', () => {
  /** Nothing stands behind these servers but trouble. */
  function authenticate(authorization: string): Principal | null {
    const organization = { keyId: null, organizationId: 'o' }
    if (bearerToken(authorization) === ADMIN_KEY) return { kind: 'organization', ...organization }
    if (bearerToken(authorization) !== API_KEY) return null
    const names = { projectKey: 'default', environmentKey: 'default' }
    return { kind: 'environment', ...organization, projectId: 'p', environmentId: 'e', ...names }
  }
  const faults: unknown[] = []
  const fault = new Error('something that should not be told')
  const servers = [fault, new AuthzError('NOT_READY', 'loading')].map(
    lost =>
      new HttpServer({
        routes: routesWithoutService(lost),
        authenticate,
        limits: { bodyBytesMax: BODY_BYTES_MAX },
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
  /** Those that need something behind the route table. */
  const dependent = those(
    ({ access, operationId }) =>
      !['public', 'optional-key'].includes(access) && operationId !== 'getApiKeyScope',
  )

  test.each(dependent)('500: $operationId, without the reason', async each => {
    faults.length = 0
    expect(await call(each.call, { address: addresses[0]! })).toBe(500)
    expect(faults).toEqual([fault])
  })

  test.each(dependent)('503: $operationId, with the time of another try', async each => {
    expect(await call(each.call, { address: addresses[1]! })).toBe(503)
  })

  test('401, 500 and 503: metrics, for others than their scraper, and when there are none', async () => {
    const metrics = example.get('getMetrics')!
    const { address } = await startedService({ metricsToken: 'token-of-the-scraper' })
    expect(await call(metrics, { address })).toBe(401)
    expect(await call(metrics, { address: addresses[0]! })).toBe(500)
    expect(await call(metrics, { address: addresses[1]! })).toBe(503)
  })

  test('503: readiness and freshness, while there is none', async () => {
    for (const state of ['ready', 'fresh'])
      expect(await call(example.get(state)!, { address: addresses[1]! })).toBe(503)
  })
})

test('every described answer was seen, but for those nobody can bring about', () => {
  const unseen = description.operations.flatMap(({ operationId, statuses }) =>
    statuses
      .filter(status => !seen.has(`${operationId} ${status}`))
      .map(status => `${operationId} ${status}`),
  )
  // They need nothing that could fail, short of a defect.
  const independent = ['authzenMetadata', 'getApiKeyScope', 'getEntrance', 'healthy', 'ready', 'fresh']
  const reference = ['getDescription', 'getReference', 'getConsole']
  // They skip what is there already. Like every POST they may still meet it.
  const skipping = ['addResourceRolePermissions', 'addTenantRolePermissions', 'assignRoles', 'createSetRule']
  expect(unseen.toSorted()).toEqual(
    [
      ...[...independent, ...reference].map(operation => `${operation} 500`),
      'getApiKeyScope 503',
      // Where it is not built.
      'getConsole 404',
      ...[...skipping, 'createRelationshipTuples', 'createSetRules'].map(operation => `${operation} 409`),
    ].toSorted(),
  )
})
