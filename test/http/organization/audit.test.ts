/** The audit log contains one entry for each management call that changes data, and no other entries. */
import { randomBytes, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { AuditEntry } from '#model/wire/organization/audit.ts'
import { AuditRetention } from '#management/audit/audit-retention.ts'
import { DraftCommits } from '#management/drafts/commit-draft.ts'
import { listRule, lists } from '#store/keyspace/keyspace.ts'
import { openStore } from '#store/open/open-store.ts'
import { content, importInto } from '../../support/content.ts'
import { exampleCalls } from '../../support/calls/example-calls.ts'
import { exampleMembers, SIGN_IN } from '../../support/calls/member-calls.ts'
import { startedNodes } from '../../support/nodes.ts'
import { sharedRedis } from '../../support/processes/redis-server.ts'
import { routes } from '#testing/requests/routes.ts'
import {
  ADMIN_KEY,
  API_KEY,
  type Client,
  type Envelope,
  FACTS,
  neighbourOf,
  question,
  revisionOf,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'
import { refusal } from '../../support/calls/refusals.ts'

const LOG = '/v2/audit-log/default/default'
const ORGANIZATION_LOG = '/v2/audit-log'
const redis = await sharedRedis()

async function entries(verdict: Client, query = '', path = LOG): Promise<AuditEntry[]> {
  const key = path === ORGANIZATION_LOG ? ADMIN_KEY : API_KEY
  const address = `${path}?per_page=100${query}`
  const page = await verdict.done<Envelope<AuditEntry>>('GET', address, undefined, key)
  expect(page.page_count).toBe(Math.ceil(page.total_count / 100))
  return page.data
}

async function keyId(verdict: Client, project = 'default', environment = 'default'): Promise<string> {
  const path = `/v2/api-key/${project}/${environment}`
  return (await verdict.admin<{ id: string }>('GET', path)).body.id
}

/** A backup and an unfinished sign-in change nothing. An asynchronous copy has the same entry as a copy. */
const WITHOUT_ENTRY = ['backUp', 'beginSignIn', 'copyEnvironmentAsync']
/** Tests of the entries of operations that need a session or a person at an issuer. */
const ELSEWHERE: Readonly<Record<string, readonly [file: string, name: string]>> = {
  endSession: [
    'http/sessions/grants.test.ts',
    'is in the entries about the ends of sessions, without secrets',
  ],
  deleteSession: [
    'http/sessions/grants.test.ts',
    'is in the entries about the ends of sessions, without secrets',
  ],
  finishSignIn: [
    'http/sign-in/sign-in.test.ts',
    'has a separate cookie, and ends with a cookie of the session and an audit entry',
  ],
  receiveLogout: ['service/sign-in/logout.test.ts', 'is recorded in the audit log if it ended a session'],
}

test.each(Object.entries(ELSEWHERE))(
  'the entry of %s is tested with its issuer or session',
  (operation, [file, name]) => {
    const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
    const [, rest] = text.split(`test('${name}'`)
    expect(rest?.split(/^ *test[.(]/m)[0]).toContain(operation)
  },
)

test('each operation that changes data creates one entry with its key, request id and revision', async () => {
  // Backups need a store on disk.
  const verdict = await startedService({ storeUrl: `lmdb:${storeDirectory()}`, ...SIGN_IN })
  const created = await verdict.createKey()
  const members = await exampleMembers(verdict)
  await verdict.user('alice')
  const ours = await keyId(verdict)
  const audited = new Set<string>()
  const nameless: string[] = []
  for (const [index, call] of exampleCalls(created.id, members).entries()) {
    const about = /^\/v2\/(projects|api-key|member)/.test(call.path) ? ORGANIZATION_LOG : LOG
    const [before] = await entries(verdict, '', about)
    const headers = { 'x-request-id': `call-${index}`, 'x-actor': `actor-${index}`, ...call.headers }
    const key = call.key ?? API_KEY
    const calledAt = Date.now()
    const answer = await verdict.send(call.method, call.path, {
      key,
      headers,
      ...(call.text === undefined ? { body: call.body } : { text: call.text }),
    })
    // These operations report a denial as 403.
    const isDenial = call.operation.startsWith('isAllowedNginx') && answer.status === 403
    expect([call.operation, answer.status < 400 || isDenial]).toEqual([call.operation, true])
    const [entry, next] = await entries(verdict, '', about)
    if (entry?.id === before?.id) continue
    audited.add(call.operation)
    expect(next?.id, call.operation).toBe(before?.id)
    expect(entry).toMatchObject({
      operation: call.operation,
      api_key_id: key === ADMIN_KEY ? null : ours,
      request_id: `call-${index}`,
      actor: { kind: 'claimed', name: `actor-${index}`, on_behalf_of: [] },
    })
    if (entry!.about.length === 0) nameless.push(call.operation)
    if (about === LOG) expect(entry!.sequence).toBeLessThanOrEqual(Number(revisionOf(answer).split('.')[1]))
    const at = Date.parse(entry!.created_at)
    expect([at >= calledAt, at <= Date.now()]).toEqual([true, true])
  }
  const writes = routes.filter(({ isRead, family }) => family === 'management' && !isRead)
  const names = writes
    .map(({ operationId }) => operationId)
    .filter(name => !WITHOUT_ENTRY.includes(name) && !(name in ELSEWHERE))
  expect(names.filter(name => !audited.has(name))).toEqual([])
  expect(nameless, 'each entry names its entities').toEqual([])
  expect([...audited].filter(name => !names.includes(name))).toEqual([])
})

describe('an entry of the audit log', () => {
  test('has the path parameters of the request, and the body if it is short', async () => {
    const verdict = await startedService()
    await verdict.user('alice')
    await verdict.patch(`${FACTS}/users/alice`, { attributes: { level: 3 } })
    await verdict.send('PATCH', `${FACTS}/users/alice`, { text: '{"attributes":{"__proto__":{"a":1}}}' })
    await verdict.patch(`${FACTS}/users/alice`, { attributes: { long: 'x'.repeat(3_000) } })
    await verdict.put(`${FACTS}/bulk/users`, {
      operations: Array.from({ length: 101 }, (_, i) => ({ key: `u${i}` })),
    })
    await verdict.delete(`${FACTS}/users/alice`)
    const found = await entries(verdict)
    expect(found.map(each => [each.operation, JSON.stringify(each.input), each.is_input_cut])).toEqual([
      ['deleteUser', '{"user_id":"alice"}', false],
      ['replaceUsers', '{}', true],
      ['updateUser', '{"user_id":"alice"}', true],
      ['updateUser', '{"user_id":"alice","body":{"attributes":{"__proto__":{"a":1}}}}', false],
      ['updateUser', '{"user_id":"alice","body":{"attributes":{"level":3}}}', false],
      ['createUser', '{"body":{"key":"alice"}}', false],
    ])
  })

  test('in the log of the organization names the project and environment, and the ids before and after an import', async () => {
    const verdict = await startedService()
    await neighbourOf(verdict, 'neighbour')
    const path = '/v2/projects/default/envs/neighbour'
    const { body: before } = await verdict.admin<{ id: string }>('GET', path)
    const text = content({ kind: 'tenant', key: 'default', name: 'D' })
    const imported = await importInto(verdict, 'neighbour', text, ADMIN_KEY)
    expect((await verdict.admin('DELETE', path)).status).toBe(204)
    const found = await entries(verdict, '', ORGANIZATION_LOG)
    const named = { proj_id: 'default', env_id: 'neighbour' }
    const { environment_id } = imported.body as { environment_id: string }
    expect(found.slice(0, 2).map(({ operation, input }) => [operation, input])).toEqual([
      ['deleteEnvironment', named],
      [
        'importContent',
        { ...named, environment_id, replaced_environment_id: before.id, query: { replace: false } },
      ],
    ])
  })

  test('is not created by requests that fail, change nothing or only read', async () => {
    const verdict = await startedService()
    await verdict.user('alice')
    const [before] = await entries(verdict)
    expect((await verdict.post(`${FACTS}/users`, { key: 'alice' })).status).toBe(409)
    expect((await verdict.post(`${FACTS}/users`, {})).status).toBe(422)
    expect((await verdict.delete(`${FACTS}/users/nobody`)).status).toBe(404)
    expect((await verdict.send('DELETE', `${FACTS}/users/alice`, { key: 'nonsense' })).status).toBe(401)
    await verdict.allows('alice', 'read', 'document')
    await verdict.post('/allowed/bulk', [question('alice', 'read', 'document')])
    const [after] = await entries(verdict)
    expect(after).toEqual(before)
  })

  test('is created only once by a command that is retried because of conflicting writes', async () => {
    const verdict = await startedService({ storeUrl: `lmdb:${storeDirectory()}` })
    await verdict.user('alice')
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        verdict.patch(`${FACTS}/users/alice`, { attributes: { index } }),
      ),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    const found = await entries(verdict, '&operation=updateUser')
    expect(found).toHaveLength(20)
    expect(new Set(found.map(({ sequence }) => sequence)).size).toBe(20)
  })

  test('has the first 128 characters of a long request id', async () => {
    const verdict = await startedService()
    const headers = { 'x-request-id': 'r'.repeat(1_000) }
    await verdict.send('POST', `${FACTS}/users`, { body: { key: 'alice' }, headers })
    expect((await entries(verdict))[0]!.request_id).toBe('r'.repeat(128))
  })
})

describe('the audit log', () => {
  test('is listed newest first or oldest first, in pages without gaps or overlaps', async () => {
    const verdict = await startedService()
    for (let index = 0; index < 7; index += 1) await verdict.user(`user-${index}`)
    const page = async (query: string) => {
      const { body } = await verdict.get<Envelope<AuditEntry>>(`${LOG}?${query}`)
      expect([body.total_count, body.page_count]).toEqual([7, Math.ceil(7 / 3)])
      return body.data.map(({ input }) => (input['body'] as { key: string }).key.slice(5)).join('')
    }
    for (const filter of ['', '&operation=createUser', '&api_key_id=' + (await keyId(verdict))]) {
      const newest = [1, 2, 3, 4].map(number => page(`page=${number}&per_page=3${filter}`))
      expect(await Promise.all(newest)).toEqual(['654', '321', '0', ''])
      const oldest = [1, 2, 3, 4].map(number => page(`page=${number}&per_page=3&order=oldest${filter}`))
      expect(await Promise.all(oldest)).toEqual(['012', '345', '6', ''])
    }
  })

  test('can be filtered by operation, key, actor, request and time', async () => {
    const verdict = await startedService()
    const headers = { 'x-request-id': 'the-one', 'x-actor': 'J%C3%B6', 'x-actor-for': 'ann, bob' }
    await verdict.user('alice')
    await verdict.send('POST', `${FACTS}/users`, { key: ADMIN_KEY, body: { key: 'bob' }, headers })
    await verdict.tenant('acme')
    const all = await entries(verdict)
    expect(all.map(({ operation }) => operation)).toEqual(['createTenant', 'createUser', 'createUser'])
    const found = async (query: string) =>
      (await entries(verdict, query)).map(({ id }) => all.findIndex(each => each.id === id))
    expect(await found('&operation=createTenant')).toEqual([0])
    expect(await found('&api_key_id=admin')).toEqual([1])
    expect(await found(`&api_key_id=${(await keyId(verdict)).toUpperCase()}`)).toEqual([0, 2])
    expect(await found(`&api_key_id=${randomUUID()}`)).toEqual([])
    expect(await found('&request_id=the-one')).toEqual([1])
    for (const name of ['J%C3%B6', 'bob', 'bob&actor_kind=claimed']) {
      expect(await found(`&actor=${name}`), name).toEqual([1])
    }
    for (const name of ['J', 'j%C3%B6', 'ann,bob', 'bob&actor_kind=none']) {
      expect(await found(`&actor=${name}`), name).toEqual([])
    }
    expect([await found('&actor_kind=claimed'), await found('&actor_kind=none')]).toEqual([[1], [0, 2]])
    const [newest] = all
    expect(await found(`&since=${newest!.created_at}&operation=createTenant`)).toEqual([0])
    expect(await found(`&until=${newest!.created_at}&operation=createTenant`)).toEqual([])
    expect(await found('&until=2020-01-01T00:00:00Z')).toEqual([])
    expect(await found('&since=2020-01-01T00:00:00%2B02:00')).toEqual([0, 1, 2])
    for (const query of [
      'since=yesterday',
      'since=2016-12-31T23:59:60Z',
      'order=random',
      'page=0',
      'actor_kind=x',
    ]) {
      expect(refusal(await verdict.get(`${LOG}?${query}`))[0], query).toBe(422)
    }
  })

  test('can be read only with a key of its environment, or of its organization', async () => {
    const verdict = await startedService()
    const neighbour = await neighbourOf(verdict, 'neighbour')
    await verdict.user('alice')
    const theirs = '/v2/audit-log/default/neighbour'
    expect((await verdict.send('GET', LOG, { key: neighbour })).status).toBe(403)
    const { body } = await verdict.send<Envelope<AuditEntry>>('GET', theirs, { key: neighbour })
    expect(body.data).toEqual([])
    for (const key of [API_KEY, neighbour]) {
      expect((await verdict.send('GET', ORGANIZATION_LOG, { key })).status).toBe(403)
    }
    const found = await entries(verdict, '', ORGANIZATION_LOG)
    expect(found).toMatchObject([
      { operation: 'createEnvironment', api_key_id: null, input: { proj_id: 'default' } },
    ])
    expect(JSON.stringify(found)).not.toContain(neighbour)
  })

  test('survives a restart', async () => {
    const verdict = await startedService({ storeUrl: `lmdb:${storeDirectory()}` })
    await verdict.user('alice')
    const before = await entries(verdict)
    expect(before).toHaveLength(1)
    expect(await entries(await verdict.restart())).toEqual(before)
  })

  test('is shared by all nodes on one Redis', async () => {
    const [one, other] = (await startedNodes(redis, 2)) as [Client, Client]
    await one.user('alice')
    const put = await other.post(`${FACTS}/users`, { key: 'bob' })
    const sequence = Number(revisionOf(put).split('.')[1])
    for (const node of [one, other]) {
      // The other node might not have received the change yet.
      for (;;) {
        const found = await entries(node)
        if (found.length < 2) continue
        expect(found[0]).toMatchObject({ operation: 'createUser', input: { body: { key: 'bob' } }, sequence })
        expect(found).toHaveLength(2)
        break
      }
    }
  })
})

test('retention removes all entries that are too old, and no other records; 0 keeps all entries', async () => {
  let now = 1_700_000_000_000
  const store = await openStore('memory:', listRule)
  const environment = await store.environment('environment')
  const runtime = {
    now: () => now,
    newCommitId: () => randomBytes(16),
    elapsedMs: () => 0,
    attributesBytesMax: 65_536,
    onCommit: () => {},
  }
  const commits = new DraftCommits(environment, runtime)
  const add = (count: number) =>
    commits.run(records => {
      for (let index = 0; index < count; index += 1) {
        const about = { keyId: null, requestId: 'r', operation: 'createUser', input: {} }
        const rest = {
          ...about,
          isInputCut: false,
          sequence: null,
          aboutNames: null,
          aboutIds: null,
          actor: null,
        }
        records.put({ kind: 'audit', id: randomUUID(), createdAt: now, ...rest })
      }
      const times = { createdAt: now, updatedAt: now }
      const about = { name: 'T', description: null, attributes: null }
      records.put({ kind: 'tenant', id: randomUUID(), key: `t${now}`, ...about, ...times })
    })
  await add(450)
  now += 1_000
  await add(30)
  const left = () => environment.view.count(lists.all('audit'))
  await new AuditRetention(environment, runtime, 0).trim()
  expect(left()).toBe(480)
  const retention = new AuditRetention(environment, runtime, 1_000)
  await retention.trim()
  expect(left()).toBe(480)
  now += 1
  await Promise.all([retention.trim(), new AuditRetention(environment, runtime, 1_000).trim()])
  expect(left()).toBe(30)
  expect(environment.view.count(lists.all('tenant'))).toBe(2)
  await store.close()
  // The removal does not report an error if the store is closed.
  now += 10_000
  await retention.trim().catch(error => expect(error).toBe(undefined))
})
