/** `/allowed/all-tenants`, `/user-tenants` and `/local/role_assignments` (conditions.md 10). */
import { describe, expect, test } from 'vitest'
import { TRIED_TENANTS_MAX } from '#model/limits.ts'
import { answerFindings } from '#testing/requests/routes.ts'
import {
  type Client,
  FACTS,
  question,
  sharedService,
  startedService,
} from '#testing/processes/running-service.ts'

type Body = Readonly<Record<string, unknown>>

interface Allowed {
  readonly allowed_tenants: readonly {
    readonly allow: true
    readonly result: true
    readonly tenant: { readonly key: string; readonly attributes: Body }
  }[]
}

/** Creates readers and updaters in tenants with and without attributes, and one document in `acme`. */
async function fill(client: Client): Promise<void> {
  await client.createDocumentModel()
  await client.post(`${FACTS}/tenants`, { key: 'acme', name: 'Acme', attributes: { plan: 'gold' } })
  for (const key of ['10', '9', 'umbrella']) await client.tenant(key)
  await client.tenantRole('reader', ['document:read'])
  await client.tenantRole('updater', ['document:update'])
  await client.users('alice', 'bob')
  for (const tenant of ['acme', '9', '10']) await client.assign('alice', 'reader', tenant)
  await client.assign('alice', 'updater', 'umbrella')
  await client.instance('document:d1', 'acme')
  await client.assign('alice', 'editor', 'document:d1', 'acme')
}

/**
 * A service with a rule: a user whose request attributes contain the mark of staff can read documents in all
 * tenants except `9`.
 */
async function serviceWithRule(): Promise<Client> {
  const client = await startedService()
  await fill(client)
  await client.conditionSet({ key: 'staff', conditions: { 'user.staff': { equals: true } } })
  const conditions = { 'resource.tenant': { 'not-equals': '9' } }
  await client.conditionSet({ key: 'gold', type: 'resourceset', resource_id: 'document', conditions })
  await client.setRule('staff', 'document:read', 'gold')
  return client
}

const stranger = question('stranger', 'read', 'document')
const staff = { ...stranger, user: { ...stranger.user, attributes: { staff: true } } }

const verdict = await sharedService()
await fill(verdict)

async function allowed(body: Body, client = verdict): Promise<Allowed['allowed_tenants']> {
  const answer = await client.post<Allowed>('/allowed/all-tenants', body)
  expect([answer.status, answer.body]).toEqual([200, expect.anything()])
  expect(answerFindings('getAllowedTenants', 200, answer.body)).toEqual([])
  expect(Object.keys(answer.body)).toEqual(['allowed_tenants'])
  return answer.body.allowed_tenants
}

async function keys(body: Body, client = verdict): Promise<string[]> {
  return (await allowed(body, client)).map(({ tenant }) => tenant.key)
}

