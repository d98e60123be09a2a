/** Resources, roles and relations over HTTP: rejections and changes (native.md B.4, B.5, D-21). */
import { describe, expect, test } from 'vitest'
import type { Relation } from '#entities/relation.ts'
import type { Resource } from '#entities/resource.ts'
import type { ResourceRole, TenantRole } from '#entities/role.ts'
import {
  type Envelope,
  fresh,
  RESOURCES,
  SCHEMA,
  sharedService,
  startedService,
} from '#testing/processes/running-service.ts'
import {
  DUPLICATE,
  IMPOSSIBLE,
  INVALID,
  NOT_FOUND,
  NO_PERMISSION,
  OTHER_TYPE,
  refusal,
  type Problem,
} from '../../support/calls/refusals.ts'

const verdict = await sharedService()
await verdict.createDocumentModel()
await verdict.resource({ key: 'folder', actions: { read: {} }, roles: { keeper: { name: 'Keeper' } } })
await verdict.relation('document', 'parent', 'folder')
const ROLES = `${RESOURCES}/document/roles`
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000'
const KEEPS = { role: 'keeper', on_resource: 'folder', linked_by_relation: 'parent' }

const document = async () => (await verdict.get<Resource>(`${RESOURCES}/document`)).body

describe('creating a resource', () => {
  test('accepts roles, relations and granted_to that refer to each other in any order', async () => {
    const [type] = fresh('page')
    const created = await verdict.resource({
      key: type,
      actions: { read: {}, write: {} },
      roles: {
        editor: {
          name: 'Editor',
          permissions: ['write'],
          extends: ['viewer'],
          granted_to: {
            users_with_role: [
              { role: 'owner', on_resource: type, linked_by_relation: 'parent' },
              { ...KEEPS, linked_by_relation: 'shelf', when: { no_direct_roles_on_object: true } },
            ],
          },
        },
        viewer: { name: 'Viewer', permissions: [`${type}:read`] },
        owner: { name: 'Owner' },
      },
      relations: { parent: type, shelf: 'folder' },
    })
    const { editor, owner } = created.roles
    expect(editor).toMatchObject({ permissions: ['write'], extends: ['viewer'] })
    expect(editor!.granted_to.users_with_role).toMatchObject([
      {
        role: 'owner',
        on_resource: type,
        linked_by_relation: 'parent',
        when: { no_direct_roles_on_object: false },
        role_id: owner!.id,
        resource_id: created.id,
        relation_id: expect.any(String),
      },
      { role: 'keeper', on_resource: 'folder', when: { no_direct_roles_on_object: true } },
    ])
    expect((await verdict.get(`${RESOURCES}/${type}`)).body).toEqual(created)
    expect((await verdict.get(`${RESOURCES}/${created.id}`)).body).toEqual(created)

    const [user] = fresh('user')
    await verdict.user(user)
    await verdict.assign(user, 'owner', `${type}:top`)
    await verdict.relate(`${type}:top`, 'parent', `${type}:below`)
    expect(await verdict.allows(user, 'read', `${type}:below`)).toBe(true)
    expect(await verdict.allows(user, 'write', `${type}:below`)).toBe(true)
    expect(await verdict.allows(user, 'read', `${type}:top`)).toBe(false)
  })

  const good = { name: 'X', actions: { read: {} } }
  const granted = (change = {}, relations = {}) => {
    const entry = { ...KEEPS, linked_by_relation: 'shelf', ...change }
    return { ...good, relations, roles: { r: { name: 'R', granted_to: { users_with_role: [entry] } } } }
  }
  test.each([
    ['an unknown subject of a relation', { ...good, relations: { parent: 'nothing' } }, NOT_FOUND],
    ['an unknown action in a role', { ...good, roles: { r: { name: 'R', permissions: ['x'] } } }, NOT_FOUND],
    ['an unknown role in extends', { ...good, roles: { r: { name: 'R', extends: ['x'] } } }, NOT_FOUND],
    [
      'roles that extend each other in a circle',
      { ...good, roles: { a: { name: 'A', extends: ['b'] }, b: { name: 'B', extends: ['a'] } } },
      IMPOSSIBLE,
    ],
    ['a role that extends itself', { ...good, roles: { a: { name: 'A', extends: ['a'] } } }, IMPOSSIBLE],
    ['an unknown relation of an entry', granted(), NOT_FOUND],
    ['an unknown source role of an entry', granted({ role: 'nobody' }, { shelf: 'folder' }), NOT_FOUND],
    [
      'an unknown source resource of an entry',
      granted({ on_resource: 'nothing' }, { shelf: 'folder' }),
      NOT_FOUND,
    ],
    ['a relation that links another type than the entry', granted({}, { shelf: 'document' }), OTHER_TYPE],
  ])('is rejected for %s, and stores nothing (native.md D-45)', async (_about, body, refused) => {
    const [key] = fresh('refused')
    const before = [await verdict.revision(), await verdict.everythingListed()]
    const answer = await verdict.post<Problem>(RESOURCES, { key, ...body })
    expect(refusal(answer)).toEqual(refused)
    expect([await verdict.revision(), await verdict.everythingListed()]).toEqual(before)
  })

  test.each([
    ['actions', { key: 'x', name: 'X', actions: null }],
    ['key', { key: 'not a key', name: 'X', actions: {} }],
    ['key', { key: '', name: 'X', actions: {} }],
    ['key', { key: 'x'.repeat(129), name: 'X', actions: {} }],
    ['key', { key: 'schlüssel', name: 'X', actions: {} }],
    ['name', { key: 'x', name: 'n'.repeat(4_097), actions: {} }],
    ['actions', { key: 'x', name: 'X', actions: { 'no key': {} } }],
    ['actions', { key: 'x', name: 'X', actions: { read: null } }],
    ['attributes', { key: 'x', name: 'X', actions: {}, attributes: { a: { type: 'integer' } } }],
    ['attributes', { key: 'x', name: 'X', actions: {}, attributes: { a: {} } }],
    ['roles', { key: 'x', name: 'X', actions: {}, roles: { 'r r': { name: 'R' } } }],
    ['relations', { key: 'x', name: 'X', actions: {}, relations: { parent: { resource: 'folder' } } }],
  ])('is a 422 with the location of %s for %j', async (place, body) => {
    const answer = await verdict.post<Problem>(RESOURCES, body)
    expect(refusal(answer)).toEqual(INVALID)
    const places = answer.body.detail!.map(({ loc }) => loc.slice(0, 2).join('.'))
    expect(places).toContain(`body.${place}`)
  })
})

