/** API keys: scopes, creation, lists, rotation and revocation (native.md B.13, D-35, D-44). */
import { describe, expect, test } from 'vitest'
import type { ApiKey } from '#model/wire/organization/api-key.ts'
import type { Environment } from '#model/wire/organization/environment.ts'
import type { Project } from '#model/wire/organization/project.ts'
import { KEY_USE_GRAIN_MS } from '#model/limits.ts'
import { ApiKeyAuthentication } from '#threads/channel/api-key-authentication.ts'
import { RawConnection } from '#testing/requests/raw-connection.ts'
import { answerFindings } from '#testing/requests/routes.ts'
import {
  ADMIN_KEY,
  type Answer,
  API_KEY,
  type Client,
  type Envelope,
  FACTS,
  fresh,
  neighbourOf,
  question,
  sharedService,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'
import { FORBIDDEN, IMPOSSIBLE, NOT_FOUND, refusal } from '../../support/calls/refusals.ts'

const KEYS = '/v2/api-key'
const verdict = await sharedService({ httpThreads: 2 })

function admin<Body = unknown>(method: string, path: string, body?: unknown, client = verdict) {
  return client.admin<Body>(method, path, body)
}

async function created(body: unknown, client: Client = verdict): Promise<ApiKey & { secret: string }> {
  const answer = await admin<ApiKey & { secret: string }>('POST', KEYS, body, client)
  expect([answer.status, answerFindings('createApiKey', 200, answer.body)]).toEqual([200, []])
  expect(answer.body.secret).toMatch(/^verdict_[\w-]{32}$/)
  return answer.body
}

const OF_DEFAULT = { project_id: 'default', environment_id: 'default' }

function rotate({ id }: ApiKey, body?: unknown, client = verdict): Promise<Answer<ApiKey>> {
  return client.admin('POST', `${KEYS}/${id}/rotate-secret`, body)
}

function remove({ id }: ApiKey, client = verdict): Promise<Answer> {
  return client.admin('DELETE', `${KEYS}/${id}`)
}

/** Creates a project with the environment `one`. */
async function newProject(name: string): Promise<string> {
  const [project] = fresh(name)
  await admin('POST', '/v2/projects', { key: project, name: 'P', initial_environments: [] })
  await admin('POST', `/v2/projects/${project}/envs`, { key: 'one', name: 'One' })
  return project
}

/** Response statuses for a key on all threads. Each connection can be accepted by another thread. */
async function statuses(key: string, client: Client = verdict, path = `${KEYS}/scope`): Promise<Set<number>> {
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => client.send('GET', path, { key, headers: { connection: 'close' } })),
  )
  return new Set(answers.map(({ status }) => status))
}

async function decides(key: string, client: Client = verdict): Promise<number> {
  const body = question('nobody', 'read', 'document')
  return (await client.send('POST', '/allowed', { key, body })).status
}

