/** API keys: what each kind opens, and how one is made, listed, fetched, rotated and revoked (native.md B.13, D-35, D-44). */
import { describe, expect, test } from 'vitest'
import type { ApiKey } from '#model/wire/api-key.ts'
import type { Environment } from '#model/wire/environment.ts'
import type { Project } from '#model/wire/project.ts'
import { KEY_USE_GRAIN_MS } from '#model/limits.ts'
import { ApiKeyAuthentication } from '#threads/channel/api-key-authentication.ts'
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
  refusal,
  sharedService,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'
import { FORBIDDEN, IMPOSSIBLE, NOT_FOUND } from '../../support/refusals.ts'

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

/** The statuses that a key meets on every thread: each connection may end at another one. */
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

describe('a new key', () => {
  test('of an environment opens that environment, on every thread, when its answer is there', async () => {
    const key = await created({ ...OF_DEFAULT, name: 'Ours', owner_type: 'elements' })
    expect(await statuses(key.secret)).toEqual(new Set([200]))
    const scope = await verdict.send<object>('GET', `${KEYS}/scope`, { key: key.secret })
    expect(scope.body).toEqual((await verdict.get(`${KEYS}/scope`)).body)
    expect(key).toMatchObject({
      object_type: 'env',
      access_level: 'admin',
      owner_type: 'elements',
      name: 'Ours',
    })
    expect(await decides(key.secret)).toBe(200)
    expect((await verdict.send('GET', `${FACTS}/users`, { key: key.secret })).status).toBe(200)
    expect((await verdict.send('GET', '/v2/projects', { key: key.secret })).status).toBe(403)
  })

  test('of a project manages its environments, their keys and itself, and decides nothing', async () => {
    const [project] = fresh('project')
    await admin('POST', '/v2/projects', { key: project, name: 'P', initial_environments: [] })
    await admin('POST', `/v2/projects/${project}/envs`, { key: 'one', name: 'One' })
    const { secret, ...key } = await created({ project_id: project })
    expect(key).toMatchObject({ object_type: 'project', environment_id: null })
    const as = (method: string, path: string, body?: unknown) =>
      verdict.send(method, path, { key: secret, body })
    expect((await as('GET', `${KEYS}/scope`)).body).toEqual({
      organization_id: key.organization_id,
      project_id: key.project_id,
      environment_id: null,
    })
    expect(await decides(secret)).toBe(403)
    expect((await as('GET', `/v2/facts/${project}/one/tenants`)).status).toBe(200)
    expect((await as('GET', `/v2/facts/${project}/two/tenants`)).status).toBe(404)
    expect((await as('PATCH', `/v2/projects/${project}`, { name: 'Mine' })).status).toBe(200)
    expect((await as('POST', `/v2/projects/${project}/envs`, { key: 'two', name: 'Two' })).status).toBe(200)
    expect((await as('GET', '/v1/tenants')).body).toHaveLength(2)
    const listed = (await as('GET', '/v2/projects')) as Answer<Project[]>
    expect(listed.body.map(each => each.key)).toEqual([project])
    // Keys of its environments, but none as mighty as itself.
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

  test('of a project finds its own by id, also when another has that id for a key', async () => {
    const [key] = fresh('project')
    const { body: own } = await admin<Project>('POST', '/v2/projects', { key, name: 'Own' })
    const { secret } = await created({ project_id: key })
    await admin('POST', '/v2/projects', { key: own.id, name: 'Looks like it' })
    const found = await verdict.send<Project>('GET', `/v2/projects/${own.id}`, { key: secret })
    expect([found.status, found.body.name]).toEqual([200, 'Own'])
    // Who may see both gets the one of that key.
    expect((await admin<Project>('GET', `/v2/projects/${own.id}`)).body.name).toBe('Looks like it')
  })

  test('of the organization does what ADMIN_API_KEY does', async () => {
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
    [{ ...OF_DEFAULT, access_level: 'read' }, 422],
    [{ ...OF_DEFAULT, name: 7 }, 422],
  ])('is refused for %j with %i, and not made', async (body, status) => {
    const before = await admin<Envelope<ApiKey>>('GET', KEYS)
    expect(refusal(await admin('POST', KEYS, body))[0]).toBe(status)
    expect((await admin<Envelope<ApiKey>>('GET', KEYS)).body.total_count).toBe(before.body.total_count)
  })
})

describe('keys', () => {
  test('are listed in pages, narrowed by kind and project, without secrets', async () => {
    const [project] = fresh('listed')
    await admin('POST', '/v2/projects', { key: project, name: 'P', initial_environments: [] })
    await admin('POST', `/v2/projects/${project}/envs`, { key: 'one', name: 'One' })
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

  test('are nowhere in what is listed, read or refused', async () => {
    const { secret, id } = await created(OF_DEFAULT)
    for (const path of [KEYS, `${KEYS}/${id}`, '/v2/projects', '/v2/projects/default/envs']) {
      expect(JSON.stringify((await admin('GET', path)).body)).not.toContain(secret)
    }
  })
})

describe("an environment's key", () => {
  test('is made with it, and fetched by key or id, for the organization alone', async () => {
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
    // It was used meanwhile.
    expect(byId.body).toEqual({ ...fetched.body, last_used_at: byId.body.last_used_at })
    const own = await verdict.send('GET', `${KEYS}/default/${key}`, { key: fetched.body.secret })
    expect(refusal(own)).toEqual(FORBIDDEN)
    expect(refusal(await admin('GET', `${KEYS}/default/nothing`))).toEqual(NOT_FOUND)
  })

  test('that was configured is fetched as it was configured', async () => {
    expect((await admin<ApiKey>('GET', `${KEYS}/default/default`)).body.secret).toBe(API_KEY)
  })

  test('has no secret to show after ADMIN_API_KEY changed, until it is rotated; decisions go on', async () => {
    const storeUrl = `lmdb:${storeDirectory()}`
    const first = await startedService({ storeUrl })
    const secret = await neighbourOf(first, 'other')
    await first.close()
    const second = await startedService({ storeUrl, adminApiKey: 'another-organization-key' })
    const fetch = (key = 'another-organization-key', env = 'other') =>
      second.send<ApiKey>('GET', `${KEYS}/default/${env}`, { key })
    expect((await fetch(ADMIN_KEY)).status).toBe(401)
    const hidden = await fetch()
    expect([hidden.status, hidden.body.secret]).toEqual([200, null])
    expect(await decides(secret, second)).toBe(200)
    // What the operator gives is known anew.
    expect((await fetch(undefined, 'default')).body.secret).toBe(API_KEY)
    const rotated = await second.send<ApiKey>('POST', `${KEYS}/${hidden.body.id}/rotate-secret`, {
      key: 'another-organization-key',
    })
    expect((await fetch()).body.secret).toBe(rotated.body.secret)
  })
})

describe('a rotation', () => {
  test('gives a new secret and leaves the old one good for the time that was asked for', async () => {
    // Until a time is long enough for a question in it, on a machine that may stand still.
    for (let seconds = 1; !(await wasGoodFor(seconds)); seconds *= 2);
  })

  /** Whether the old secret was seen to be good before its time was over. */
  async function wasGoodFor(overlap_seconds: number): Promise<boolean> {
    const key = await created(OF_DEFAULT)
    const startedAt = Date.now()
    const rotated = await admin<ApiKey>('POST', `${KEYS}/${key.id}/rotate-secret`, { overlap_seconds })
    expect(answerFindings('rotateApiKey', rotated.status, rotated.body)).toEqual([])
    expect(rotated.body).toMatchObject({ id: key.id, environment_id: key.environment_id })
    expect(rotated.body.secret).not.toBe(key.secret)
    expect(await statuses(rotated.body.secret!)).toEqual(new Set([200]))
    const endsAt = Date.parse(rotated.body.former_secret_valid_until!)
    expect(endsAt - startedAt).toBeGreaterThanOrEqual(overlap_seconds * 1_000)
    let lastGoodAt = 0
    for (;;) {
      const askedAt = Date.now()
      if ((await verdict.send('GET', `${KEYS}/scope`, { key: key.secret })).status === 401) break
      lastGoodAt = askedAt
    }
    // Clocks show whole milliseconds.
    expect(lastGoodAt).toBeLessThanOrEqual(endsAt)
    expect(Date.now()).toBeGreaterThanOrEqual(endsAt)
    expect(await statuses(key.secret)).toEqual(new Set([401]))
    expect(await statuses(rotated.body.secret!)).toEqual(new Set([200]))
    const read = await admin<ApiKey>('GET', `${KEYS}/${key.id}`)
    expect(read.body.former_secret_valid_until).toBe(undefined)
    return lastGoodAt > 0
  }

  test('without an overlap ends the old secret on every thread with its answer', async () => {
    const key = await created(OF_DEFAULT)
    const rotated = await admin<ApiKey>('POST', `${KEYS}/${key.id}/rotate-secret`, { overlap_seconds: 0 })
    expect(rotated.body.former_secret_valid_until).toBe(undefined)
    expect(await statuses(key.secret)).toEqual(new Set([401]))
    expect(await statuses(rotated.body.secret!)).toEqual(new Set([200]))
  })

  test('takes the overlap of the settings unless it says otherwise; the next one ends it', async () => {
    const client = await startedService({ keyOverlapSeconds: 7_200 })
    const key = await created(OF_DEFAULT, client)
    const rotate = () => admin<ApiKey>('POST', `${KEYS}/${key.id}/rotate-secret`, undefined, client)
    const before = Date.now()
    const first = await rotate()
    const endsAt = Date.parse(first.body.former_secret_valid_until!)
    expect(endsAt - 7_200_000).toBeGreaterThanOrEqual(before)
    expect(endsAt - 7_200_000).toBeLessThanOrEqual(Date.now())
    expect(await statuses(key.secret, client)).toEqual(new Set([200]))
    const second = await rotate()
    expect(await statuses(key.secret, client)).toEqual(new Set([401]))
    expect(await statuses(first.body.secret!, client)).toEqual(new Set([200]))
    expect(await statuses(second.body.secret!, client)).toEqual(new Set([200]))
    expect((await admin('DELETE', `${KEYS}/${key.id}`, undefined, client)).status).toBe(204)
    for (const { body } of [first, second]) {
      expect(await statuses(body.secret!, client)).toEqual(new Set([401]))
    }
  })

  test('is the same after a restart: the old secret is valid, the end of its time is kept, and a revoked key stays revoked', async () => {
    const client = await startedService({ storeUrl: `lmdb:${storeDirectory()}` })
    const [key, revoked] = [await created(OF_DEFAULT, client), await created(OF_DEFAULT, client)]
    await admin('DELETE', `${KEYS}/${revoked.id}`, undefined, client)
    const { body } = await admin<ApiKey>('POST', `${KEYS}/${key.id}/rotate-secret`, undefined, client)
    const next = await client.restart()
    expect(await statuses(key.secret, next)).toEqual(new Set([200]))
    expect(await decides(revoked.secret, next)).toBe(401)
    const read = await admin<ApiKey>('GET', `${KEYS}/${key.id}`, undefined, next)
    expect(read.body.former_secret_valid_until).toBe(body.former_secret_valid_until)
  })

  test('ends to the millisecond, however the clock on the wall is set meanwhile', () => {
    let [now, elapsed] = [500_000, 0]
    const check = new ApiKeyAuthentication({ now: () => now, elapsedMs: () => elapsed })
    const principal = { kind: 'organization', keyId: null, organizationId: 'o' } as const
    // SHA-256 of "secret".
    const secretHash = '2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b'
    const credentials = [{ secretHash, principal, slot: 0, validUntil: 501_000 }]
    check.replaceAll(credentials)
    elapsed = 999
    for (const set of [0, 1_000_000, 500_000]) {
      now = set
      expect(check.authenticate('Bearer secret')).toBe(principal)
      // Also when other keys change: what is known already is not reckoned anew.
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
    'with %j is 422 and rotates nothing',
    async body => {
      const key = await created(OF_DEFAULT)
      expect(refusal(await admin('POST', `${KEYS}/${key.id}/rotate-secret`, body))[0]).toBe(422)
      expect(await statuses(key.secret)).toEqual(new Set([200]))
    },
  )

  test('of many at once gives each its own secret, of which the last and the one before are good', async () => {
    const key = await created(OF_DEFAULT)
    const rotations = await Promise.all(
      Array.from({ length: 8 }, () => admin<ApiKey>('POST', `${KEYS}/${key.id}/rotate-secret`)),
    )
    expect(rotations.map(({ status }) => status)).toEqual(Array(8).fill(200))
    const secrets = new Set(rotations.map(({ body }) => body.secret!))
    expect(secrets.size).toBe(8)
    const good = await Promise.all([...secrets].map(async secret => (await statuses(secret)).has(200)))
    expect(good.filter(Boolean)).toHaveLength(2)
  })
})

describe('a revoked key', () => {
  test('is nothing any more, on every thread, when the answer is there', async () => {
    const key = await created(OF_DEFAULT)
    expect(await statuses(key.secret)).toEqual(new Set([200]))
    expect((await admin('DELETE', `${KEYS}/${key.id}`)).status).toBe(204)
    expect(await statuses(key.secret)).toEqual(new Set([401]))
    expect(refusal(await admin('GET', `${KEYS}/${key.id}`))).toEqual(NOT_FOUND)
    expect(refusal(await admin('DELETE', `${KEYS}/${key.id}`))).toEqual(NOT_FOUND)
    expect(refusal(await admin('POST', `${KEYS}/${key.id}/rotate-secret`))).toEqual(NOT_FOUND)
  })

  test('was not the one that API_KEY sets: that is changed where it is set', async () => {
    const { body } = await admin<ApiKey>('GET', `${KEYS}/default/default`)
    expect(refusal(await admin('DELETE', `${KEYS}/${body.id}`))).toEqual(IMPOSSIBLE)
    expect(refusal(await admin('POST', `${KEYS}/${body.id}/rotate-secret`))).toEqual(IMPOSSIBLE)
    expect(await decides(API_KEY)).toBe(200)
  })
})

describe('what the settings say of keys', () => {
  const storeUrl = () => `lmdb:${storeDirectory()}`

  test('API_KEY replaces the one configured before, and without it that is gone', async () => {
    const first = await startedService({ storeUrl: storeUrl() })
    const other = await created(OF_DEFAULT, first)
    await first.close()
    const second = await startedService({ ...first.settings, apiKey: 'another-configured-key' })
    expect([await decides(API_KEY, second), await decides('another-configured-key', second)]).toEqual([
      401, 200,
    ])
    await second.close()
    const third = await startedService({ ...first.settings, apiKey: null })
    expect(await decides('another-configured-key', third)).toBe(401)
    // Keys that callers made are theirs to revoke.
    expect(await decides(other.secret, third)).toBe(200)
  })

  test('a secret that is already another key is refused, whichever setting it comes with', async () => {
    const first = await startedService({ storeUrl: storeUrl() })
    const other = await created({ object_type: 'org' }, first)
    await first.close()
    const taken = /expected a secret of its own/
    await expect(startedService({ ...first.settings, apiKey: other.secret })).rejects.toThrow(taken)
    await expect(startedService({ ...first.settings, adminApiKey: other.secret })).rejects.toThrow(taken)
  })

  test('so is one that was another key before a rotation, as long as it is remembered', async () => {
    const first = await startedService({ storeUrl: storeUrl() })
    const former = await created({ object_type: 'org' }, first)
    const rotate = (overlap_seconds: number, client: Client) =>
      admin('POST', `${KEYS}/${former.id}/rotate-secret`, { overlap_seconds }, client)
    expect((await rotate(3_600, first)).status).toBe(200)
    await first.close()
    for (const setting of ['apiKey', 'adminApiKey']) {
      const second = startedService({ ...first.settings, [setting]: former.secret })
      await expect(second).rejects.toThrow(
        `expected a secret of its own, this is that of API key ${former.id}`,
      )
    }
    const third = await startedService(first.settings)
    expect((await rotate(0, third)).status).toBe(200)
    await third.close()
    const fourth = await startedService({ ...first.settings, adminApiKey: former.secret })
    expect(await statuses(former.secret, fourth, '/v2/projects')).toEqual(new Set([200]))
  })
})

describe('what the list says of a key', () => {
  const byName = (name: string, client = verdict) => created({ ...OF_DEFAULT, name }, client)
  const shown = async ({ id }: ApiKey, client = verdict) =>
    (await admin<ApiKey>('GET', `${KEYS}/${id}`, undefined, client)).body

  test('it names the key with which it was made, also after that key is deleted', async () => {
    const ofOperations = await created({ name: 'Operations' })
    expect(ofOperations.created_by).toEqual({ api_key_id: null, name: null })
    const as = <Body>(method: string, path: string, body?: unknown) =>
      verdict.send<Body>(method, path, { key: ofOperations.secret, body })
    const ours = (await as<ApiKey>('POST', KEYS, { ...OF_DEFAULT, name: 'Ours' })).body
    const byOperations = { api_key_id: ofOperations.id, name: 'Operations' }
    expect(ours.created_by).toEqual(byOperations)
    // A new environment has a key.
    const [key] = fresh('operated')
    expect((await as('POST', '/v2/projects/default/envs', { key, name: key })).status).toBe(200)
    expect((await as<ApiKey>('GET', `${KEYS}/default/${key}`)).body.created_by).toEqual(byOperations)
    const rotated = await admin<ApiKey>('POST', `${KEYS}/${ours.id}/rotate-secret`)
    expect(rotated.body.created_by).toEqual(byOperations)
    await admin('DELETE', `${KEYS}/${ofOperations.id}`)
    expect((await shown(ours)).created_by).toEqual(byOperations)
    // The key of the settings has no such member.
    const { body } = await admin<Envelope<ApiKey>>('GET', KEYS)
    expect(body.data.map(each => each.created_by)).toContain(undefined)
  })

  test('it tells the last use, to ten minutes, on whichever thread; a refused request is no use', async () => {
    const [used, unused] = [await byName('used'), await byName('unused')]
    expect([used.last_used_at, unused.last_used_at]).toEqual([null, null])
    const from = Date.now()
    expect([await decides(used.secret), await decides(`${unused.secret}x`)]).toEqual([200, 401])
    let at: string | null = null
    while (at === null) at = (await shown(used)).last_used_at
    // The start of those ten minutes, but no time before the key was made.
    if (at !== used.created_at) expect(Date.parse(at) % KEY_USE_GRAIN_MS).toBe(0)
    expect(at >= used.created_at).toBe(true)
    expect(Date.parse(at)).toBeGreaterThan(from - KEY_USE_GRAIN_MS)
    expect(Date.parse(at)).toBeLessThanOrEqual(Date.now())
    expect((await shown(unused)).last_used_at).toBe(null)
    const { body } = await admin<Envelope<ApiKey>>('GET', `${KEYS}?search=${used.id}`)
    expect(body.data.map(({ last_used_at }) => last_used_at)).toEqual([at])
  })

  test('it is found by a part of its name or of its id', async () => {
    const shop = await byName('The Shop')
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