describe('/allowed/all-tenants', () => {
  test('lists the tenants that allow the check, with attributes, in byte order of their keys', async () => {
    expect(await allowed(question('alice', 'read', 'document'))).toEqual([
      { allow: true, result: true, tenant: { key: '10', attributes: {} } },
      { allow: true, result: true, tenant: { key: '9', attributes: {} } },
      { allow: true, result: true, tenant: { key: 'acme', attributes: { plan: 'gold' } } },
    ])
    expect(await keys(question('alice', 'update', 'document'))).toEqual(['umbrella'])
  })

  test('checks a stored instance only in its tenant, and an unknown instance in all tenants', async () => {
    expect(await keys(question('alice', 'read', 'document:d1'))).toEqual(['acme'])
    expect(await keys(question('alice', 'update', 'document:d1'))).toEqual(['acme'])
    expect(await keys(question('alice', 'read', 'document:unheard-of'))).toEqual(['10', '9', 'acme'])
  })

  test('lists no tenants for unknown names', async () => {
    for (const [user, action, resource] of [
      ['nobody', 'read', 'document'],
      ['bob', 'read', 'document'],
      ['alice', 'fly', 'document'],
      ['alice', 'read', 'castle'],
      ['constructor', 'toString', '__proto__'],
    ] as const) {
      expect(await keys(question(user, action, resource))).toEqual([])
    }
  })

  test('evaluates rules in every stored tenant, with the attributes of the request', async () => {
    const client = await serviceWithRule()
    expect(await keys(stranger, client)).toEqual([])
    expect(await keys(staff, client)).toEqual(['10', 'acme', 'default', 'umbrella'])
    for (const tenant of ['10', '9', 'acme', 'default', 'umbrella', 'nowhere']) {
      const check = { ...staff, resource: { ...staff.resource, tenant } }
      const { body } = await client.post<{ allow: boolean }>('/allowed', check)
      expect([tenant, body.allow]).toEqual([tenant, !['9', 'nowhere'].includes(tenant)])
    }
  })

  test('with rules checks up to TRIED_TENANTS_MAX tenants; if there are more, a 400 states what to do', async () => {
    const client = await serviceWithRule()
    const count = 5
    const more = Array.from({ length: TRIED_TENANTS_MAX - count }, (_, index) => ({
      key: `t${index}`,
      name: 'T',
    }))
    expect((await client.post(`${FACTS}/bulk/tenants`, { operations: more })).status).toBe(200)
    expect(await keys(staff, client)).toHaveLength(TRIED_TENANTS_MAX - 1)
    await client.tenant('one-too-many')
    const answer = await client.post<{ message: string }>('/allowed/all-tenants', staff)
    expect([answer.status, answer.body]).toMatchObject([400, { code: 400 }])
    for (const part of [`${TRIED_TENANTS_MAX}`, 'in bulk', 'instance'])
      expect(answer.body.message).toContain(part)
    const named = { ...staff, resource: { ...staff.resource, key: 'd1' } }
    expect(await keys(named, client)).toEqual(['acme'])
    // This action has no rule.
    expect(await keys(question('alice', 'update', 'document'), client)).toEqual(['umbrella'])
  })
})

describe('/user-tenants', () => {
  const held = async (user: string, client = verdict) => {
    const answer = await client.post('/user-tenants', { user: { key: user }, context: {} })
    expect(answerFindings('getUserTenants', 200, answer.body)).toEqual([])
    return answer.body
  }

  test('lists the tenants in which the user has any role, in order of their keys', async () => {
    expect(await held('alice')).toEqual([
      { key: '10', attributes: {} },
      { key: '9', attributes: {} },
      { key: 'acme', attributes: { plan: 'gold' } },
      { key: 'umbrella', attributes: {} },
    ])
  })

  test('is empty for a user without roles and for an unknown user', async () => {
    expect(await held('bob')).toEqual([])
    expect(await held('nobody')).toEqual([])
  })
})