describe('a new API key', () => {
  test('for an environment is scoped to it, and valid on every thread after the response', async () => {
    const key = await created({ ...OF_DEFAULT, name: 'Ours', owner_type: 'elements' })
    expect(await statuses(key.secret)).toEqual(new Set([200]))
    const scope = await verdict.send<object>('GET', `${KEYS}/scope`, { key: key.secret })
    expect(scope.body).toEqual((await verdict.get(`${KEYS}/scope`)).body)
    const kind = { object_type: 'env', access_level: 'admin' }
    expect(key).toMatchObject({ ...kind, owner_type: 'elements', name: 'Ours' })
    expect(await decides(key.secret)).toBe(200)
    expect((await verdict.send('GET', `${FACTS}/users`, { key: key.secret })).status).toBe(200)
    expect((await verdict.send('GET', '/v2/projects', { key: key.secret })).status).toBe(403)
  })

  test('for a project can manage the project, its environments and their keys, but not check access', async () => {
    const project = await newProject('project')
    const { secret, ...key } = await created({ project_id: project })
    expect(key).toMatchObject({ object_type: 'project', environment_id: null })
    const as = (method: string, path: string, body?: unknown) =>
      verdict.send(method, path, { key: secret, body })
    expect((await as('GET', `${KEYS}/scope`)).body).toEqual({
      organization_id: key.organization_id,
      project_id: key.project_id,
      environment_id: null,
      access_level: 'admin',
    })
    expect(await decides(secret)).toBe(403)
    expect((await as('GET', `/v2/facts/${project}/one/tenants`)).status).toBe(200)
    expect((await as('GET', `/v2/facts/${project}/two/tenants`)).status).toBe(404)
    expect((await as('PATCH', `/v2/projects/${project}`, { name: 'Mine' })).status).toBe(200)
    expect((await as('POST', `/v2/projects/${project}/envs`, { key: 'two', name: 'Two' })).status).toBe(200)
    expect((await as('GET', '/v1/tenants')).body).toHaveLength(2)
    const listed = (await as('GET', '/v2/projects')) as Answer<Project[]>
    expect(listed.body.map(each => each.key)).toEqual([project])
    // It can create keys of its environments, but not keys of the project or the organization.
    const env = (await as('POST', KEYS, { project_id: project, environment_id: 'two' })) as Answer<ApiKey>
    expect(env.status).toBe(200)
    const keys = (await as('GET', `${KEYS}?per_page=100`)) as Answer<Envelope<ApiKey>>
    expect(keys.body.data.map(each => each.object_type)).toEqual(['env', 'env', 'env'])
    expect(refusal(await as('POST', KEYS, { project_id: project }))).toEqual(FORBIDDEN)
    expect(refusal(await as('POST', KEYS, {}))).toEqual(FORBIDDEN)
    expect(refusal(await as('POST', KEYS, OF_DEFAULT))).toEqual(NOT_FOUND)
    expect(refusal(await as('DELETE', `${KEYS}/${key.id}`))).toEqual(NOT_FOUND)
    expect(refusal(await as('GET', `${KEYS}/${project}/two`))).toEqual(FORBIDDEN)
    for (const [method, path] of [
      ['GET', '/v2/projects/default'],
      ['GET', FACTS + '/users'],
      ['POST', '/v2/projects'],
    ] as const) {
      expect([path, (await as(method, path)).status]).toEqual([path, 403])
    }
    expect((await as('DELETE', `/v2/projects/${project}/envs/one`)).status).toBe(204)
    expect((await as('DELETE', `/v2/projects/${project}`)).status).toBe(204)
    expect(await statuses(secret)).toEqual(new Set([401]))
  })

  test('for a project finds its project by id even if another project has that id as its key', async () => {
    const [key] = fresh('project')
    const { body: own } = await admin<Project>('POST', '/v2/projects', { key, name: 'Own' })
    const { secret } = await created({ project_id: key })
    await admin('POST', '/v2/projects', { key: own.id, name: 'Looks like it' })
    const found = await verdict.send<Project>('GET', `/v2/projects/${own.id}`, { key: secret })
    expect([found.status, found.body.name]).toEqual([200, 'Own'])
    // With a key of the organization, the path names the project whose key is this text.
    expect((await admin<Project>('GET', `/v2/projects/${own.id}`)).body.name).toBe('Looks like it')
  })

  test('for the organization has the permissions of ADMIN_API_KEY', async () => {
    const { secret } = await created({ object_type: 'org' })
    expect((await verdict.send('GET', '/v2/projects', { key: secret })).status).toBe(200)
    expect((await verdict.send('GET', `${FACTS}/users`, { key: secret })).status).toBe(200)
    expect(await decides(secret)).toBe(403)
  })

  test.each([
    [{ object_type: 'env', project_id: 'default' }, 400],
    [{ object_type: 'env', environment_id: 'default' }, 400],
    [{ object_type: 'project' }, 400],
    [{ object_type: 'org', project_id: 'default' }, 400],
    [{ object_type: 'project', ...OF_DEFAULT }, 400],
    [{ environment_id: 'default' }, 400],
    [{ project_id: 'nothing' }, 404],
    [{ project_id: 'default', environment_id: 'nothing' }, 404],
    [{ ...OF_DEFAULT, organization_id: '00000000-0000-4000-8000-000000000000' }, 404],
    [{ ...OF_DEFAULT, object_type: 'user' }, 422],
    [{ ...OF_DEFAULT, access_level: 'Read' }, 422],
    [{ project_id: 'default', access_level: 'decide' }, 422],
    [{ ...OF_DEFAULT, name: 7 }, 422],
  ])('is not created from %j, but rejected with %i', async (body, status) => {
    const before = await admin<Envelope<ApiKey>>('GET', KEYS)
    expect(refusal(await admin('POST', KEYS, body))[0]).toBe(status)
    expect((await admin<Envelope<ApiKey>>('GET', KEYS)).body.total_count).toBe(before.body.total_count)
  })
})

