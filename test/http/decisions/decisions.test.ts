/** `/allowed` and `/allowed/bulk` over HTTP (native.md A.1 to A.3, D-14, D-15, D-31, D-42). */
import { describe, expect, test } from 'vitest'
import type { User } from '#model/wire/user.ts'
import { changedAt } from '../../support/access-requests.ts'
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
// Known, and allowed everything on one document: a question that changes one name changes one thing.
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

describe('a decision', () => {
  test('is 200 with allow and result, which say the same, and nothing else', async () => {
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

  test('is an allow where everything is known and permitted', async () => {
    expect((await ask(question('known', 'read', 'document:known', 'default'))).body).toEqual(ALLOWED)
  })

  test.each([
    ['an unknown user', question('nobody', 'read', 'document:known')],
    ['an unknown action', question('known', 'control the usa', 'document:known')],
    ['an unknown type', question('known', 'read', 'castle:known')],
    ['an unknown tenant', question('known', 'read', 'document:known', 'nowhere')],
    ['an unknown instance', question('known', 'read', 'document:never-heard-of')],
    ['a type without actions', question('known', 'read', 'plain:known')],
    ['a type without actions, as such', question('known', 'read', 'plain')],
    [
      'names out of the prototype',
      question('__proto__', 'constructor', 'toString:valueOf', 'hasOwnProperty'),
    ],
  ])('is a deny with 200 about %s', async (_about, body) => {
    const answer = await ask(body)
    expect([answer.status, answer.body]).toEqual([200, DENIED])
  })
})

test('the question about a type as a whole is answered by tenant roles alone', async () => {
  const [reader, viewer] = fresh('reader', 'viewer')
  await verdict.users(reader, viewer)
  await verdict.assign(reader, 'reader', 'default')
  await verdict.assign(viewer, 'viewer', 'document:somewhere')
  expect(await verdict.allows(reader, 'read', 'document')).toBe(true)
  expect(await verdict.allows(viewer, 'read', 'document')).toBe(false)
  expect((await ask({ ...question(reader, 'read', 'document'), sdk: null })).body).toEqual(ALLOWED)
  const withNullKey = {
    user: { key: reader },
    action: 'read',
    resource: { type: 'document', key: null, tenant: null },
  }
  expect((await ask(withNullKey)).body).toEqual(ALLOWED)
})

describe('tenants', () => {
  test('a tenant role counts in its tenant, on instances that need not exist', async () => {
    const [alice] = fresh('alice')
    await verdict.user(alice)
    await verdict.assign(alice, 'reader', 'acme')
    expect(await verdict.allows(alice, 'read', 'document:unheard', 'acme')).toBe(true)
    expect(await verdict.allows(alice, 'read', 'document:unheard', 'default')).toBe(false)
    expect(await verdict.allows(alice, 'read', 'document:unheard'), 'without a tenant: default').toBe(false)
  })

  test('naming another tenant than the instance lives in is a deny, whatever roles are held (native.md D-14)', async () => {
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

describe('the body of a question', () => {
  test('may be full of fields nobody asked for, whole user records included', async () => {
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

  test('may say null for everything optional', async () => {
    const nothing = { email: null, first_name: null, last_name: null, firstName: null, lastName: null }
    const answer = await ask({
      user: { key: 'nobody', ...nothing, attributes: null },
      action: 'read',
      resource: { type: 'document', key: null, tenant: null, attributes: null, context: null },
      context: null,
      sdk: null,
    })
    expect([answer.status, answer.body]).toEqual([200, DENIED])
  })

  const TWO_INSTANCES = { type: 'document', id: 'a', key: 'b' }
  const good = {
    user: { key: 'u' },
    action: 'read',
    resource: { type: 'document', key: 'd', tenant: 'default' },
  }
  test('may have the older form: the user is a text, and the instance is resource.id', async () => {
    const [holder, other, d] = fresh('holder', 'other', 'document:d')
    await verdict.users(holder, other)
    await verdict.assign(holder, 'editor', d)
    const key = d.slice('document:'.length)
    const older = (user: unknown, resource: object = { id: key }) => {
      return { user, action: 'read', resource: { type: 'document', tenant: 'default', ...resource } }
    }
    const asked: readonly [object, Allowed][] = [
      [older(holder), ALLOWED],
      [older(holder, { key }), ALLOWED],
      [older(holder, { id: key, key }), ALLOWED],
      [older(other), DENIED],
      // Without an instance it is about the type, and in the present form `id` names none.
      [older(holder, {}), DENIED],
      [older({ key: holder }), DENIED],
      [older({ key: holder }, { key }), ALLOWED],
    ]
    for (const [body, right] of asked) expect((await ask(body)).body).toEqual(right)
    const { body } = await verdict.post(
      '/allowed/bulk',
      asked.map(([each]) => each),
    )
    expect(body).toEqual({ allow: asked.map(([, right]) => right) })
    const explained = await verdict.post<{ allow: boolean }>('/allowed/explain', older(holder))
    expect([explained.status, explained.body.allow]).toEqual([200, true])
    const tenants = await verdict.post('/allowed/all-tenants', older(holder))
    expect(tenants.body).toMatchObject({ allowed_tenants: [{ tenant: { key: 'default' } }] })
  })

  test('may have an empty instance key: it asks about the type, as the official command line does (native.md D-42)', async () => {
    const [user, holder, role, d] = fresh('user', 'holder', 'role', 'document:d')
    await verdict.tenantRole(role, ['document:read'])
    await verdict.users(user, holder)
    await verdict.assign(user, role, 'default')
    await verdict.assign(holder, 'editor', d)
    const about = (key: string, resource: object) => {
      return { user: { key }, action: 'read', resource: { type: 'document', ...resource } }
    }
    // A role on an instance says nothing of the type.
    const asked = [about(user, { key: '' }), about(holder, { key: '' }), about(user, { key: 'x' })]
    const { body } = await verdict.post<{ allow: Allowed[] }>('/allowed/bulk', asked)
    expect(body.allow).toEqual([ALLOWED, DENIED, ALLOWED])
    for (const [index, each] of asked.entries()) expect((await ask(each)).body).toEqual(body.allow[index])
    const [whose, ofType] = await Promise.all(
      [{ key: '' }, {}].map(key =>
        verdict.post('/authorized_users', { action: 'read', resource: { type: 'document', ...key } }),
      ),
    )
    expect(whose).toMatchObject({ status: 200, body: ofType!.body })
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
  ])(
    'with a wrong %s (%j) is 400 with {code, message}, and says where (native.md D-42)',
    async (place, values) => {
      for (const value of values) {
        const answer = await verdict.post<NativeProblem>('/allowed', changedAt(good, place, value))
        expect([answer.status, answer.body]).toEqual([400, { code: 400, message: expect.any(String) }])
        expect(answer.body.message).toContain(place)
      }
    },
  )

  test('of the older form is 400 with two instances', async () => {
    const body = changedAt({ ...good, user: 'u' }, 'resource', TWO_INSTANCES)
    const answer = await verdict.post<NativeProblem>('/allowed', body)
    expect([answer.status, answer.body]).toEqual([400, { code: 400, message: expect.stringMatching(/./) }])
  })
})

describe('a bulk', () => {
  test('answers in order, each result as a single answer would be', async () => {
    const [alice, d1] = fresh('alice', 'document:d1')
    await verdict.user(alice)
    await verdict.assign(alice, 'viewer', d1)
    const answer = await verdict.post('/allowed/bulk', [
      question(alice, 'read', d1),
      question(alice, 'update', d1),
      question('nobody', 'read', d1),
      { ...question(alice, 'read', d1, 'default'), context: {} },
    ])
    expect([answer.status, answer.body]).toEqual([200, { allow: [ALLOWED, DENIED, DENIED, ALLOWED] }])
  })

  test('of nothing answers nothing', async () => {
    const answer = await verdict.post('/allowed/bulk', [])
    expect([answer.status, answer.body]).toEqual([200, { allow: [] }])
  })

  test('is 400 as a whole for one bad element, and says which', async () => {
    const good = question('u', 'read', 'document')
    const answer = await verdict.post<NativeProblem>('/allowed/bulk', [good, { ...good, action: '' }, good])
    expect(answer.status).toBe(400)
    expect(answer.body.message).toContain('[1].action')
  })

  test('takes exactly MAX_BULK_CHECKS and is 400 with one more', async () => {
    const questions = Array.from({ length: BULK_MAX }, () => question('u', 'read', 'document'))
    expect((await verdict.allowsAll(questions)).length).toBe(BULK_MAX)
    const answer = await verdict.post<NativeProblem>('/allowed/bulk', [...questions, questions[0]])
    expect([answer.status, answer.body.code]).toEqual([400, 400])
    expect(answer.body.message).toContain(String(BULK_MAX))
  })
})

test('a write is in force on every thread when its answer is there', async () => {
  const service = await startedService({ httpThreads: 2 })
  await service.createDocumentModel()
  await service.user('alice')
  await service.group('team')
  await service.grant('team', 'viewer', 'document:d1')
  // Every request without keep-alive is a connection of its own, and the kernel spreads those over the threads.
  const ownConnection = { connection: 'close' }
  const check = async () => {
    const options = { body: question('alice', 'read', 'document:d1'), headers: ownConnection }
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => service.send<Allowed>('POST', '/allowed', options)),
    )
    return [...new Set(answers.map(answer => answer.body.allow))]
  }
  for (let round = 0; round < 15; round += 1) {
    const joined = await service.send('PUT', memberPath('team', 'alice'), {
      body: { tenant: 'default' },
      headers: ownConnection,
    })
    expect([joined.status, await check()]).toEqual([200, [true]])
    const left = await service.send('DELETE', memberPath('team', 'alice'), { headers: ownConnection })
    expect([left.status, await check()]).toEqual([204, [false]])
  }
})
