/** `X-Min-Revision`: a decision is made on a state that has that revision, or not at all. Whatever the store. */
import { beforeAll, describe, expect, test } from 'vitest'
import { ACTIONS, EVALUATION, EVALUATIONS, RESOURCES_FOUND, SUBJECTS } from '../../support/access-requests.ts'
import type { Route } from '#http/routing/route.ts'
import { routes, UPDATE_TRIGGERS } from '#testing/requests/routes.ts'
import {
  API_KEY,
  type Answer,
  type Client,
  neighbourOf,
  question,
  revisionOf,
  sharedService,
} from '#testing/processes/running-service.ts'
import { HANG_MS } from '../../support/hang.ts'

const WAIT_MS = 150
/** Waits for what comes, however long that takes. */
const patient = await sharedService({ minRevisionWaitMs: HANG_MS })
const client = await sharedService({ minRevisionWaitMs: WAIT_MS })

const subject = { type: 'user', id: 'alice' }
const action = { name: 'read' }
const resource = { type: 'document', id: 'plan' }

/** Every endpoint that decides, with a request for it. */
/** Without a body: a GET. */
const DECISIONS: readonly (readonly [path: string, body: object | undefined])[] = [
  ['/allowed', question('alice', 'read', 'document:plan')],
  ['/allowed/explain', question('alice', 'read', 'document:plan')],
  ['/allowed/bulk', [question('alice', 'read', 'document:plan')]],
  ['/allowed/all-tenants', question('alice', 'read', 'document:plan')],
  ['/user-permissions', { user: { key: 'alice' } }],
  ['/user-tenants', { user: { key: 'alice' } }],
  ['/local/role_assignments', undefined],
  ['/allowed_url', { user: { key: 'alice' }, http_method: 'GET', url: 'https://a.org', tenant: 'default' }],
  [
    '/kong',
    { input: { request: { http: { method: 'GET', path: '/document' } }, consumer: { username: 'alice' } } },
  ],
  ['/authorized_users', { action: 'read', resource: { type: 'document', key: 'plan', tenant: 'default' } }],
  [EVALUATION, { subject, action, resource }],
  [EVALUATIONS, { subject, action, evaluations: [{ resource }] }],
  [SUBJECTS, { subject: { type: 'user' }, action, resource }],
  [RESOURCES_FOUND, { subject, action, resource: { type: 'document' } }],
  [ACTIONS, { subject, resource }],
]

function methodOf(body: unknown): string {
  return body === undefined ? 'GET' : 'POST'
}

function ask(path: string, body: unknown, revision: string, of = client): Promise<Answer> {
  return of.send(methodOf(body), path, { body, headers: { 'x-min-revision': revision } })
}

/** The revision that many commits behind the present one. */
async function ahead(of: Client, by: number): Promise<string> {
  const [epoch, sequence] = (await of.revision()).split('.')
  return `${epoch}.${Number(sequence) + by}`
}

/** The organization's revision, so many commits behind the present one. */
async function organizationAhead(by: number, of = client): Promise<string> {
  const answer = await of.admin('GET', '/v2/projects')
  const [epoch, sequence] = revisionOf(answer).split('.')
  return `${epoch}.${Number(sequence) + by}`
}

beforeAll(async () => {
  for (const service of [client, patient]) {
    await service.createDocumentModel()
    await service.users('alice')
    await service.assign('alice', 'viewer', 'document:plan')
  }
})

describe.each(DECISIONS)('%s', (path, body) => {
  test('answers at once when the state has the revision', async () => {
    const answer = await ask(path, body, await client.revision())
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual((await client.send(methodOf(body), path, { body })).body)
  })

  test('is 503 with Retry-After when the revision does not come in time', async () => {
    const startedAt = performance.now()
    const answer = await ask(path, body, await ahead(client, 1_000))
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(WAIT_MS - 1)
  })

  test('refuses a revision of another history, and what is no revision', async () => {
    const { status, body: told } = await ask(path, body, 'another-history.1')
    expect(status).toBe(400)
    expect(JSON.stringify(told)).toContain(await client.revision())
    for (const revision of [
      '',
      '7',
      'epoch',
      'epoch.',
      '.7',
      'epoch.-1',
      'epoch.1.5',
      'epoch.07',
      'a b.1',
      'e.1e3',
    ]) {
      expect((await ask(path, body, revision)).status, revision).toBe(400)
    }
  })

  test('takes a revision of the organization, alone and with one of the environment', async () => {
    const [here, there] = [await client.revision(), await organizationAhead(0)]
    const asManyAsMayBe = Array(8).fill(here).join()
    for (const revisions of [there, `${here}, ${there}`, `${there},${here}`, asManyAsMayBe]) {
      const answer = await ask(path, body, revisions)
      expect([answer.status, answer.body]).toEqual([
        200,
        (await client.send(methodOf(body), path, { body })).body,
      ])
    }
    for (const revisions of [await organizationAhead(1_000), `${there}, ${await ahead(client, 1_000)}`]) {
      expect((await ask(path, body, revisions)).status).toBe(503)
    }
    for (const revisions of [`${here},`, `${here} ${there}`, Array(9).fill(here).join()]) {
      expect((await ask(path, body, revisions)).status, revisions).toBe(400)
    }
  })

  test('refuses a request with the wrong shape without waiting', async () => {
    const revision = await ahead(client, 1_000)
    const isAsked = body !== undefined
    const answer = isAsked ? await ask(path, 7, revision) : await ask(`${path}?page=0`, body, revision)
    expect(answer.status).toBe(400)
  })
})

