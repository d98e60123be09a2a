/**
 * Levels of API keys (administration.md section 1).
 */
import { Packr } from 'msgpackr'
import { describe, expect, test } from 'vitest'
import { opaRoutes } from '#http/routes/decisions/opa.ts'
import { ACCESS_LEVELS, type AccessLevel } from '#model/principal.ts'
import type { ApiKey } from '#model/wire/organization/api-key.ts'
import { decodeRecord, encodeRecord } from '#store/keyspace/record-codec.ts'
import { rowKeys } from '#store/keyspace/keyspace.ts'
import { mountedRoutes, routes } from '#testing/requests/routes.ts'
import { LEVELS_OF_OPERATIONS, levelOf } from '../../support/calls/operation-levels.ts'
import { freePort } from '#testing/processes/free-port.ts'
import {
  ADMIN_KEY,
  API_KEY,
  type Envelope,
  FACTS,
  question,
  sharedService,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'

const KEYS = '/v2/api-key'
const [kongPort, opaPort] = [await freePort(), await freePort()]
const kongEnvironment = { project: 'default', environment: 'default' }
const verdict = await sharedService({ hasDebug: true, kongPort, kongEnvironment, opaPort })
await verdict.createDocumentModel()
await verdict.admin('POST', '/v2/projects', { key: 'other', name: 'Other', initial_environments: [] })
await verdict.admin('POST', '/v2/projects/other/envs', { key: 'one', name: 'One' })

type Made = ApiKey & { readonly secret: string }

const PROJECT = { project_id: 'default' }
const ENVIRONMENT = { ...PROJECT, environment_id: 'default' }

async function made(level: string | null, place: object = ENVIRONMENT, client = verdict): Promise<Made> {
  const answer = await client.admin<Made>('POST', KEYS, { ...place, access_level: level })
  expect(answer).toMatchObject({ status: 200, body: { access_level: level ?? 'admin' } })
  return answer.body
}

function setLevel({ id }: ApiKey, level: string, key = ADMIN_KEY) {
  return verdict.send<ApiKey>('PATCH', `${KEYS}/${id}`, { key, body: { access_level: level } })
}

interface Operation {
  readonly operationId: string
  readonly security: readonly object[]
  readonly 'x-access-level'?: AccessLevel
}

/** The described operations that need a key. */
async function describedOperations() {
  type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>
  const { body } = await verdict.get<{ readonly paths: Paths }>('/openapi.json')
  const all = Object.entries(body.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
  )
  const needsKey = ({ security }: Operation) =>
    security.every(way => Object.keys(way).length > 0 && !('session' in way))
  return all.filter(operation => operation.security.length > 0 && needsKey(operation))
}

/** Sends a request without valid content, so that an admitted one changes nothing. */
async function ask(method: string, template: string, place: readonly [string, string], key: string) {
  const named = template.replace('{proj_id}', place[0]).replace('{env_id}', place[1])
  const path = named.replaceAll(/\{\w+\}/g, '00000000-0000-4000-8000-000000000000')
  const answer = await verdict.send(method.toUpperCase(), path, {
    key,
    ...(method !== 'get' && { body: 'x' }),
  })
  const { message = answer.body } = (answer.body ?? {}) as { message?: string }
  return { status: answer.status, message }
}

/** These would remove the place of the other requests. */
const REMOVALS = ['deleteProject', 'deleteEnvironment']
const DONE = /: (2..|400|404|409|412|422)$/

describe('the level of a key', () => {
  test('is that of the table in every route, and in every path of an operation', () => {
    const all = [...routes, ...mountedRoutes, ...opaRoutes({} as Parameters<typeof opaRoutes>[0])]
    const withKey = all.filter(({ access }) => access !== 'public' && access !== 'optional-key')
    const expected = withKey.map(({ operationId, method }) => [operationId, levelOf(operationId, method)])
    expect(withKey.map(({ operationId, level }) => [operationId, level])).toEqual(expected)
    const known = new Set(all.map(({ operationId }) => operationId))
    expect([...LEVELS_OF_OPERATIONS.keys()].filter(name => !known.has(name))).toEqual([])
  })

  const kinds = { environmentKey: ENVIRONMENT, projectKey: PROJECT, organizationKey: { object_type: 'org' } }
  const cases = Object.entries(kinds).flatMap(([kind, place]) =>
    ACCESS_LEVELS.map(held => ({ kind, held, place })),
  )
  test.each(cases.filter(({ kind, held }) => held !== 'decide' || kind === 'environmentKey'))(
    'decides about every operation in its own and in another environment: $kind with $held',
    async ({ kind, held, place: scope }) => {
      const operations = await describedOperations()
      expect(operations.length).toBeGreaterThan(150)
      const { secret } = await made(held, scope)
      for (const { path, method, operationId: name, security, 'x-access-level': shown } of operations) {
        const needed = levelOf(name, method)!
        expect([name, shown]).toEqual([name, needed])
        const isReached = ACCESS_LEVELS.indexOf(held) >= ACCESS_LEVELS.indexOf(needed)
        const isSkipped = isReached && REMOVALS.includes(name)
        const isOrganizations = kind === 'organizationKey'
        const place = isSkipped && isOrganizations ? 'nowhere' : 'other'
        const other = await ask(method, path, [place, 'one'], secret)
        const own = isSkipped ? other : await ask(method, path, ['default', 'default'], secret)
        if (!security.some(way => kind in way)) {
          expect([name, own.status, other.status]).toEqual([name, 403, 403])
          expect(other.message).toMatch(/^this request needs (an|the) API key/)
        } else if (!isReached) {
          const message = `this request needs access_level "${needed}" or above; this key has "${held}"`
          expect([name, own, other]).toEqual([name, ...Array(2).fill({ status: 403, message })])
        } else {
          if (!isSkipped) expect(`${name}: ${own.status}`).toMatch(DONE)
          const isElsewhere = !isOrganizations && path.includes('{proj_id}')
          if (isElsewhere)
            expect([name, other.message]).toEqual([name, expect.stringMatching(/^this key belongs/)])
          else expect(`${name}: ${other.status}`).toMatch(DONE)
        }
      }
    },
  )

  test('is named in the errors of each family, and is checked before the rate', async () => {
    const { secret: key } = await made('no_access')
    const refused = await verdict.send('GET', `${FACTS}/users`, { key })
    const additional_info = { required_access_level: 'read', access_level: 'no_access' }
    expect(refused.body).toMatchObject({ error_code: 'FORBIDDEN_ACCESS', additional_info })
    const message = 'this request needs access_level "decide" or above; this key has "no_access"'
    const native = await verdict.send('POST', '/allowed', { key, body: {} })
    expect(native.body).toEqual({ code: 403, message })
    const authzen = await verdict.send('POST', '/access/v1/evaluation', { key, body: {} })
    expect([authzen.status, authzen.body]).toEqual([403, message])
    const sent = { method: 'POST', headers: { authorization: `Bearer ${key}` }, body: '{}' }
    const opa = await fetch(`http://127.0.0.1:${opaPort}/v1/data/permit/root`, sent)
    expect([opa.status, await opa.json()]).toEqual([403, { code: 'unauthorized', message }])
    const limited = await startedService({ requestsPerSecondMax: 1, apiKeyAccessLevel: 'no_access' })
    const statuses = []
    for (const path of [`${FACTS}/users`, `${KEYS}/scope`, `${FACTS}/users`])
      statuses.push((await limited.get(path)).status)
    expect(statuses).toEqual([403, 200, 403])
  })

  test('hides the reasons of decisions below `read`', async () => {
    const check = question('alice', 'read', 'document:d1')
    const url = { user: { key: 'alice' }, http_method: 'GET', url: 'https://x.test/', tenant: 'default' }
    const bodies = { '/allowed': check, '/allowed/bulk': [check], '/allowed_url': url }
    for (const level of ['decide', 'read']) {
      const { secret: key } = await made(level)
      for (const [path, body] of Object.entries(bodies)) {
        const text = JSON.stringify((await verdict.send('POST', path, { key, body })).body)
        expect([path, level, /debug|query/.test(text)]).toEqual([path, level, level === 'read'])
      }
    }
  })

  test('decides which key of an environment is fetched; KONG_PORT works with every level', async () => {
    const ports = { kongPort: await freePort(), kongEnvironment }
    const client = await startedService({ apiKeyAccessLevel: 'no_access', ...ports })
    const fetched = async () => (await client.admin<ApiKey>('GET', `${KEYS}/default/default`)).body
    expect(await fetched()).toMatchObject({ access_level: 'no_access', secret: API_KEY })
    const input = { request: { http: { method: 'GET', path: '/x' } }, consumer: { username: 'alice' } }
    const sent = { method: 'POST', body: JSON.stringify({ input }) }
    const decided = await fetch(`http://127.0.0.1:${ports.kongPort}/kong`, sent)
    expect(await decided.json()).toEqual({ result: false })
    const first = await made('write', ENVIRONMENT, client)
    for (const level of ['write', 'read']) await made(level, ENVIRONMENT, client)
    expect(await fetched()).toMatchObject({ id: first.id, secret: first.secret })
  })

  test('is that of the setting for API_KEY, at each start', async () => {
    const storeUrl = `lmdb:${storeDirectory()}`
    for (const apiKeyAccessLevel of ['read', 'admin', 'write_facts'] as const) {
      const client = await startedService({ storeUrl, apiKeyAccessLevel })
      expect((await client.get(`${KEYS}/scope`)).body).toMatchObject({ access_level: apiKeyAccessLevel })
      await client.close()
    }
  })
})

describe('a change of the level', () => {
  test('is in effect in both directions, is audited, and is kept by a rotation', async () => {
    const key = await made(null)
    const secrets = [key.secret]
    const statuses = () =>
      Promise.all(
        secrets.map(async secret => (await verdict.send('GET', `${FACTS}/users`, { key: secret })).status),
      )
    expect(await statuses()).toEqual([200])
    const lowered = await setLevel(key, 'decide')
    expect(lowered.body).toMatchObject({ access_level: 'decide', secret: null, name: null })
    expect(await statuses()).toEqual([403])
    const rotated = await verdict.admin<Made>('POST', `${KEYS}/${key.id}/rotate-secret`)
    secrets.push(rotated.body.secret)
    expect([rotated.body.access_level, await statuses()]).toEqual(['decide', [403, 403]])
    expect((await setLevel(key, 'read')).status).toBe(200)
    expect(await statuses()).toEqual([200, 200])
    const renamed = await verdict.admin<ApiKey>('PATCH', `${KEYS}/${key.id}`, { name: 'Ours' })
    expect(renamed.body).toMatchObject({ name: 'Ours', access_level: 'read' })
    const log = await verdict.admin<Envelope<object>>(
      'GET',
      '/v2/audit-log?operation=updateApiKey&per_page=3',
    )
    const bodies = [{ name: 'Ours' }, { access_level: 'read' }, { access_level: 'decide' }]
    expect(log.body.data).toMatchObject(bodies.map(body => ({ input: { body } })))
  })

  test('is rejected for the key in use, API_KEY, other spellings, and by keys without permission', async () => {
    const own = await made('admin', { object_type: 'org' })
    const configured = (await verdict.admin<ApiKey>('GET', `${KEYS}/default/default`)).body
    const lesser = await made('write', { object_type: 'org' })
    const inProject = await made('admin', PROJECT)
    const ofOther = await made('read', { project_id: 'other', environment_id: 'one' })
    for (const [key, level, by, status] of [
      [own, 'read', own.secret, 400],
      [configured, 'read', ADMIN_KEY, 400],
      [own, 'decide', ADMIN_KEY, 422],
      [own, 'ADMIN', ADMIN_KEY, 422],
      [lesser, 'admin', lesser.secret, 403],
      [own, 'read', inProject.secret, 404],
      [ofOther, 'admin', inProject.secret, 404],
    ] as const)
      expect([level, (await setLevel(key, level, by)).status]).toEqual([level, status])
  })

  test('ends a change stream and a request that waits for a revision', async () => {
    const key = await made('read')
    const headers = { authorization: `Bearer ${key.secret}` }
    const stream = await fetch(`${verdict.address}${FACTS}/changes`, { headers })
    const ended = stream.text()
    const [history, sequence] = (await verdict.revision()).split('.')
    const later = { 'x-min-revision': `${history}.${Number(sequence) + 1}` }
    const body = question('alice', 'read', 'document:d1')
    const waiting = verdict.send('POST', '/allowed', { key: key.secret, body, headers: later })
    expect((await setLevel(key, 'no_access')).status).toBe(200)
    await verdict.user('somebody')
    expect((await waiting).status).toBe(403)
    expect(await ended).toContain('event: closing')
  })
})

test('older releases read the row of a lesser key as a key of a missing environment', () => {
  const [id, environmentId, projectId] = [1, 2, 3].map(n => `0000000${n}-0000-4000-8000-000000000000`)
  const fields = { kind: 'api-key', id: id!, secretHash: 'ab', sealedSecret: null, former: null } as const
  const rest = {
    source: 'created',
    name: null,
    ownerType: null,
    createdAt: 1,
    createdBy: null,
    lastUsedAt: null,
    delegation: null,
  } as const
  for (const place of [
    [environmentId!, null],
    [null, projectId!],
    [null, null],
  ] as const)
    for (const accessLevel of ACCESS_LEVELS) {
      const scope = { environmentId: place[0], projectId: place[1] }
      const record = { ...fields, ...rest, ...scope, accessLevel }
      const value = encodeRecord(record)
      expect(decodeRecord({ key: rowKeys.apiKey(id!), value })).toEqual(record)
      const values = new Packr({ useRecords: false }).unpack(value) as unknown[]
      // Older releases write and read twelve fields. The third is the environment.
      if (accessLevel === 'admin') expect(values).toHaveLength(12)
      else expect(values[2]).toEqual(Buffer.alloc(16))
    }
})