test('resources are listed as an array or in an envelope, in creation order, with search and pages', async () => {
  const service = await startedService()
  for (const key of ['alpha', 'beta', 'Alphabet', 'gamma']) await service.resource({ key })
  const keys = (query: string) => service.keysIn(`${RESOURCES}?${query}`)
  expect(await keys('')).toEqual(['alpha', 'beta', 'Alphabet', 'gamma'])
  expect(await keys('include_total_count=false')).toEqual(['alpha', 'beta', 'Alphabet', 'gamma'])
  expect(await keys('search=ALPHA')).toEqual(['alpha', 'Alphabet'])
  expect(await keys('search=a*ta')).toEqual([])
  expect(await keys('search=')).toEqual(['alpha', 'beta', 'Alphabet', 'gamma'])
  expect(await keys('search=%25')).toEqual([])
  expect(await keys('per_page=3&page=2')).toEqual(['gamma'])
  const { body } = await service.get<Envelope<Resource>>(
    `${RESOURCES}?include_total_count=true&search=alpha&per_page=1`,
  )
  expect([body.total_count, body.page_count, body.data.length]).toEqual([2, 2, 1])
  const refused = await service.get<Problem>(`${RESOURCES}?include_total_count=yes`)
  expect(refusal(refused)).toEqual(INVALID)
  expect(refused.body.detail![0]!.loc).toEqual(['query', 'include_total_count'])
})

describe('permissions of a resource role', () => {
  test('are accepted as action, type:action or id, and returned as the action, without duplicates', async () => {
    const [role] = fresh('role')
    const { actions } = await document()
    const created = await verdict.post<ResourceRole>(ROLES, {
      key: role,
      name: role,
      permissions: ['document:read', actions['update']!.id.toUpperCase(), 'read', 'update'],
    })
    expect(created.body.permissions).toEqual(['read', 'update'])
  })

  test.each(['nothing', 'folder:read', 'document:nothing', 'document:', ':read', '', UNKNOWN_ID])(
    'are a 404 for %j',
    async permission => {
      const [role] = fresh('role')
      const answer = await verdict.post(ROLES, { key: role, name: role, permissions: [permission] })
      expect(refusal(answer)).toEqual(NOT_FOUND)
    },
  )
})