describe('API keys', () => {
  test('are listed in pages, filtered by kind and project, without secrets', async () => {
    const project = await newProject('listed')
    await created({ project_id: project })
    const list = async (query: string) => {
      const answer = await admin<Envelope<ApiKey>>('GET', `${KEYS}?${query}`)
      expect(answerFindings('listApiKeys', answer.status, answer.body)).toEqual([])
      return answer.body
    }
    const both = await list(`proj_id=${project}`)
    expect(both.data.map(each => each.object_type)).toEqual(['env', 'project'])
    expect(both.data.map(each => each.secret)).toEqual([null, null])
    expect(await list(`proj_id=${project}&object_type=env`)).toMatchObject({ total_count: 1, page_count: 1 })
    const second = await list(`proj_id=${project}&per_page=1&page=2`)
    expect(second).toMatchObject({ data: [{ id: both.data[1]!.id }], total_count: 2, page_count: 2 })
    expect(refusal(await admin('GET', `${KEYS}?proj_id=nothing`))).toEqual(NOT_FOUND)
    const one = await admin<ApiKey>('GET', `${KEYS}/${both.data[0]!.id.toUpperCase()}`)
    expect([one.status, one.body]).toEqual([200, both.data[0]])
    expect(refusal(await admin('GET', `${KEYS}/nothing`))).toEqual(NOT_FOUND)
  })

  test('are not in the responses of lists and reads', async () => {
    const { secret, id } = await created(OF_DEFAULT)
    for (const path of [KEYS, `${KEYS}/${id}`, '/v2/projects', '/v2/projects/default/envs']) {
      expect(JSON.stringify((await admin('GET', path)).body)).not.toContain(secret)
    }
  })
})

describe('the API key of an environment', () => {
  test('is created together with the environment, and only a key of the organization can read it', async () => {
    const [key] = fresh('fetched')
    const { body } = await admin<Environment>('POST', '/v2/projects/default/envs', { key, name: key })
    const fetched = await admin<ApiKey>('GET', `${KEYS}/default/${key}`)
    expect(answerFindings('getEnvironmentApiKey', fetched.status, fetched.body)).toEqual([])
    expect(fetched.body).toMatchObject({
      organization_id: body.organization_id,
      project_id: body.project_id,
      environment_id: body.id,
      object_type: 'env',
      access_level: 'admin',
    })
    expect(await decides(fetched.body.secret!)).toBe(200)
    const byId = await admin<ApiKey>('GET', `${KEYS}/${body.project_id}/${body.id}`)
    // The test used the key between the two requests.
    expect(byId.body).toEqual({ ...fetched.body, last_used_at: byId.body.last_used_at })
    const own = await verdict.send('GET', `${KEYS}/default/${key}`, { key: fetched.body.secret })
    expect(refusal(own)).toEqual(FORBIDDEN)
    expect(refusal(await admin('GET', `${KEYS}/default/nothing`))).toEqual(NOT_FOUND)
  })

  test('is returned as configured if API_KEY sets it', async () => {
    expect((await admin<ApiKey>('GET', `${KEYS}/default/default`)).body.secret).toBe(API_KEY)
  })

  test('has no readable secret after ADMIN_API_KEY changed, until it is rotated, but remains valid', async () => {
    const storeUrl = `lmdb:${storeDirectory()}`
    const first = await startedService({ storeUrl })
    const secret = await neighbourOf(first, 'other')
    await first.close()
    const adminApiKey = 'another-organization-key'
    const second = await startedService({ storeUrl, adminApiKey })
    const read = (key = adminApiKey, env = 'other') =>
      second.send<ApiKey>('GET', `${KEYS}/default/${env}`, { key })
    expect((await read(ADMIN_KEY)).status).toBe(401)
    const { status, body } = await read()
    expect([status, body.secret]).toEqual([200, null])
    expect(await decides(secret, second)).toBe(200)
    // The service reads the secrets of its settings again at each start.
    expect((await read(undefined, 'default')).body.secret).toBe(API_KEY)
    const path = `${KEYS}/${body.id}/rotate-secret`
    const rotated = await second.send<ApiKey>('POST', path, { key: adminApiKey })
    expect((await read()).body.secret).toBe(rotated.body.secret)
  })
})

