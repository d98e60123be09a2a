/** Tenants, users, instances, role assignments and tuples over HTTP (native.md B.6 to B.10, D-45). */
import { describe, expect, test } from 'vitest'
import type { RelationshipTuple } from '#entities/relationship-tuple.ts'
import type { ResourceInstance } from '#entities/resource-instance.ts'
import type { Resource } from '#entities/resource.ts'
import type { RoleAssignment } from '#entities/role-assignment.ts'
import type { User } from '#entities/user.ts'
import { FACTS, fresh, RESOURCES, sharedService, startedService } from '#testing/processes/running-service.ts'
import {
  DUPLICATE,
  INVALID,
  NOT_FOUND,
  OTHER_TENANT,
  OTHER_TYPE,
  type Problem,
  refusal,
} from '../../support/calls/refusals.ts'

const verdict = await sharedService()
await verdict.createDocumentModel()
await verdict.resource({
  key: 'folder',
  actions: { read: {} },
  roles: { keeper: { name: 'Keeper', permissions: ['read'] } },
  relations: { inside: 'folder' },
})
await verdict.relation('document', 'parent', 'folder')
await verdict.tenant('acme')
await verdict.tenantRole('auditor', ['document:read'])
await verdict.user('standing')

const TENANTS = `${FACTS}/tenants`
const USERS = `${FACTS}/users`
const INSTANCES = `${FACTS}/resource_instances`
const ASSIGNMENTS = `${FACTS}/role_assignments`
const TUPLES = `${FACTS}/relationship_tuples`
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000'

const auditorIn = (tenant: string) => ({ role: 'auditor', tenant })

/** Whether an instance is stored. If it is stored, creating it again returns 409. */
async function isStored(reference: string): Promise<boolean> {
  const [type, key] = reference.split(':')
  const answer = await verdict.post(INSTANCES, { resource: type, key, tenant: 'default' })
  expect([200, 409]).toContain(answer.status)
  return answer.status === 409
}

describe('tenants', () => {
  test('include the tenant default from the start, and a second tenant with the same key is a 409', async () => {
    const again = await verdict.post(TENANTS, { key: 'default', name: 'Again' })
    expect(refusal(again)).toEqual(DUPLICATE)
  })

  test('can be deleted and created again, including the default tenant (native.md D-29)', async () => {
    const service = await startedService()
    expect((await service.delete(`${TENANTS}/default`)).status).toBe(204)
    expect((await service.get(TENANTS)).body).toEqual([])
    await service.tenant('default')
    expect((await service.get(`${TENANTS}/default`)).status).toBe(200)
  })
})