describe('permissions of a tenant role', () => {
  test('are accepted as type:action or id, and returned as type:action', async () => {
    const [role] = fresh('role')
    const { actions, id } = await document()
    const created = await verdict.post<TenantRole>(`${SCHEMA}/roles`, {
      key: role,
      name: role,
      permissions: ['folder:read', actions['update']!.id, `${id}:read`, 'document:update'],
    })
    expect(created.body.permissions).toEqual(['folder:read', 'document:update', 'document:read'])
  })

  test.each([
    ['read', NO_PERMISSION],
    ['', NO_PERMISSION],
    ['document:nothing', NOT_FOUND],
    ['nothing:read', NOT_FOUND],
    ['document:', NOT_FOUND],
    [UNKNOWN_ID, NOT_FOUND],
  ])('are rejected for %j', async (permission, refused) => {
    const [role] = fresh('role')
    const body = { key: role, name: role, permissions: [permission] }
    const answer = await verdict.post<Problem>(`${SCHEMA}/roles`, body)
    expect(refusal(answer)).toEqual(refused)
    if (refused === NO_PERMISSION) expect(answer.body.detail!.length).toBeGreaterThan(0)
  })
})

describe('creating a role', () => {
  test.each([
    ['on a resource', ROLES],
    ['of a tenant', `${SCHEMA}/roles`],
  ])('%s that exists is a 409, but other errors take precedence (native.md D-38)', async (_about, path) => {
    const [key] = fresh('role')
    expect((await verdict.post(path, { key, name: key })).status).toBe(200)
    expect(refusal(await verdict.post(path, { key, name: key }))).toEqual(DUPLICATE)
    const withUnknown = { key, name: key, extends: ['nothing'] }
    expect(refusal(await verdict.post(path, withUnknown))).toEqual(NOT_FOUND)
    const withItself = { key, name: key, extends: [key] }
    expect(refusal(await verdict.post(path, withItself))).toEqual(IMPOSSIBLE)
    expect(refusal(await verdict.post(path, { key }))).toEqual(INVALID)
  })

  test('can extend only roles of the same kind and resource, by key or id (native.md D-21)', async () => {
    const [role, other, tenantRole] = fresh('role', 'other', 'tenant-role')
    const { roles } = await document()
    await verdict.tenantRole(tenantRole, [])
    const created = await verdict.post<ResourceRole>(ROLES, {
      key: role,
      name: role,
      extends: ['viewer', roles['editor']!.id, 'viewer'],
    })
    expect(created.body.extends).toEqual(['viewer', 'editor'])
    for (const foreign of [tenantRole, 'keeper']) {
      const answer = await verdict.post(ROLES, { key: other, name: other, extends: [foreign] })
      expect(refusal(answer)).toEqual(NOT_FOUND)
    }
    const answer = await verdict.post(`${SCHEMA}/roles`, { key: other, name: other, extends: ['viewer'] })
    expect(refusal(answer)).toEqual(NOT_FOUND)
  })
})

