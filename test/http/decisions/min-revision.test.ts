/** `X-Min-Revision`: a decision uses a state that contains this revision, or the request is rejected. */
import { beforeAll, describe, expect, test } from 'vitest'
import {
  ACTIONS,
  EVALUATION,
  EVALUATIONS,
  RESOURCES_FOUND,
  SUBJECTS,
} from '../../support/calls/access-requests.ts'
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
/** A service that waits for revisions without a time limit. */
const patient = await sharedService({ minRevisionWaitMs: HANG_MS })
const client = await sharedService({ minRevisionWaitMs: WAIT_MS })

const subject = { type: 'user', id: 'alice' }
const action = { name: 'read' }
const resource = { type: 'document', id: 'plan' }

/** Every decision endpoint with a request body. If the body is undefined, the request is a GET. */
const DECISIONS: readonly (readonly [path: string, body: object | undefined])[] = [
  ['/allowed', question('alice', 'read', 'document:plan')],
  ['/allowed/explain', question('alice', 'read', 'document:plan')],
  ['/allowed/bulk', [question('alice', 'read', 'document:plan')]],
  ['/allowed/plan', { user: { key: 'alice' }, action: 'read', resource: { type: 'document' } }],
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

/** Returns the body without the time of a plan. */
function timeless({ body }: Answer): unknown {
  return Array.isArray(body) ? body : { ...(body as object), as_of: null }
}

function later(revision: string, by: number): string {
  const [epoch, sequence] = revision.split('.')
  return `${epoch}.${Number(sequence) + by}`
}

/** Returns the revision that the environment will have after `by` more commits. */
async function ahead(of: Client, by: number): Promise<string> {
  return later(await of.revision(), by)
}

/** Returns the revision that the organization will have after `by` more commits. */
async function organizationAhead(by: number, of = client): Promise<string> {
  return later(revisionOf(await of.admin('GET', '/v2/projects')), by)
}

beforeAll(async () => {
  for (const service of [client, patient]) {
    await service.createViewer('alice', 'document:plan')
  }
})

describe.each(DECISIONS)('%s', (path, body) => {
  test('responds immediately if the state contains the revision', async () => {
    const answer = await ask(path, body, await client.revision())
    expect(answer.status).toBe(200)
    expect(timeless(answer)).toEqual(timeless(await client.send(methodOf(body), path, { body })))
  })

  test('returns 503 with Retry-After if the revision does not arrive in time', async () => {
    const startedAt = performance.now()
    const answer = await ask(path, body, await ahead(client, 1_000))
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(WAIT_MS - 1)
  })

  test('rejects a revision of another epoch, and an invalid revision', async () => {
    const { status, body: problem } = await ask(path, body, 'another-epoch.1')
    expect(status).toBe(400)
    expect(JSON.stringify(problem)).toContain(await client.revision())
    for (const wrong of ['', '7', 'e', 'e.', '.7', 'e.-1', 'e.1.5', 'e.07', 'a b.1', 'e.1e3'])
      expect((await ask(path, body, wrong)).status, wrong).toBe(400)
  })

  test('accepts up to eight revisions of the organization and the environment', async () => {
    const [here, there] = [await client.revision(), await organizationAhead(0)]
    const expected = timeless(await client.send(methodOf(body), path, { body }))
    for (const revisions of [there, `${here}, ${there}`, `${there},${here}`, Array(8).fill(here).join()]) {
      const answer = await ask(path, body, revisions)
      expect([answer.status, timeless(answer)]).toEqual([200, expected])
    }
    for (const revisions of [await organizationAhead(1_000), `${there}, ${await ahead(client, 1_000)}`]) {
      expect((await ask(path, body, revisions)).status).toBe(503)
    }
    for (const revisions of [`${here},`, `${here} ${there}`, Array(9).fill(here).join()]) {
      expect((await ask(path, body, revisions)).status, revisions).toBe(400)
    }
  })

  test('rejects an invalid request without waiting for the revision', async () => {
    const revision = await ahead(client, 1_000)
    const isPost = body !== undefined
    const answer = isPost ? await ask(path, 7, revision) : await ask(`${path}?page=0`, body, revision)
    expect(answer.status).toBe(400)
  })
})

test('a decision waits for a future revision and uses its state', async () => {
  await patient.users('bob')
  const body = question('bob', 'read', 'document:plan')
  const answering = ask('/allowed', body, await ahead(patient, 1), patient)
  await patient.assign('bob', 'viewer', 'document:plan')
  expect(await answering).toMatchObject({ status: 200, body: { allow: true } })
})

test('a revision is valid only in the environment of the key', async () => {
  const key = await neighbourOf(client, 'neighbour')
  const here = await client.revision()
  for (const [of, status] of [
    [API_KEY, 200],
    [key, 400],
    [API_KEY, 200],
  ] as const) {
    expect((await askWith(of, here)).status).toBe(status)
  }
})

test('this file covers every decision route', () => {
  // nginx.test.ts covers checks in headers.
  const others = ['/nginx_allowed', ...UPDATE_TRIGGERS]
  const isHere = ({ access, path }: Route) => access === 'environment' && !others.includes(path)
  const deciding = routes.filter(isHere).map(({ path }) => path)
  expect(deciding.toSorted()).toEqual(DECISIONS.map(([path]) => path).toSorted())
})

function askWith(key: string, revision: string, of = client): Promise<Answer> {
  const body = question('alice', 'read', 'document:plan')
  return of.send('POST', '/allowed', { key, body, headers: { 'x-min-revision': revision } })
}

test('a request is rejected if it waited for a state in which its key is revoked', async () => {
  const { id, secret } = await patient.createKey()
  expect((await askWith(secret, await organizationAhead(0, patient), patient)).status).toBe(200)
  const asking = askWith(secret, await organizationAhead(1, patient), patient)
  const revoked = await patient.admin('DELETE', `/v2/api-key/${id}`)
  expect(revoked.status).toBe(204)
  expect((await asking).status).toBe(401)
})

test('a request with an unknown key gets 503 instead of 401 if a future state can contain the key', async () => {
  const unknown = 'no-key-at-all-no-key-at-all'
  expect((await askWith(unknown, await organizationAhead(0))).status).toBe(401)
  expect((await askWith(unknown, await ahead(client, 1_000))).status).toBe(401)
  const waiting = await askWith(unknown, await organizationAhead(1_000))
  expect([waiting.status, waiting.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)])
  // The organization reaches the requested revision, in which the key does not exist.
  const asking = askWith(unknown, await organizationAhead(1, patient), patient)
  await patient.createKey()
  expect((await asking).status).toBe(401)
})

test('the copy of an environment returns the revisions of the organization and of the copy', async () => {
  const body = { target_env: { new: { key: 'copied', name: 'Copied' } } }
  const path = '/v2/projects/default/envs/default/copy'
  const copied = await client.admin('POST', path, body)
  const revisions = copied.headers.get('x-revision')!
  const [organization, environment] = revisions.split(', ')
  expect(organization!.split('.')[0]).toBe((await organizationAhead(0)).split('.')[0])
  const key = await client.admin<{ secret: string }>('GET', '/v2/api-key/default/copied')
  expect((await askWith(key.body.secret, revisions)).status).toBe(200)
  expect(environment).toMatch(/^[a-z0-9-]+\.\d+$/)
})

test('requests other than decisions ignore X-Min-Revision', async () => {
  const headers = { 'x-min-revision': 'nonsense' }
  expect((await client.send('GET', '/ready', { headers })).status).toBe(200)
  expect((await client.send('GET', '/v2/api-key/scope', { headers })).status).toBe(200)
})