describe('the rotation of an API key', () => {
  test('returns a new secret, and the former secret stays valid for the requested time', async () => {
    // On a slow machine, a short overlap can end before the first request. Then the test doubles it.
    for (let seconds = 1; !(await wasValidFor(seconds)); seconds *= 2);
  })

  /** Whether a request with the former secret succeeded before the overlap ended. */
  async function wasValidFor(overlap_seconds: number): Promise<boolean> {
    const key = await created(OF_DEFAULT)
    const startedAt = Date.now()
    const rotated = await rotate(key, { overlap_seconds })
    expect(answerFindings('rotateApiKey', rotated.status, rotated.body)).toEqual([])
    expect(rotated.body).toMatchObject({ id: key.id, environment_id: key.environment_id })
    expect(rotated.body.secret).not.toBe(key.secret)
    expect(await statuses(rotated.body.secret!)).toEqual(new Set([200]))
    const endsAt = Date.parse(rotated.body.former_secret_valid_until!)
    expect(endsAt - startedAt).toBeGreaterThanOrEqual(overlap_seconds * 1_000)
    let lastValidAt = 0
    for (;;) {
      const askedAt = Date.now()
      if ((await verdict.send('GET', `${KEYS}/scope`, { key: key.secret })).status === 401) break
      lastValidAt = askedAt
    }
    // Clocks have a resolution of one millisecond.
    expect(lastValidAt).toBeLessThanOrEqual(endsAt)
    expect(Date.now()).toBeGreaterThanOrEqual(endsAt)
    expect(await statuses(key.secret)).toEqual(new Set([401]))
    expect(await statuses(rotated.body.secret!)).toEqual(new Set([200]))
    const read = await admin<ApiKey>('GET', `${KEYS}/${key.id}`)
    expect(read.body.former_secret_valid_until).toBe(undefined)
    return lastValidAt > 0
  }

  test('without an overlap invalidates the former secret on every thread before its response', async () => {
    const key = await created(OF_DEFAULT)
    const rotated = await rotate(key, { overlap_seconds: 0 })
    expect(rotated.body.former_secret_valid_until).toBe(undefined)
    expect(await statuses(key.secret)).toEqual(new Set([401]))
    expect(await statuses(rotated.body.secret!)).toEqual(new Set([200]))
  })

  test('uses the overlap of the settings by default, and the next rotation ends the overlap', async () => {
    const client = await startedService({ keyOverlapSeconds: 7_200 })
    const key = await created(OF_DEFAULT, client)
    const before = Date.now()
    const first = await rotate(key, undefined, client)
    const endsAt = Date.parse(first.body.former_secret_valid_until!)
    expect(endsAt - 7_200_000).toBeGreaterThanOrEqual(before)
    expect(endsAt - 7_200_000).toBeLessThanOrEqual(Date.now())
    expect(await statuses(key.secret, client)).toEqual(new Set([200]))
    const second = await rotate(key, undefined, client)
    expect(await statuses(key.secret, client)).toEqual(new Set([401]))
    expect(await statuses(first.body.secret!, client)).toEqual(new Set([200]))
    expect(await statuses(second.body.secret!, client)).toEqual(new Set([200]))
    expect((await remove(key, client)).status).toBe(204)
    for (const { body } of [first, second])
      expect(await statuses(body.secret!, client)).toEqual(new Set([401]))
  })

  test('survives a restart with the expiration time of the former secret; revoked keys stay revoked', async () => {
    const client = await startedService({ storeUrl: `lmdb:${storeDirectory()}` })
    const [key, revoked] = [await created(OF_DEFAULT, client), await created(OF_DEFAULT, client)]
    await remove(revoked, client)
    const { body } = await rotate(key, undefined, client)
    const next = await client.restart()
    expect(await statuses(key.secret, next)).toEqual(new Set([200]))
    expect(await decides(revoked.secret, next)).toBe(401)
    const read = await admin<ApiKey>('GET', `${KEYS}/${key.id}`, undefined, next)
    expect(read.body.former_secret_valid_until).toBe(body.former_secret_valid_until)
  })

  test('ends its overlap at the exact millisecond, even if the system clock is changed', () => {
    let [now, elapsed] = [500_000, 0]
    const check = new ApiKeyAuthentication({ now: () => now, elapsedMs: () => elapsed })
    const principal = { kind: 'organization', keyId: null, level: 'admin', organizationId: 'o' } as const
    // SHA-256 of "secret".
    const secretHash = '2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b'
    const credentials = [{ secretHash, principal, slot: 0, validUntil: 501_000 }]
    check.replaceAll(credentials)
    elapsed = 999
    for (const set of [0, 1_000_000, 500_000]) {
      now = set
      expect(check.authenticate('Bearer secret')).toBe(principal)
      // A change of other keys does not restart the overlap.
      check.replaceAll(credentials)
    }
    elapsed = 1_000
    for (const set of [0, 1_000_000, 501_000]) {
      now = set
      check.replaceAll(credentials)
      expect(check.authenticate('Bearer secret')).toBe(null)
    }
  })

  test.each([{ overlap_seconds: -1 }, { overlap_seconds: 2_592_001 }, { overlap_seconds: 1.5 }, []])(
    'with %j is a 422 and rotates nothing',
    async body => {
      const key = await created(OF_DEFAULT)
      expect(refusal(await rotate(key, body))[0]).toBe(422)
      expect(await statuses(key.secret)).toEqual(new Set([200]))
    },
  )

  test('among concurrent rotations returns a unique secret; only the last two secrets are valid', async () => {
    const key = await created(OF_DEFAULT)
    const rotations = await Promise.all(Array.from({ length: 8 }, () => rotate(key)))
    expect(rotations.map(({ status }) => status)).toEqual(Array(8).fill(200))
    const secrets = new Set(rotations.map(({ body }) => body.secret!))
    expect(secrets.size).toBe(8)
    const valid = await Promise.all([...secrets].map(async secret => (await statuses(secret)).has(200)))
    expect(valid.filter(Boolean)).toHaveLength(2)
  })
})