describe('changing a role', () => {
  async function role(body: object = {}): Promise<string> {
    const [key] = fresh('changing')
    await verdict.done('POST', ROLES, { key, name: key, ...body })
    return key
  }
  const change = (key: string, body: unknown) =>
    verdict.patch<ResourceRole & Problem>(`${ROLES}/${key}`, body)

  test('replaces the given fields, keeps the others, and clears fields for null', async () => {
    const key = await role({
      description: 'old',
      permissions: ['read'],
      attributes: { a: 1, b: 2 },
      extends: ['viewer'],
      granted_to: { when: { no_direct_roles_on_object: true }, users_with_role: [KEEPS] },
    })
    const { body: before } = await change(key, {})
    expect(before).toMatchObject({ description: 'old', permissions: ['read'], extends: ['viewer'] })

    const { body: renamed } = await change(key, { name: 'New', key: 'ignored' })
    expect(renamed).toEqual({ ...before, name: 'New', updated_at: expect.any(String) })

    const values = { permissions: ['update'], attributes: { c: 3 }, extends: ['editor'] }
    const { body: replaced } = await change(key, values)
    expect(replaced).toEqual({ ...renamed, ...values, updated_at: expect.any(String) })
    expect(Date.parse(replaced.updated_at)).toBeGreaterThanOrEqual(Date.parse(replaced.created_at))

    const nulls = { description: null, permissions: null, attributes: null, extends: null }
    const { body: cleared } = await change(key, { ...nulls, granted_to: {} })
    expect(cleared).toMatchObject({ description: null, permissions: [], attributes: null, extends: [] })
    expect(cleared.granted_to).toEqual({
      id: before.granted_to.id,
      when: { no_direct_roles_on_object: false },
      users_with_role: [],
    })
    expect(refusal(await change(key, { name: null }))).toEqual(INVALID)
  })

  test('replaces granted_to completely: without `when` the guard is cleared (native.md D-48)', async () => {
    const guarded = { when: { no_direct_roles_on_object: true }, users_with_role: [KEEPS, KEEPS] }
    const key = await role({ granted_to: guarded })
    const { body: before } = await change(key, {})
    expect(before.granted_to.when).toEqual({ no_direct_roles_on_object: true })
    expect(before.granted_to.users_with_role.length, 'a repeated entry is stored once').toBe(1)
    const { body: after } = await change(key, { granted_to: { users_with_role: [KEEPS] } })
    expect(after.granted_to.when).toEqual({ no_direct_roles_on_object: false })
    expect(after.granted_to.users_with_role).toEqual(before.granted_to.users_with_role)
    const { body: emptied } = await change(key, { granted_to: {} })
    expect(emptied.granted_to.users_with_role).toEqual([])
  })

  test('rejects a cycle of any length', async () => {
    const first = await role()
    const second = await role({ extends: [first] })
    const third = await role({ extends: [second] })
    for (const target of [first, second, third]) {
      expect(refusal(await change(first, { extends: [target] }))).toEqual(IMPOSSIBLE)
    }
    expect(refusal(await change(first, { extends: ['nothing'] }))).toEqual(NOT_FOUND)
    expect((await change(third, { extends: [first, second] })).status, 'a diamond has no cycle').toBe(200)
  })

  test('finds the role by key or id, only in the resource of the path', async () => {
    const key = await role()
    const { body } = await change(key, {})
    const { id } = await document()
    expect((await verdict.patch(`${RESOURCES}/${id}/roles/${body.id}`, {})).status).toBe(200)
    expect(refusal(await change('nothing', {}))).toEqual(NOT_FOUND)
    expect(refusal(await change('keeper', {}))).toEqual(NOT_FOUND)
    expect(refusal(await verdict.patch(`${RESOURCES}/folder/roles/${body.id}`, {}))).toEqual(NOT_FOUND)
    expect(refusal(await verdict.patch(`${RESOURCES}/nothing/roles/${key}`, {}))).toEqual(NOT_FOUND)
    expect(refusal(await verdict.patch(`${ROLES}/${id}`, {})), 'the id of a resource').toEqual(NOT_FOUND)
  })

  const grantedBy = (entry: object) => ({ granted_to: { users_with_role: [entry] } })
  test.each([
    [{ permissions: ['nothing'] }, NOT_FOUND],
    [grantedBy({ ...KEEPS, role: 'viewer', on_resource: 'document' }), OTHER_TYPE],
    [grantedBy({ ...KEEPS, linked_by_relation: 'nothing' }), NOT_FOUND],
    [grantedBy({ role: 'keeper' }), INVALID],
    [{ granted_to: { when: { no_direct_roles_on_object: 'yes' } } }, INVALID],
  ])('is rejected for %j, and changes nothing', async (body, refused) => {
    const key = await role({ permissions: ['read'] })
    const before = [await verdict.revision(), await document()]
    expect(refusal(await change(key, { description: 'new', ...body }))).toEqual(refused)
    expect([await verdict.revision(), await document()]).toEqual(before)
  })
})

test('a new relation has the keys and ids of both resources, and accepts its subject by id', async () => {
  const [key] = fresh('relation')
  const folder = (await verdict.get<Resource>(`${RESOURCES}/folder`)).body
  const { id } = await document()
  const texts = { key, name: 'R', description: 'D' }
  const relation = { ...texts, subject_resource: folder.id }
  const { body } = await verdict.post<Relation>(`${RESOURCES}/document/relations`, relation)
  expect(body).toMatchObject({
    ...texts,
    subject_resource: 'folder',
    subject_resource_id: folder.id,
    object_resource: 'document',
    object_resource_id: id,
  })
})