test('a decision waits for a revision that is still to come, and is made from it', async () => {
  await patient.users('bob')
  const body = question('bob', 'read', 'document:plan')
  const answering = ask('/allowed', body, await ahead(patient, 1), patient)
  await patient.assign('bob', 'viewer', 'document:plan')
  expect(await answering).toMatchObject({ status: 200, body: { allow: true } })
})

test('a revision that is there counts for the environment of the caller only', async () => {
  const key = await neighbourOf(client, 'neighbour')
  const here = await client.revision()
  expect((await askWith(API_KEY, here)).status).toBe(200)
  const asked = { key, body: question('alice', 'read', 'document:plan'), headers: { 'x-min-revision': here } }
  expect((await client.send('POST', '/allowed', asked)).status).toBe(400)
  expect((await askWith(API_KEY, here)).status).toBe(200)
})

test('no route that decides is left out here', () => {
  // What is asked in headers: nginx.test.ts.
  const others = ['/nginx_allowed', ...UPDATE_TRIGGERS]
  const isHere = ({ access, path }: Route) => access === 'environment' && !others.includes(path)
  const deciding = routes.filter(isHere).map(({ path }) => path)
  expect(deciding.toSorted()).toEqual(DECISIONS.map(([path]) => path).toSorted())
})

async function madeKey(of = client): Promise<{ readonly id: string; readonly secret: string }> {
  const body = { project_id: 'default', environment_id: 'default' }
  const made = await of.admin<{ id: string; secret: string }>('POST', '/v2/api-key', body)
  return made.body
}

function askWith(key: string, revision: string, of = client): Promise<Answer> {
  const body = question('alice', 'read', 'document:plan')
  return of.send('POST', '/allowed', { key, body, headers: { 'x-min-revision': revision } })
}

test('a key that is revoked in the state that a decision waits for does not get the decision', async () => {
  const { id, secret } = await madeKey(patient)
  expect((await askWith(secret, await organizationAhead(0, patient), patient)).status).toBe(200)
  const asking = askWith(secret, await organizationAhead(1, patient), patient)
  const revoked = await patient.admin('DELETE', `/v2/api-key/${id}`)
  expect(revoked.status).toBe(204)
  expect((await asking).status).toBe(401)
})

test('a key that may be made in a state still to come is not told that it is none', async () => {
  expect((await askWith('no-key-at-all-no-key-at-all', await organizationAhead(0))).status).toBe(401)
  expect((await askWith('no-key-at-all-no-key-at-all', await ahead(client, 1_000))).status).toBe(401)
  const waiting = await askWith('no-key-at-all-no-key-at-all', await organizationAhead(1_000))
  expect([waiting.status, waiting.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)])
  // The organization comes to that state, and there is no such key in it.
  const asking = askWith('no-key-at-all-no-key-at-all', await organizationAhead(1, patient), patient)
  await madeKey(patient)
  expect((await asking).status).toBe(401)
})

test('the copy of an environment tells of the organization and of the copy', async () => {
  const body = { target_env: { new: { key: 'copied', name: 'Copied' } } }
  const path = '/v2/projects/default/envs/default/copy'
  const copied = await client.admin('POST', path, body)
  const revisions = copied.headers.get('x-revision')!
  const [organization, environment] = revisions.split(', ')
  expect(organization!.split('.')[0]).toBe((await organizationAhead(0)).split('.')[0])
  const key = await client.admin<{ secret: string }>('GET', '/v2/api-key/default/copied')
  const headers = { 'x-min-revision': revisions }
  const asked = { key: key.body.secret, body: question('alice', 'read', 'document:plan'), headers }
  expect((await client.send('POST', '/allowed', asked)).status).toBe(200)
  expect(environment).toMatch(/^[a-z0-9-]+\.\d+$/)
})

test('the revision does not matter to requests that decide nothing', async () => {
  const headers = { 'x-min-revision': 'nonsense' }
  expect((await client.send('GET', '/ready', { headers })).status).toBe(200)
  expect((await client.send('GET', '/v2/api-key/scope', { headers })).status).toBe(200)
})
