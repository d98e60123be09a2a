/** `X-Min-Revision`: a decision is made on a state that has that revision, or not at all. Whatever the store. */
import { beforeAll, describe, expect, test } from 'vitest'
import { ACTIONS, EVALUATION, EVALUATIONS, RESOURCES_FOUND, SUBJECTS } from '../support/access-requests.ts'
import { type Answer, type Client, question, sharedService } from '../support/running-service.ts'

const WAIT_MS = 150
const client = await sharedService({ minRevisionWaitMs: WAIT_MS })

const subject = { type: 'user', id: 'alice' }
const action = { name: 'read' }
const resource = { type: 'document', id: 'plan' }

/** Every endpoint that decides, with a request for it. */
const DECISIONS: readonly (readonly [path: string, body: object])[] = [
  ['/allowed', question('alice', 'read', 'document:plan')],
  ['/allowed/bulk', [question('alice', 'read', 'document:plan')]],
  ['/user-permissions', { user: { key: 'alice' } }],
  ['/authorized_users', { action: 'read', resource: { type: 'document', key: 'plan', tenant: 'default' } }],
  [EVALUATION, { subject, action, resource }],
  [EVALUATIONS, { subject, action, evaluations: [{ resource }] }],
  [SUBJECTS, { subject: { type: 'user' }, action, resource }],
  [RESOURCES_FOUND, { subject, action, resource: { type: 'document' } }],
  [ACTIONS, { subject, resource }],
]

function ask(path: string, body: unknown, revision: string): Promise<Answer> {
  return client.send('POST', path, { body, headers: { 'x-min-revision': revision } })
}

/** The revision that many commits behind the present one. */
async function ahead(of: Client, by: number): Promise<string> {
  const [epoch, sequence] = (await of.revision()).split('.')
  return `${epoch}.${Number(sequence) + by}`
}

beforeAll(async () => {
  await client.createDocumentModel()
  await client.users('alice')
  await client.assign('alice', 'viewer', 'document:plan')
})

describe.each(DECISIONS)('%s', (path, body) => {
  test('answers at once when the state has the revision', async () => {
    const answer = await ask(path, body, await client.revision())
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual((await client.post(path, body)).body)
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

  test('refuses a request with the wrong shape without waiting', async () => {
    expect((await ask(path, 7, await ahead(client, 1_000))).status).toBe(400)
  })
})

test('a decision waits for a revision that is still to come, and is made from it', async () => {
  await client.users('bob')
  const body = question('bob', 'read', 'document:plan')
  const answering = ask('/allowed', body, await ahead(client, 1))
  await client.assign('bob', 'viewer', 'document:plan')
  expect(await answering).toMatchObject({ status: 200, body: { allow: true } })
})

test('the revision does not matter to requests that decide nothing', async () => {
  const headers = { 'x-min-revision': 'nonsense' }
  expect((await client.send('GET', '/ready', { headers })).status).toBe(200)
  expect((await client.send('GET', '/v2/api-key/scope', { headers })).status).toBe(200)
})
