/** `/allowed` and `/allowed/bulk` over HTTP (native.md A.1 to A.3, D-14, D-15, D-31, D-42). */
import { describe, expect, test } from 'vitest'
import type { User } from '#entities/user.ts'
import { changedAt } from '../../support/calls/access-requests.ts'
import {
  type Answer,
  FACTS,
  fresh,
  memberPath,
  question,
  sharedService,
  startedService,
} from '#testing/processes/running-service.ts'

const BULK_MAX = 50
const verdict = await sharedService({ bulkChecksMax: BULK_MAX })
await verdict.createDocumentModel()
await verdict.tenant('acme')
await verdict.tenantRole('reader', ['document:read'])
// A known user with all permissions on one document, so that each check below differs in one name.
await verdict.user('known')
await verdict.assign('known', 'editor', 'document:known')
await verdict.resource({ key: 'plain', roles: { owner: { name: 'Owner' } } })
await verdict.assign('known', 'owner', 'plain:known')

interface Allowed {
  readonly allow: boolean
  readonly result: boolean
}

interface NativeProblem {
  readonly code: number
  readonly message: string
}

const DENIED = { allow: false, result: false }
const ALLOWED = { allow: true, result: true }

function ask(body: unknown): Promise<Answer<Allowed>> {
  return verdict.post('/allowed', body)
}