describe('users', () => {
  test.each(['nobody', '@example.com', 'ann@', 'ann lee@example.com', 'a@b@example.com', ''])(
    'are rejected by every call if the email address is %j',
    async email => {
      const [key] = fresh('mail')
      await verdict.user(key)
      const other = `${key}-other`
      const calls: readonly [method: string, path: string, body: object][] = [
        ['PATCH', `${USERS}/${key}`, { email }],
        ['PUT', `${USERS}/${key}`, { key, email }],
        ['POST', USERS, { key: other, email }],
        ['POST', `${TENANTS}/default/users`, { key: other, email }],
        ['POST', `${FACTS}/bulk/users`, { operations: [{ key: other, email }] }],
        ['PUT', `${FACTS}/bulk/users`, { operations: [{ key, email }] }],
      ]
      for (const [method, path, body] of calls) {
        expect(refusal(await verdict.send(method, path, { body })), path).toEqual(INVALID)
      }
      expect((await verdict.get<User>(`${USERS}/${key}`)).body.email).toBeNull()
      const changed = await verdict.patch<User>(`${USERS}/${key}`, { email: 'ann@example.com' })
      expect([changed.status, changed.body.email]).toEqual([200, 'ann@example.com'])
      expect((await verdict.patch<User>(`${USERS}/${key}`, { email: null })).body.email).toBeNull()
    },
  )

  test('are created with roles in tenants and on instances', async () => {
    const [alice, d1] = fresh('alice', 'document:d1')
    const name = { first_name: 'A', last_name: 'L' }
    const profile = { key: alice, email: 'a@example.com', ...name, attributes: { x: [1] } }
    const roles = [auditorIn('acme'), auditorIn('default')]
    const { body, status } = await verdict.post<User>(USERS, {
      ...profile,
      role_assignments: [...roles, { role: 'editor', tenant: 'default', resource_instance: d1 }],
    })
    expect(status).toBe(200)
    const inTenant = { roles: ['auditor'], status: 'active', resource_instance_roles: [] }
    expect(body).toMatchObject({
      ...profile,
      roles,
      associated_tenants: [
        { tenant: 'acme', ...inTenant },
        { tenant: 'default', ...inTenant },
      ],
    })
    expect(await verdict.allows(alice, 'read', 'document', 'acme')).toBe(true)
    expect(await verdict.allows(alice, 'update', d1)).toBe(true)
  })

  test.each([
    [[auditorIn('default'), { role: 'nothing', tenant: 'default' }], NOT_FOUND],
    [[auditorIn('nowhere')], NOT_FOUND],
    [[{ role: 'auditor' }], INVALID],
    [[auditorIn('acme'), auditorIn('acme')], DUPLICATE],
    [[{ role: 'editor', tenant: 'default', resource_instance: 'castle:c' }], NOT_FOUND],
    [[{ role: 'nothing', tenant: 'acme' }, { role: 'auditor' }], INVALID],
  ])('are not created if the role assignments are %j', async (role_assignments, refused) => {
    const [key] = fresh('refused')
    const revision = await verdict.revision()
    expect(refusal(await verdict.post(USERS, { key, role_assignments }))).toEqual(refused)
    expect(await verdict.revision()).toBe(revision)
    expect((await verdict.user(key)).key).toBe(key)
  })

  test.each([
    'auth0|elon',
    'a@b.example',
    'CN=ü,O=ß',
    '鍵',
    'a:b:c',
    ' ',
    '/users/{id}?x=%20#y',
    'k'.repeat(512),
    'ß'.repeat(256),
    '😀'.repeat(128),
    '__proto__',
    UNKNOWN_ID,
  ])('can have the key %j, and are found by exactly that key', async key => {
    const created = await verdict.post<User>(USERS, { key })
    expect([created.status, created.body.key]).toEqual([200, key])
    expect(refusal(await verdict.post(USERS, { key }))).toEqual(DUPLICATE)
    const [team] = fresh('team')
    await verdict.group(team)
    expect((await verdict.join(team, key)).users).toEqual([created.body.id])
    expect((await verdict.assign(key, 'auditor', 'default')).user).toBe(key)
    expect(await verdict.allows(key, 'read', 'document')).toBe(true)
    await verdict.leave(team, key)
  })

  test.each([
    '',
    'k'.repeat(513),
    `${'ß'.repeat(256)}x`,
    'a\u0000b',
    'line\nend',
    '\u007f',
    '\u0085',
    7,
    null,
  ])('cannot have the key %j', async key => {
    const answer = await verdict.post<Problem>(USERS, { key })
    expect(refusal(answer)).toEqual(INVALID)
    expect(answer.body.detail![0]!.loc).toEqual(['body', 'key'])
  })

  test('are found by key first if the key of one user is the id of another', async () => {
    const [team] = fresh('team')
    const first = await verdict.user(fresh('first')[0])
    const second = await verdict.user(first.id)
    await verdict.group(team)
    expect((await verdict.join(team, first.id)).users).toEqual([second.id])
    expect((await verdict.join(team, first.key)).users).toEqual([second.id, first.id])
  })
})