test('a revoked key is rejected on every thread as soon as the revocation returns', async () => {
  const key = await created(OF_DEFAULT)
  expect(await statuses(key.secret)).toEqual(new Set([200]))
  expect((await remove(key)).status).toBe(204)
  expect(await statuses(key.secret)).toEqual(new Set([401]))
  expect(refusal(await admin('GET', `${KEYS}/${key.id}`))).toEqual(NOT_FOUND)
  expect(refusal(await remove(key))).toEqual(NOT_FOUND)
  expect(refusal(await rotate(key))).toEqual(NOT_FOUND)
})

test('a request whose body follows the head as a whole is rejected if its key was revoked in between', async () => {
  const key = await created(OF_DEFAULT)
  const connection = await RawConnection.open(Number(new URL(verdict.address).port))
  const body = JSON.stringify(question('alice', 'read', 'document:plan'))
  const fields = [`Authorization: Bearer ${key.secret}`, 'Content-Type: application/json', 'Host: localhost']
  await connection.send(
    ['POST /allowed HTTP/1.1', ...fields, `Content-Length: ${body.length}`, '', ''].join('\r\n'),
  )
  expect((await remove(key)).status).toBe(204)
  expect((await connection.ask(body))!.status).toBe(401)
  connection.destroy()
})

test('the key of API_KEY cannot be revoked or rotated over HTTP', async () => {
  const { body } = await admin<ApiKey>('GET', `${KEYS}/default/default`)
  expect(refusal(await remove(body))).toEqual(IMPOSSIBLE)
  expect(refusal(await rotate(body))).toEqual(IMPOSSIBLE)
  expect(await decides(API_KEY)).toBe(200)
})