describe('/local/role_assignments', () => {
  const listed = async (query = '', client = verdict) => {
    const answer = await client.get<Body[]>(`/local/role_assignments${query}`)
    expect([answer.status, answerFindings('listLocalRoleAssignments', 200, answer.body)]).toEqual([200, []])
    return answer.body
  }

  test('lists only the user, role, tenant and instance of each assignment', async () => {
    expect(await listed()).toEqual([
      { user: 'alice', role: 'reader', tenant: 'acme' },
      { user: 'alice', role: 'reader', tenant: '9' },
      { user: 'alice', role: 'reader', tenant: '10' },
      { user: 'alice', role: 'updater', tenant: 'umbrella' },
      { user: 'alice', role: 'editor', tenant: 'acme', resource_instance: 'document:d1' },
    ])
  })

  test.each([
    ['user=alice&role=updater', ['umbrella']],
    ['user=bob', []],
    ['user=nobody', []],
    ['tenant=acme', ['acme', 'acme']],
    ['role=reader', ['acme', '9', '10']],
    ['resource=document', ['acme']],
    ['resource_instance=document:d1', ['acme']],
    ['tenant=9&resource=document', []],
    ['page=2&per_page=3', ['umbrella', 'acme']],
    ['page=3&per_page=3', []],
    ['page=1000000001', []],
    ['page=99999999999999999999', []],
    ['user=', []],
    ['role=', []],
    ['tenant=', []],
    ['resource=', []],
    ['resource_instance=', []],
    ['user=alice&tenant=', []],
  ])('?%s returns the matching assignments of the page', async (query, tenants) => {
    expect((await listed(`?${query}`)).map(({ tenant }) => tenant)).toEqual(tenants)
  })

  test.each(['per_page=101', 'per_page=0', 'page=0', 'page=1.5'])('?%s is rejected with 400', async query => {
    const answer = await verdict.get(`/local/role_assignments?${query}`)
    expect([answer.status, answer.body]).toEqual([400, { code: 400, message: expect.stringMatching(/./) }])
  })

  test('shows the expiration time of an assignment that expires', async () => {
    const client = await startedService()
    await client.createDocumentModel()
    await client.tenantRole('reader', [])
    await client.users('alice', 'bob')
    const expires_at = '2131-05-01T10:00:00.000Z'
    for (const grant of [{ user: 'alice', expires_at }, { user: 'bob' }]) {
      await client.post(`${FACTS}/role_assignments`, { role: 'reader', tenant: 'default', ...grant })
    }
    expect(await listed('', client)).toEqual([
      { user: 'alice', role: 'reader', tenant: 'default', expires_at },
      { user: 'bob', role: 'reader', tenant: 'default' },
    ])
  })

  test('returns 30 assignments per page by default, and at most 100', async () => {
    const client = await startedService()
    await client.createDocumentModel()
    await client.tenantRole('reader', [])
    const users = Array.from({ length: 101 }, (_, index) => `u${index}`)
    await client.post(`${FACTS}/bulk/users`, {
      operations: users.map(key => ({ key, role_assignments: [{ role: 'reader', tenant: 'default' }] })),
    })
    expect(await listed('', client)).toHaveLength(30)
    expect(await listed('?per_page=100', client)).toHaveLength(100)
  })

  test.each(['/local', '/local/users', '/local/tenants'])(
    'is the only path of /local: %s is 404',
    async path => {
      expect((await verdict.get(path)).status).toBe(404)
    },
  )
})

const CALLS = [
  ['POST', '/allowed/all-tenants', question('alice', 'read', 'document')],
  ['POST', '/user-tenants', { user: { key: 'alice' } }],
] as const

describe.each(CALLS)('%s %s', (method, path, body) => {
  test.each([
    ['no user', { user: undefined }],
    ['an empty key', { user: { key: '' } }],
    ['a number as user', { user: 7 }],
    ['a text as context', { context: 'x' }],
  ])('rejects %s with 400 and {code, message}', async (_about, wrong) => {
    const answer = await verdict.send(method, path, { body: { ...(body as Body), ...wrong } })
    expect([answer.status, answer.body]).toEqual([400, { code: 400, message: expect.stringMatching(/./) }])
  })

  test('is complete at MAX_LISTED_ENTRIES and MAX_LISTED_BYTES; above these limits, a 400 states what to do', async () => {
    const count = path === '/user-tenants' ? 4 : 3
    const whole = await verdict.send(method, path, { body })
    const bytes = JSON.stringify(whole.body).length
    const exact = await startedService({ listedEntriesMax: count, listedBytesMax: bytes })
    const fewer = await startedService({ listedEntriesMax: count - 1 })
    const shorter = await startedService({ listedBytesMax: bytes - 30 })
    for (const client of [exact, fewer, shorter]) await fill(client)
    expect(await exact.send(method, path, { body })).toMatchObject({ status: 200, body: whole.body })
    for (const client of [fewer, shorter]) {
      const answer = await client.send<{ message: string }>(method, path, { body })
      expect([answer.status, answer.body]).toMatchObject([400, { code: 400 }])
      expect(answer.body.message).toMatch(/MAX_LISTED|tenants to check/)
      expect(answer.body.message).toMatch(/instead/)
    }
  })
})