describe('resource instances', () => {
  test('are unique by type and key in the environment, not per tenant', async () => {
    const [key] = fresh('d')
    const body = { resource: 'document', key, tenant: 'acme', attributes: { a: 1 } }
    const created = await verdict.post<ResourceInstance>(INSTANCES, body)
    expect([created.status, created.body]).toMatchObject([200, body])
    const elsewhere = await verdict.post(INSTANCES, { ...body, tenant: 'default' })
    expect(refusal(elsewhere)).toEqual(DUPLICATE)
    expect((await verdict.post(INSTANCES, { ...body, resource: 'folder' })).status).toBe(200)
  })

  test('accept type and tenant by id, and use the tenant default if the request names none', async () => {
    const [one, two] = fresh('one', 'two:with:colons')
    const folder = (await verdict.get<Resource>(`${RESOURCES}/folder`)).body
    const tenant = await verdict.tenant(fresh('tenant')[0])
    const byId = { resource: folder.id, key: one, tenant: tenant.id }
    const created = await verdict.post<ResourceInstance>(INSTANCES, byId)
    const keys = { resource: 'folder', tenant: tenant.key }
    expect(created.body).toMatchObject({ ...keys, resource_id: folder.id, tenant_id: tenant.id })
    const plain = await verdict.post<ResourceInstance>(INSTANCES, { resource: 'folder', key: two })
    expect(plain.body).toMatchObject({ key: two, tenant: 'default' })
    const assignment = await verdict.assign('standing', 'keeper', `folder:${two}`)
    expect(assignment.resource_instance_id).toBe(plain.body.id)
  })

  test.each([
    [{ resource: 'castle', key: 'c', tenant: 'default' }, NOT_FOUND],
    [{ resource: 'document', key: 'c', tenant: 'nowhere' }, NOT_FOUND],
    [{ resource: 'document', key: 'c\n', tenant: 'nowhere' }, INVALID],
    [{ resource: 'document', key: '', tenant: 'default' }, INVALID],
  ])('are rejected for %j', async (body, refused) => {
    expect(refusal(await verdict.post(INSTANCES, body))).toEqual(refused)
  })
})

describe('role assignments (B.8)', () => {
  const LONG_REFERENCE = `document:${'k'.repeat(513)}`
  const assign = (body: object) => verdict.post<RoleAssignment>(ASSIGNMENTS, body)

  test('without an instance assign a tenant role, and require a tenant', async () => {
    const [alice] = fresh('alice')
    const user = await verdict.user(alice)
    const assigned = { user: alice, ...auditorIn('acme') }
    const { body } = await assign(assigned)
    expect(body).toMatchObject({ ...assigned, user_id: user.id, resource_instance: null })
    const nameless = await verdict.post<Problem>(ASSIGNMENTS, { user: alice, role: 'auditor' })
    expect(refusal(nameless)).toEqual(INVALID)
    expect(nameless.body.detail).toEqual([
      { loc: ['body', 'tenant'], msg: expect.any(String), type: 'missing' },
    ])
    const resourceRole = await assign({ user: alice, role: 'editor', tenant: 'acme' })
    expect(refusal(resourceRole)).toEqual(NOT_FOUND)
  })

  test('on an existing instance use its tenant, whether or not the request names it', async () => {
    const [alice, bob, d1] = fresh('alice', 'bob', 'document:d1')
    await verdict.users(alice, bob)
    const instance = await verdict.instance(d1, 'acme')
    const unnamed = await assign({ user: alice, role: 'viewer', resource_instance: d1 })
    const found = { resource_instance: d1, resource_instance_id: instance.id }
    expect(unnamed.body).toMatchObject({ tenant: 'acme', ...found })
    const named = await assign({ user: bob, role: 'viewer', resource_instance: d1, tenant: 'acme' })
    expect(named.body).toMatchObject({ tenant: 'acme' })
    const other = await assign({ user: alice, role: 'editor', resource_instance: d1, tenant: 'default' })
    expect(refusal(other)).toEqual(OTHER_TENANT)
  })

  test('on an instance that does not exist create it, but only if the request names a tenant', async () => {
    const [alice, d1, d2] = fresh('alice', 'document:d1', 'document:d2')
    await verdict.user(alice)
    const body = { user: alice, role: 'viewer', resource_instance: d1 }
    expect(refusal(await assign(body))).toEqual(NOT_FOUND)
    expect((await assign({ ...body, tenant: 'acme' })).status).toBe(200)
    expect(await isStored(d1)).toBe(true)
    expect(await verdict.allows(alice, 'read', d1, 'acme')).toBe(true)
    const refused = await assign({ ...body, resource_instance: d2, tenant: 'acme', role: 'nothing' })
    expect(refusal(refused)).toEqual(NOT_FOUND)
    expect(await isStored(d2)).toBe(false)
  })

  test('that exist are a 409, in a tenant and on an instance, by key or by id', async () => {
    const [alice, d1] = fresh('alice', 'document:d1')
    const user = await verdict.user(alice)
    await verdict.assign(alice, 'auditor', 'acme')
    await verdict.assign(alice, 'viewer', d1)
    const revision = await verdict.revision()
    for (const body of [
      { user: alice, role: 'auditor', tenant: 'acme' },
      { user: user.id, role: 'viewer', resource_instance: d1 },
      { user: alice, role: 'viewer', resource_instance: d1, tenant: 'default' },
    ]) {
      expect(refusal(await assign(body))).toEqual(DUPLICATE)
    }
    expect(await verdict.revision()).toBe(revision)
    expect((await assign({ user: alice, role: 'auditor', tenant: 'default' })).status).toBe(200)
  })

  test.each([
    [{ user: 'nobody', role: 'auditor', tenant: 'default' }, NOT_FOUND],
    [{ user: 'standing', role: 'nothing', tenant: 'default' }, NOT_FOUND],
    [{ user: 'standing', role: 'auditor', tenant: 'nowhere' }, NOT_FOUND],
    [{ user: 'standing', role: 'viewer', resource_instance: 'castle:c', tenant: 'default' }, NOT_FOUND],
    [{ user: 'standing', role: 'viewer', resource_instance: 'document:x', tenant: 'nowhere' }, NOT_FOUND],
    [{ user: 'standing', role: 'viewer', resource_instance: 'plain', tenant: 'default' }, NOT_FOUND],
    [{ user: 'standing', role: 'viewer', resource_instance: UNKNOWN_ID, tenant: 'default' }, NOT_FOUND],
    [{ user: 'nobody', role: 'auditor' }, INVALID],
    [{ user: 'standing', role: 'auditor', tenant: '' }, INVALID],
    [{ user: 'standing', role: 'viewer', resource_instance: 'document:a\nb', tenant: 'default' }, INVALID],
    [{ user: 'standing', role: 'viewer', resource_instance: LONG_REFERENCE, tenant: 'default' }, INVALID],
  ])('are rejected for %j', async (body, refused) => {
    expect(refusal(await assign(body))).toEqual(refused)
  })

  test.each(['nothing:', ':d1', 'no thing:d1', 'nothing:a\nb'])(
    'on the invalid instance %j are a 422 even if the other entities do not exist (native.md D-38)',
    async resource_instance => {
      const body = { user: 'nobody', role: 'nothing', resource_instance, tenant: 'nowhere' }
      expect(refusal(await assign(body))).toEqual(INVALID)
    },
  )

  test('with a reference that is too long for a store key are rejected with 404 or 422', async () => {
    const long = '鍵'.repeat(1_024)
    for (const body of [
      { user: long, role: 'auditor', tenant: 'default' },
      { user: 'standing', role: long, tenant: 'default' },
      { user: 'standing', role: 'auditor', tenant: long },
      { user: 'standing', role: 'viewer', resource_instance: long, tenant: 'default' },
    ]) {
      expect([404, 422]).toContain((await assign(body)).status)
    }
  })
})