describe('API keys in the settings', () => {
  const storeUrl = () => `lmdb:${storeDirectory()}`

  test('replace the keys of the last start: a start with another API_KEY, or with none, invalidates the former API_KEY', async () => {
    const first = await startedService({ storeUrl: storeUrl() })
    const other = await created(OF_DEFAULT, first)
    await first.close()
    const apiKey = 'another-configured-key'
    const second = await startedService({ ...first.settings, apiKey })
    expect([await decides(API_KEY, second), await decides(apiKey, second)]).toEqual([401, 200])
    await second.close()
    const third = await startedService({ ...first.settings, apiKey: null })
    expect(await decides(apiKey, third)).toBe(401)
    // Keys that clients created are not affected.
    expect(await decides(other.secret, third)).toBe(200)
  })

  test('are rejected at the start if another key has the same secret', async () => {
    const first = await startedService({ storeUrl: storeUrl() })
    const other = await created({ object_type: 'org' }, first)
    await first.close()
    const taken = /expected a different secret/
    await expect(startedService({ ...first.settings, apiKey: other.secret })).rejects.toThrow(taken)
    await expect(startedService({ ...first.settings, adminApiKey: other.secret })).rejects.toThrow(taken)
  })

  test('are rejected at the start if they are the former secret of a key during its overlap', async () => {
    const first = await startedService({ storeUrl: storeUrl() })
    const former = await created({ object_type: 'org' }, first)
    expect((await rotate(former, { overlap_seconds: 3_600 }, first)).status).toBe(200)
    await first.close()
    const message = `expected a different secret, this is the secret of API key ${former.id}`
    for (const setting of ['apiKey', 'adminApiKey']) {
      const second = startedService({ ...first.settings, [setting]: former.secret })
      await expect(second).rejects.toThrow(message)
    }
    const third = await startedService(first.settings)
    expect((await rotate(former, { overlap_seconds: 0 }, third)).status).toBe(200)
    await third.close()
    const fourth = await startedService({ ...first.settings, adminApiKey: former.secret })
    expect(await statuses(former.secret, fourth, '/v2/projects')).toEqual(new Set([200]))
  })
})

describe('a listed API key', () => {
  const named = (name: string) => created({ ...OF_DEFAULT, name })
  const shown = async ({ id }: ApiKey) => (await admin<ApiKey>('GET', `${KEYS}/${id}`)).body

  test('names the key that created it, even after that key is deleted', async () => {
    const ofOperations = await created({ name: 'Operations' })
    expect(ofOperations.created_by).toEqual({ api_key_id: null, name: null })
    const as = <Body>(method: string, path: string, body?: unknown) =>
      verdict.send<Body>(method, path, { key: ofOperations.secret, body })
    const ours = (await as<ApiKey>('POST', KEYS, { ...OF_DEFAULT, name: 'Ours' })).body
    const byOperations = { api_key_id: ofOperations.id, name: 'Operations' }
    expect(ours.created_by).toEqual(byOperations)
    // This also applies to the key of a new environment.
    const [key] = fresh('operated')
    expect((await as('POST', '/v2/projects/default/envs', { key, name: key })).status).toBe(200)
    expect((await as<ApiKey>('GET', `${KEYS}/default/${key}`)).body.created_by).toEqual(byOperations)
    expect((await rotate(ours)).body.created_by).toEqual(byOperations)
    await remove(ofOperations)
    expect((await shown(ours)).created_by).toEqual(byOperations)
    // The key of the settings does not have this field.
    const { body } = await admin<Envelope<ApiKey>>('GET', KEYS)
    expect(body.data.map(each => each.created_by)).toContain(undefined)
  })

  test('shows its last use on any thread, rounded to 10 minutes, without rejected requests', async () => {
    const [used, unused] = [await named('used'), await named('unused')]
    expect([used.last_used_at, unused.last_used_at]).toEqual([null, null])
    const from = Date.now()
    expect([await decides(used.secret), await decides(`${unused.secret}x`)]).toEqual([200, 401])
    let at: string | null = null
    while (at === null) at = (await shown(used)).last_used_at
    // The time is rounded down, but is never before the creation of the key.
    if (at !== used.created_at) expect(Date.parse(at) % KEY_USE_GRAIN_MS).toBe(0)
    expect(at >= used.created_at).toBe(true)
    expect(Date.parse(at)).toBeGreaterThan(from - KEY_USE_GRAIN_MS)
    expect(Date.parse(at)).toBeLessThanOrEqual(Date.now())
    expect((await shown(unused)).last_used_at).toBe(null)
    const { body } = await admin<Envelope<ApiKey>>('GET', `${KEYS}?search=${used.id}`)
    expect(body.data.map(({ last_used_at }) => last_used_at)).toEqual([at])
  })

  test('is found by a part of its name or of its id', async () => {
    const shop = await named('The Shop')
    for (const [search, ids] of [
      ['the shop', [shop.id]],
      [shop.id, [shop.id]],
      ['nobody', []],
    ] as const) {
      const path = `${KEYS}?search=${encodeURIComponent(search)}`
      const { body } = await admin<Envelope<ApiKey>>('GET', path)
      expect([body.data.map(({ id }) => id), body.total_count]).toEqual([ids, ids.length])
    }
  })
})