describe('a native check', () => {
  test('returns 200 with exactly `allow` and `result`, which are equal', async () => {
    const [alice, d1] = fresh('alice', 'document:d1')
    await verdict.user(alice)
    await verdict.assign(alice, 'viewer', d1)
    const allowed = await ask(question(alice, 'read', d1))
    expect([allowed.status, allowed.body]).toEqual([200, ALLOWED])
    const denied = await ask(question(alice, 'update', d1))
    expect([denied.status, denied.body]).toEqual([200, DENIED])
    expect(allowed.headers.get('content-type')).toBe('application/json')
    expect(allowed.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('is allowed if all names are known and a role permits it', async () => {
    expect((await ask(question('known', 'read', 'document:known', 'default'))).body).toEqual(ALLOWED)
  })

  test.each([
    ['an unknown user', question('unknown', 'read', 'document:known')],
    ['an unknown action', question('known', 'fly away', 'document:known')],
    ['an unknown type', question('known', 'read', 'castle:known')],
    ['an unknown tenant', question('known', 'read', 'document:known', 'nowhere')],
    ['an unknown instance', question('known', 'read', 'document:unknown')],
    ['an instance of a type without actions', question('known', 'read', 'plain:known')],
    ['a type without actions', question('known', 'read', 'plain')],
    [
      'names of prototype members',
      question('__proto__', 'constructor', 'toString:valueOf', 'hasOwnProperty'),
    ],
  ])('is denied with 200 for %s', async (_about, body) => {
    const answer = await ask(body)
    expect([answer.status, answer.body]).toEqual([200, DENIED])
  })
})

test('only tenant roles count in the check of a resource type', async () => {
  const [reader, viewer] = fresh('reader', 'viewer')
  await verdict.users(reader, viewer)
  await verdict.assign(reader, 'reader', 'default')
  await verdict.assign(viewer, 'viewer', 'document:somewhere')
  expect(await verdict.allows(reader, 'read', 'document')).toBe(true)
  expect(await verdict.allows(viewer, 'read', 'document')).toBe(false)
  const check = question(reader, 'read', 'document')
  expect((await ask({ ...check, sdk: null })).body).toEqual(ALLOWED)
  const resource = { type: 'document', key: null, tenant: null }
  expect((await ask({ ...check, resource })).body).toEqual(ALLOWED)
})

describe('the tenant of a check', () => {
  test('selects the tenant roles that apply, even to unknown instances', async () => {
    const [alice] = fresh('alice')
    await verdict.user(alice)
    await verdict.assign(alice, 'reader', 'acme')
    expect(await verdict.allows(alice, 'read', 'document:new', 'acme')).toBe(true)
    expect(await verdict.allows(alice, 'read', 'document:new', 'default')).toBe(false)
    expect(await verdict.allows(alice, 'read', 'document:new'), 'without a tenant: default').toBe(false)
  })

  test('causes a deny if it is not the tenant of the instance, with any roles (native.md D-14)', async () => {
    const [alice, away] = fresh('alice', 'document:away')
    await verdict.user(alice)
    await verdict.instance(away, 'acme')
    await verdict.assign(alice, 'editor', away, 'acme')
    await verdict.assign(alice, 'reader', 'default')
    await verdict.assign(alice, 'reader', 'acme')
    expect(await verdict.allows(alice, 'update', away, 'acme')).toBe(true)
    expect(await verdict.allows(alice, 'update', away)).toBe(true)
    expect(await verdict.allows(alice, 'read', away, 'default')).toBe(false)
    expect(await verdict.allows(alice, 'read', away, 'nowhere')).toBe(false)
  })
})

describe('the body of a native check', () => {
  test('can have unknown members and whole user records', async () => {
    const [alice, d1] = fresh('alice', 'document:d1')
    await verdict.user(alice)
    await verdict.assign(alice, 'viewer', d1)
    await verdict.assign(alice, 'reader', 'default')
    const { body: user } = await verdict.post<User>(`${FACTS}/users`, {
      key: `${alice}-whole`,
      email: 'a@example.com',
      attributes: { level: 3 },
      role_assignments: [{ role: 'reader', tenant: 'default' }],
    })
    expect(user.roles).toEqual([{ role: 'reader', tenant: 'default' }])
    const answer = await ask({
      user: { ...user, firstName: 'A', lastName: 'B', more: [1, { two: null }] },
      action: 'read',
      resource: { type: 'document', key: 'any', tenant: 'default', attributes: { a: [1] }, id: 7 },
      context: { now: 'then' },
      sdk: 'node',
      extra: true,
    })
    expect([answer.status, answer.body]).toEqual([200, ALLOWED])
  })

  test('can have null in all optional members', async () => {
    const nothing = { email: null, first_name: null, last_name: null, firstName: null, lastName: null }
    const answer = await ask({
      user: { key: 'unknown', ...nothing, attributes: null },
      action: 'read',
      resource: { type: 'document', key: null, tenant: null, attributes: null, context: null },
      context: null,
      sdk: null,
    })
    expect([answer.status, answer.body]).toEqual([200, DENIED])
  })

  const good = question('u', 'read', 'document:d', 'default')

  test('can have the older form, with a string as user and the instance in `resource.id`', async () => {
    const [holder, other, d] = fresh('holder', 'other', 'document:d')
    await verdict.users(holder, other)
    await verdict.assign(holder, 'editor', d)
    const key = d.slice('document:'.length)
    const older = (user: unknown, resource: object = { id: key }) => {
      return { user, action: 'read', resource: { type: 'document', tenant: 'default', ...resource } }
    }
    const checks: readonly [object, Allowed][] = [
      [older(holder), ALLOWED],
      [older(holder, { key }), ALLOWED],
      [older(holder, { id: key, key }), ALLOWED],
      [older(other), DENIED],
      // Without an instance, the request checks the type. In the current form, `id` has no effect.
      [older(holder, {}), DENIED],
      [older({ key: holder }), DENIED],
      [older({ key: holder }, { key }), ALLOWED],
    ]
    for (const [body, expected] of checks) expect((await ask(body)).body).toEqual(expected)
    const bulk = checks.map(([body]) => body)
    const { body } = await verdict.post('/allowed/bulk', bulk)
    expect(body).toEqual({ allow: checks.map(([, expected]) => expected) })
    const explained = await verdict.post<{ allow: boolean }>('/allowed/explain', older(holder))
    expect([explained.status, explained.body.allow]).toEqual([200, true])
    const tenants = await verdict.post('/allowed/all-tenants', older(holder))
    expect(tenants.body).toMatchObject({ allowed_tenants: [{ tenant: { key: 'default' } }] })
  })

  test('can have an empty instance key, which checks the type, as in the official CLI (native.md D-42)', async () => {
    const [user, holder, role, d] = fresh('user', 'holder', 'role', 'document:d')
    await verdict.tenantRole(role, ['document:read'])
    await verdict.users(user, holder)
    await verdict.assign(user, role, 'default')
    await verdict.assign(holder, 'editor', d)
    const about = (key: string, resource: object) => {
      return { user: { key }, action: 'read', resource: { type: 'document', ...resource } }
    }
    // A role on an instance does not count for the type.
    const checks = [about(user, { key: '' }), about(holder, { key: '' }), about(user, { key: 'x' })]
    const { body } = await verdict.post<{ allow: Allowed[] }>('/allowed/bulk', checks)
    expect(body.allow).toEqual([ALLOWED, DENIED, ALLOWED])
    for (const [index, check] of checks.entries()) expect((await ask(check)).body).toEqual(body.allow[index])
    const list = (resource: object) => verdict.post('/authorized_users', { action: 'read', resource })
    const ofType = await list({ type: 'document' })
    expect(await list({ type: 'document', key: '' })).toMatchObject({ status: 200, body: ofType.body })
  })

  test.each<[place: string, values: readonly unknown[]]>([
    ['user', [undefined, '', 7, null]],
    ['user.key', [undefined, '', 7]],
    ['action', [undefined, '', { name: 'read' }, null]],
    ['resource', [undefined, 'document:d', { key: 'd' }]],
    ['resource.type', ['', null]],
    ['resource.key', [1]],
    ['resource.tenant', ['', 1]],
    ['resource.attributes', [[]]],
    ['context', ['now']],
  ])('is rejected with 400 and the position of a wrong %s (%j) (native.md D-42)', async (place, values) => {
    for (const value of values) {
      const answer = await verdict.post<NativeProblem>('/allowed', changedAt(good, place, value))
      expect([answer.status, answer.body]).toEqual([400, { code: 400, message: expect.any(String) }])
      expect(answer.body.message).toContain(place)
    }
  })

  test('is rejected with 400 if the older form has two instances', async () => {
    const body = { ...good, user: 'u', resource: { type: 'document', id: 'a', key: 'b' } }
    const answer = await verdict.post<NativeProblem>('/allowed', body)
    expect([answer.status, answer.body]).toEqual([400, { code: 400, message: expect.stringMatching(/./) }])
  })
})

describe('a bulk of checks', () => {
  test('returns the results in request order, each equal to that of a single check', async () => {
    const [alice, d1] = fresh('alice', 'document:d1')
    await verdict.user(alice)
    await verdict.assign(alice, 'viewer', d1)
    const answer = await verdict.post('/allowed/bulk', [
      question(alice, 'read', d1),
      question(alice, 'update', d1),
      question('unknown', 'read', d1),
      { ...question(alice, 'read', d1, 'default'), context: {} },
    ])
    expect([answer.status, answer.body]).toEqual([200, { allow: [ALLOWED, DENIED, DENIED, ALLOWED] }])
  })

  test('can be empty', async () => {
    const answer = await verdict.post('/allowed/bulk', [])
    expect([answer.status, answer.body]).toEqual([200, { allow: [] }])
  })

  test('is rejected with 400 and the position of an invalid element', async () => {
    const good = question('u', 'read', 'document')
    const answer = await verdict.post<NativeProblem>('/allowed/bulk', [good, { ...good, action: '' }, good])
    expect(answer.status).toBe(400)
    expect(answer.body.message).toContain('[1].action')
  })

  test('accepts at most MAX_BULK_CHECKS checks', async () => {
    const questions = Array.from({ length: BULK_MAX }, () => question('u', 'read', 'document'))
    expect((await verdict.allowsAll(questions)).length).toBe(BULK_MAX)
    const answer = await verdict.post<NativeProblem>('/allowed/bulk', [...questions, questions[0]])
    expect([answer.status, answer.body.code]).toEqual([400, 400])
    expect(answer.body.message).toContain(String(BULK_MAX))
  })
})

test('a write takes effect on every thread before its response', async () => {
  const service = await startedService({ httpThreads: 2 })
  await service.createDocumentModel()
  await service.user('alice')
  await service.group('team')
  await service.grant('team', 'viewer', 'document:d1')
  // Each request without keep-alive has its own connection. The kernel distributes connections over threads.
  const ownConnection = { connection: 'close' }
  const check = async () => {
    const options = { body: question('alice', 'read', 'document:d1'), headers: ownConnection }
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => service.send<Allowed>('POST', '/allowed', options)),
    )
    return [...new Set(answers.map(answer => answer.body.allow))]
  }
  for (let round = 0; round < 15; round += 1) {
    const options = { body: { tenant: 'default' }, headers: ownConnection }
    const joined = await service.send('PUT', memberPath('team', 'alice'), options)
    expect([joined.status, await check()]).toEqual([200, [true]])
    const left = await service.send('DELETE', memberPath('team', 'alice'), { headers: ownConnection })
    expect([left.status, await check()]).toEqual([204, [false]])
  }
})