describe('relationship tuples (B.10)', () => {
  const relate = (body: object) => verdict.post<RelationshipTuple>(TUPLES, body)

  test('create a missing subject and object in the named tenant', async () => {
    const [f1, d1] = fresh('folder:f1', 'document:d1')
    const body = { subject: f1, relation: 'parent', object: d1 }
    expect(refusal(await relate(body)), 'no instance exists, no tenant').toEqual(NOT_FOUND)
    expect(refusal(await relate({ ...body, tenant: 'nowhere' }))).toEqual(NOT_FOUND)
    const created = await relate({ ...body, tenant: 'acme' })
    expect(created.body).toMatchObject({ ...body, tenant: 'acme' })
    expect([await isStored(f1), await isStored(d1)]).toEqual([true, true])
  })

  test('create a missing instance in the tenant of the other instance', async () => {
    const [f1, f2, d1, d2] = fresh('folder:f1', 'folder:f2', 'document:d1', 'document:d2')
    await verdict.instance(f1, 'acme')
    await verdict.instance(d2, 'acme')
    expect((await relate({ subject: f1, relation: 'parent', object: d1 })).body.tenant).toBe('acme')
    expect((await relate({ subject: f2, relation: 'parent', object: d2 })).body.tenant).toBe('acme')
    const [alice] = fresh('alice')
    await verdict.user(alice)
    await verdict.assign(alice, 'viewer', d1, 'acme')
    expect(await verdict.allows(alice, 'read', d1, 'acme')).toBe(true)
  })

  test.each(['nothing:', ':d1', 'nothing:a\nb', `nothing:${'k'.repeat(513)}`])(
    'with the invalid instance %j are a 422 even if the other entities do not exist (native.md D-38)',
    async invalid => {
      for (const side of ['subject', 'object']) {
        const body = { subject: 'nothing:n1', relation: 'none', object: 'nothing:n2', [side]: invalid }
        expect(refusal(await relate(body))).toEqual(INVALID)
      }
    },
  )

  test('cannot link instances of two tenants', async () => {
    const [f1, d1, d2] = fresh('folder:f1', 'document:d1', 'document:d2')
    await verdict.instance(f1, 'acme')
    await verdict.instance(d1, 'default')
    expect(refusal(await relate({ subject: f1, relation: 'parent', object: d1 }))).toEqual(OTHER_TENANT)
    const named = { subject: f1, relation: 'parent', object: d2, tenant: 'default' }
    expect(refusal(await relate(named))).toEqual(OTHER_TENANT)
    expect(await isStored(d2)).toBe(false)
  })

  test('ignore the tenant of the request if both instances exist', async () => {
    const [f1, d1] = fresh('folder:f1', 'document:d1')
    await verdict.instance(f1, 'acme')
    await verdict.instance(d1, 'acme')
    const body = { subject: f1, relation: 'parent', object: d1, tenant: 'nowhere' }
    expect((await relate(body)).body.tenant).toBe('acme')
  })

  test('that exist are a 409, by key or by id, and change nothing', async () => {
    const [f1, d1] = fresh('folder:f1', 'document:d1')
    const { subject_id: subject, object_id: object } = await verdict.relate(f1, 'parent', d1)
    const revision = await verdict.revision()
    for (const body of [
      { subject: f1, object: d1 },
      { subject, object },
    ]) {
      expect(refusal(await relate({ ...body, relation: 'parent' }))).toEqual(DUPLICATE)
    }
    expect(await verdict.revision()).toBe(revision)
  })

  test('can link an instance to itself (native.md D-47), even if the call creates the instance', async () => {
    const [f1] = fresh('folder:f1')
    expect((await verdict.relate(f1, 'inside', f1)).object).toBe(f1)
    expect(await isStored(f1)).toBe(true)
  })

  test.each([
    [{ subject: 'folder:a', relation: 'nothing', object: 'document:a', tenant: 'default' }, NOT_FOUND],
    [{ subject: 'folder:a', relation: 'parent', object: 'castle:a', tenant: 'default' }, NOT_FOUND],
    [{ subject: 'castle:a', relation: 'parent', object: 'document:a', tenant: 'default' }, NOT_FOUND],
    [{ subject: 'folder:a', relation: 'parent', object: 'folder:b', tenant: 'default' }, NOT_FOUND],
    [{ subject: 'document:a', relation: 'parent', object: 'document:b', tenant: 'default' }, OTHER_TYPE],
    [{ subject: 'plain', relation: 'parent', object: 'document:a', tenant: 'default' }, NOT_FOUND],
    [{ subject: UNKNOWN_ID, relation: 'parent', object: 'document:a', tenant: 'default' }, NOT_FOUND],
    [{ subject: 'folder:a\n', relation: 'parent', object: 'document:a', tenant: 'acme' }, INVALID],
  ])('are rejected for %j, and no instance is created', async (body, refused) => {
    const revision = await verdict.revision()
    expect(refusal(await relate(body))).toEqual(refused)
    expect(await verdict.revision()).toBe(revision)
  })
})

test('unknown fields are ignored in every body (native.md D-24)', async () => {
  const [user, tenant, d1] = fresh('user', 'tenant', 'd1')
  const extra = { id: 'x', created_at: 7, more: { deep: [null] } }
  for (const [path, body] of [
    [USERS, { key: user }],
    [TENANTS, { key: tenant, name: 'T' }],
    [INSTANCES, { resource: 'document', key: d1, tenant }],
    [ASSIGNMENTS, { user, role: 'auditor', tenant }],
    [TUPLES, { subject: 'folder:f', relation: 'parent', object: `document:${d1}` }],
  ] as const)
    expect((await verdict.post(path, { ...body, ...extra })).status, path).toBe(200)
})
