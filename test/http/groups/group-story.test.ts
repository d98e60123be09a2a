/** Groups end to end (native.md B.3, C.3 to C.6): memberships and roles of groups determine permissions. */
import { describe, expect, test } from 'vitest'
import type { GroupRead, GroupRecord, GroupRole, GroupUser } from '#entities/group.ts'
import type { Resource } from '#entities/resource.ts'
import {
  type Client,
  type Envelope,
  FACTS,
  fresh,
  grantBody,
  groupPath,
  GROUPS,
  memberPath,
  RESOURCES,
  sharedService,
  startedService,
} from '#testing/processes/running-service.ts'
import { DUPLICATE, IMPOSSIBLE, OTHER_TENANT, type Problem, refusal } from '../../support/calls/refusals.ts'

const verdict = await sharedService()
await verdict.createDocumentModel()

async function relationsOfDocuments(service = verdict): Promise<string[]> {
  return Object.keys((await service.get<Resource>(`${RESOURCES}/document`)).body.relations)
}

async function assignedRolesOf(group: string, service = verdict): Promise<readonly string[]> {
  return (await service.get<GroupRead>(groupPath(group))).body.assigned_roles
}

async function keysAt(path: string, service = verdict): Promise<string[]> {
  const { body } = await service.get<Envelope<GroupRecord>>(path)
  return body.data.map(group => group.group_instance_key)
}

/** A service with the document model, and with alice in the group `team`. */
async function serviceWithTeam() {
  const service = await startedService()
  await service.createDocumentModel()
  await service.user('alice')
  await service.group('team')
  await service.join('team', 'alice')
  return service
}

describe('a role granted to a group on a document', () => {
  test('is held by members who join before or after the grant, until they leave', async () => {
    const [support, alice, bob, d1] = fresh('support', 'alice', 'bob', 'document:d1')
    await verdict.users(alice, bob)
    await verdict.group(support)
    await verdict.join(support, alice)
    expect(await verdict.allows(alice, 'update', d1)).toBe(false)

    await verdict.grant(support, 'editor', d1)
    expect(await verdict.allows(alice, 'update', d1)).toBe(true)
    expect(await verdict.allows(bob, 'update', d1)).toBe(false)

    await verdict.join(support, bob)
    expect(await verdict.allows(bob, 'update', d1)).toBe(true)

    await verdict.leave(support, alice)
    expect(await verdict.allows(alice, 'update', d1)).toBe(false)
    expect(await verdict.allows(bob, 'update', d1)).toBe(true)
  })

  test('is rejected if the key names an existing instance of another type', async () => {
    const [support, name] = fresh('support', 'name')
    await verdict.group(support)
    const { body: group } = await verdict.get<GroupRecord>(groupPath(support))
    const grantOn = (resource_instance: string) =>
      verdict.post<Problem>(`${groupPath(support)}/roles`, {
        ...grantBody('viewer', 'document:any'),
        resource_instance,
      })
    for (const reference of [`group:${support}`, `group:${name}`, group.id, group.id.toUpperCase()]) {
      const { status, body } = await grantOn(reference)
      expect([reference, status, body.message]).toEqual([
        reference,
        400,
        expect.stringContaining('names an instance whose type is not'),
      ])
    }
    // The type `nothing` does not exist, so the text is a key with a colon (native.md D-25). If a document
    // exists whose key contains a colon, its key is accepted even if it starts with a type.
    expect((await grantOn(`nothing:${name}`)).status).toBe(200)
    expect((await grantOn(`document:group:${name}`)).status).toBe(200)
    await verdict.revoke(support, 'viewer', `document:group:${name}`)
    expect((await grantOn(`group:${name}`)).status).toBe(200)
  })
})

test('a grant to a group has no effect on a group of another type with the same key', async () => {
  const [key, alice, bob, d1] = fresh('crew', 'alice', 'bob', 'document:d1')
  await verdict.users(alice, bob)
  await verdict.groups(`squad:${key}`, `group:${key}`)
  await verdict.join(`squad:${key}`, alice)
  await verdict.join(key, bob)
  await verdict.grant(`squad:${key}`, 'viewer', d1)

  expect(await verdict.allows(alice, 'read', d1)).toBe(true)
  expect(await verdict.allows(bob, 'read', d1)).toBe(false)
})

test('a nested group makes its members effective members of the outer group, but not vice versa', async () => {
  const [outer, inner, olga, ines, above, below] = fresh(
    'outer',
    'inner',
    'olga',
    'ines',
    'document:above',
    'document:below',
  )
  await verdict.users(olga, ines)
  await verdict.groups(outer, inner)
  await verdict.join(outer, olga)
  await verdict.join(inner, ines)
  await verdict.grant(outer, 'editor', above)
  await verdict.grant(inner, 'editor', below)
  expect(await verdict.nest(inner, { into: outer })).toMatchObject({ group_instance_key: outer })

  expect(await verdict.allows(ines, 'update', above)).toBe(true)
  expect(await verdict.allows(olga, 'update', above)).toBe(true)
  expect(await verdict.allows(ines, 'update', below)).toBe(true)
  expect(await verdict.allows(olga, 'update', below)).toBe(false)

  await verdict.unnest(inner, { from: outer })
  expect(await verdict.allows(ines, 'update', above)).toBe(false)
  expect(await verdict.allows(ines, 'update', below)).toBe(true)
})

test('a group cannot be in itself, in its own descendants, twice in a group, or in a group of another type or tenant', async () => {
  const [outer, inner, squad, abroad, tenant] = fresh('outer', 'inner', 'squad', 'abroad', 'tenant')
  await verdict.tenant(tenant)
  await verdict.groups(outer, inner, `squad:${squad}`)
  await verdict.group(abroad, tenant)
  await verdict.nest(inner, { into: outer })
  for (const [child, parent, refused] of [
    [outer, outer, IMPOSSIBLE],
    [outer, inner, IMPOSSIBLE],
    [inner, outer, DUPLICATE],
    [`squad:${squad}`, outer, IMPOSSIBLE],
    [abroad, outer, OTHER_TENANT],
  ] as const) {
    const answer = await verdict.put(`${groupPath(parent)}/assign_group`, { group_instance_key: child })
    expect(refusal(answer), `${child} in ${parent}`).toEqual(refused)
  }
})

test('granting the role member to a group works like nesting, but uses a separate relation (native.md D-41)', async () => {
  const [outer, inner, alice, d1] = fresh('outer', 'inner', 'alice', 'document:d1')
  await verdict.user(alice)
  await verdict.groups(outer, inner)
  await verdict.join(inner, alice)
  await verdict.grant(outer, 'viewer', d1)
  await verdict.grant(inner, 'member', `group:${outer}`)
  expect(await verdict.allows(alice, 'read', d1)).toBe(true)
  expect(await keysAt(`${groupPath(outer)}/children`)).toEqual([])

  await verdict.revoke(inner, 'member', `group:${outer}`)
  expect(await verdict.allows(alice, 'read', d1)).toBe(false)
})

describe('removing a grant (C.5)', () => {
  test('also removes the relation and the derivation if no tuple remains; a new grant restores them', async () => {
    const service = await serviceWithTeam()
    await service.group('two')
    const links = async () => {
      const { body } = await service.get<Resource>(`${RESOURCES}/document`)
      const entries = body.roles['editor']!.granted_to.users_with_role
      return [...Object.keys(body.relations), ...entries.map(entry => entry.linked_by_relation)]
    }
    const both = ['group_group_editor', 'group_group_editor']
    expect(await links()).toEqual([])

    await service.grant('team', 'editor', 'document:d1')
    await service.grant('two', 'editor', 'document:d2')
    expect(await links()).toEqual(both)

    await service.revoke('two', 'editor', 'document:d2')
    expect(await links()).toEqual(both)

    await service.revoke('team', 'editor', 'document:d1')
    expect(await links()).toEqual([])
    expect(await service.allows('alice', 'update', 'document:d1')).toBe(false)

    await service.grant('team', 'editor', 'document:d1')
    expect(await service.allows('alice', 'update', 'document:d1')).toBe(true)
    expect(await links()).toEqual(both)

    await service.deleteGroup('team')
    expect(await links()).toEqual([])
  })

  test('by deleting its derivation entry is undone by granting again (native.md D-40)', async () => {
    const service = await serviceWithTeam()
    await service.grant('team', 'editor', 'document:d1')
    await service.patch(`${RESOURCES}/document/roles/editor`, { granted_to: {} })
    expect(await service.allows('alice', 'update', 'document:d1')).toBe(false)
    expect(await assignedRolesOf('team', service)).toEqual(['group:team#member'])

    const restored = await service.grant('team', 'editor', 'document:d1')
    expect(restored.assigned_roles).toEqual(['group:team#member', 'document:d1#editor'])
    expect(await service.allows('alice', 'update', 'document:d1')).toBe(true)
    const again = await service.post(`${groupPath('team')}/roles`, grantBody('editor', 'document:d1'))
    expect(again.status).toBe(409)
  })
})

test('deleting the last group of a type keeps the type and its member role (native.md D-9)', async () => {
  const service = await startedService()
  const group = await service.group('only')
  await service.deleteGroup('only')
  const { body } = await service.get<Resource>(`${RESOURCES}/${group.group_resource_type_key}`)
  expect(Object.keys(body.roles)).toEqual(['member'])
})

describe('grants that ended because a client deleted their derivation entry', () => {
  const entry = (relation: string) => ({
    role: 'member',
    on_resource: 'group',
    linked_by_relation: relation,
  })
  const EDITOR = `${RESOURCES}/document/roles/editor`

  /** Two groups with one member each. `team` has a role on the secret document. */
  async function serviceWithGrant() {
    const service = await serviceWithTeam()
    await service.user('bob')
    await service.group('others')
    await service.join('others', 'bob')
    await service.grant('team', 'editor', 'document:secret')
    expect(await service.allows('alice', 'update', 'document:secret')).toBe(true)
    return service
  }

  test.each<[string, (service: Client) => Promise<unknown>]>([
    ['by a change of the role', service => service.patch(EDITOR, { granted_to: { users_with_role: [] } })],
    [
      'by a request for the entry',
      service => service.delete(`${EDITOR}/implicit_grants`, entry('group_group_editor')),
    ],
    [
      'by a change of all roles of the resource',
      service =>
        service.patch(`${RESOURCES}/document`, {
          roles: { editor: { name: 'editor', permissions: ['read', 'update'] } },
        }),
    ],
    ['with the member role', service => service.delete(`${RESOURCES}/group/roles/member`)],
  ])('%s are not restored by a grant to another group on another document', async (_, remove) => {
    const service = await serviceWithGrant()
    await remove(service)
    expect(await service.allows('alice', 'update', 'document:secret')).toBe(false)
    await service.grant('others', 'editor', 'document:public')
    await service.join('team', 'alice').catch(() => undefined)
    await service.join('others', 'bob').catch(() => undefined)
    expect(await service.allows('bob', 'update', 'document:public')).toBe(true)
    expect(await service.allows('alice', 'update', 'document:secret')).toBe(false)
    expect(await assignedRolesOf('team', service)).toEqual(['group:team#member'])
    expect(await relationsOfDocuments(service)).toEqual(['group_group_editor'])
    await service.grant('team', 'editor', 'document:secret')
    expect(await service.allows('alice', 'update', 'document:secret')).toBe(true)
  })

  test('are restored only when the client adds the entry again', async () => {
    const service = await serviceWithGrant()
    await service.patch(EDITOR, { granted_to: {} })
    const refused = await service.delete(`${groupPath('team')}/roles`, grantBody('editor', 'document:secret'))
    expect(refused.status).toBe(404)
    await service.post(`${EDITOR}/implicit_grants`, entry('group_group_editor'))
    expect(await service.allows('alice', 'update', 'document:secret')).toBe(true)
    await service.grant('others', 'editor', 'document:public')
    expect(await service.allows('alice', 'update', 'document:secret')).toBe(true)
  })

  test('keep a relation that other entries use, and the next grant creates a separate relation', async () => {
    const service = await serviceWithGrant()
    await service.post(`${RESOURCES}/document/roles/viewer/implicit_grants`, entry('group_group_editor'))
    await service.patch(EDITOR, { granted_to: {} })
    await service.grant('others', 'editor', 'document:public')
    expect(await service.allows('alice', 'update', 'document:secret')).toBe(false)
    expect(await service.allows('alice', 'read', 'document:secret')).toBe(true)
    expect(await service.allows('bob', 'update', 'document:public')).toBe(true)
    expect(await relationsOfDocuments(service)).toEqual(['group_group_editor', 'group_group_editor_2'])
  })

  test('are neither restored nor listed if they nested a group', async () => {
    const service = await serviceWithGrant()
    await service.groups('outer', 'inner')
    await service.grant('outer', 'editor', 'document:inside')
    await service.nest('team', { into: 'outer' })
    expect(await service.allows('alice', 'update', 'document:inside')).toBe(true)
    await service.patch(`${RESOURCES}/group/roles/member`, { granted_to: { users_with_role: [] } })
    const state = async () => [
      await service.allows('alice', 'update', 'document:inside'),
      await keysAt(`${groupPath('outer')}/children`, service),
    ]
    expect(await state()).toEqual([false, []])
    await service.nest('inner', { into: 'others' })
    expect(await state()).toEqual([false, []])
    await service.nest('team', { into: 'outer' })
    expect(await state()).toEqual([true, ['team']])
  })
})

test('children and parents of a group exclude linked instances that are not groups', async () => {
  const service = await startedService()
  await service.groups('outer', 'inner')
  await service.nest('inner', { into: 'outer' })
  await service.instance('group:plain')
  const link = (subject: string, object: string) =>
    service.post(`${FACTS}/relationship_tuples`, { subject, relation: 'group', object })
  expect((await link('group:plain', 'group:outer')).status).toBe(200)
  const of = async (list: string, group: string) =>
    (await service.get<Envelope<GroupRecord>>(`${groupPath(group)}/${list}?include_total_count=true`)).body
  expect(await of('children', 'outer')).toMatchObject({
    data: [{ group_instance_key: 'inner' }],
    total_count: 1,
  })
  expect((await link('group:inner', 'group:plain')).status).toBe(200)
  expect(await of('parents', 'inner')).toMatchObject({
    data: [{ group_instance_key: 'outer' }],
    total_count: 1,
  })
})

test('a grant adds a number to its relation key if the key already exists (native.md D-37)', async () => {
  const service = await serviceWithTeam()
  await service.resource({ key: 'folder' })
  await service.relation('document', 'group_group_viewer', 'folder')
  await service.grant('team', 'viewer', 'document:d1')
  expect(await relationsOfDocuments(service)).toEqual(['group_group_viewer', 'group_group_viewer_2'])
  expect(await service.allows('alice', 'read', 'document:d1')).toBe(true)

  await service.revoke('team', 'viewer', 'document:d1')
  expect(await relationsOfDocuments(service)).toEqual(['group_group_viewer'])
})

describe('the groups API', () => {
  test('returns the responses of the round trip in the contract', async () => {
    const [support, alice, d1] = fresh('support', 'alice', 'd1')
    const user = await verdict.user(alice)
    const own = { group_resource_type_key: 'group', group_instance_key: support, group_tenant: 'default' }

    const created = await verdict.group(support)
    expect(created).toEqual({
      id: created.id,
      ...own,
      assigned_roles: [`group:${support}#member`],
      assigned_roles_count: 0,
      users: [],
      users_count: 0,
    })

    const granted = await verdict.grant(support, 'editor', `document:${d1}`)
    const assigned = [`group:${support}#member`, `document:${d1}#editor`]
    expect(granted).toEqual({ ...created, assigned_roles: assigned, assigned_roles_count: 1 })

    const joined = await verdict.join(support, alice)
    expect(joined).toEqual({ ...granted, users: [user.id], users_count: 1 })
    // Joining again changes nothing (native.md D-4).
    expect(await verdict.join(support, alice)).toEqual(joined)

    const roles = await verdict.get<Envelope<GroupRole>>(`${groupPath(support)}/roles`)
    expect(roles.body).toEqual({
      data: [
        {
          key: 'editor',
          resource: { id: expect.any(String), key: 'document' },
          resource_instance: { id: expect.any(String), key: d1 },
        },
      ],
      total_count: 1,
      page_count: 1,
    })
    const users = await verdict.get<Envelope<GroupUser>>(`${groupPath(support)}/users`)
    const member = { id: user.id, key: alice }
    expect(users.body).toEqual({ data: [member], total_count: 1, page_count: 1 })

    expect((await verdict.get(groupPath(support))).body).toEqual(joined)
    const record = { id: created.id, ...own, users_count: 1, has_children: false }
    expect((await verdict.get(`${GROUPS}/direct/${support}`)).body).toEqual(record)
    const listed = await verdict.get<GroupRead[]>(`${GROUPS}?search=${support}`)
    expect(listed.body).toEqual([joined])
    const records = await verdict.get(`${GROUPS}/direct?search=${support}`)
    expect(records.body).toEqual({ data: [record], total_count: 1, page_count: 1 })
  })

  test('finds a group by key, by type:key and by id, percent-encoded or not', async () => {
    const [team] = fresh('team')
    const { id } = await verdict.group(team)
    for (const name of [team, `group:${team}`, `group%3A${team}`, id, id.toUpperCase()]) {
      const found = await verdict.get<GroupRead>(`${GROUPS}/${name}`)
      expect([name, found.status, found.body.id]).toEqual([name, 200, id])
    }
    for (const name of [`squad:${team}`, `${team}x`, `:${team}`, `${team}:`, 'group:']) {
      const missing = await verdict.get<Problem>(`${GROUPS}/${name}`)
      expect([name, missing.status, missing.body.error_code]).toEqual([name, 404, 'NOT_FOUND'])
    }
  })

  test('accepts an instance as type:key with a key of up to 512 characters', async () => {
    const [team] = fresh('team')
    const key = 'k'.repeat(512)
    await verdict.group(team)
    await verdict.instance(`document:${key}`)
    const grant = { ...grantBody('viewer', 'document:any'), resource_instance: `document:${key}` }
    expect((await verdict.post(`${groupPath(team)}/roles`, grant)).status).toBe(200)
    expect((await verdict.delete(`${groupPath(team)}/roles`, grant)).status).toBe(204)
    const longer = { ...grant, resource_instance: `document:${key}k` }
    expect((await verdict.post(`${groupPath(team)}/roles`, longer)).status).toBe(422)
  })

  test('returns 404 for the id of an entity that is not a group', async () => {
    const [alice, d1] = fresh('alice', 'document:d1')
    const user = await verdict.user(alice)
    const instance = await verdict.instance(d1)
    const document = await verdict.get<Resource>(`${RESOURCES}/document`)
    for (const id of [user.id, instance.id, document.body.id, document.body.roles['viewer']!.id]) {
      expect((await verdict.get(`${GROUPS}/${id}`)).status).toBe(404)
    }
  })

  test('finds a group with the key direct as group:direct', async () => {
    const [alice] = fresh('alice')
    await verdict.user(alice)
    const { id } = await verdict.group('direct')
    expect((await verdict.get<GroupRead>(`${GROUPS}/group:direct`)).body).toMatchObject({ id, users: [] })
    expect((await verdict.get<GroupRecord>(`${GROUPS}/direct/direct`)).body).toMatchObject({ id })
    expect((await verdict.get<Envelope<GroupRecord>>(`${GROUPS}/direct`)).body.total_count).toBeGreaterThan(0)
    await verdict.join('group:direct', alice)
    expect((await verdict.get<Envelope<GroupUser>>(`${GROUPS}/group:direct/users`)).body.total_count).toBe(1)
    await verdict.deleteGroup('group:direct')
    expect((await verdict.get(`${GROUPS}/group:direct`)).status).toBe(404)
  })

  test('accepts a key or an id for every entity that a request names', async () => {
    const [team, alice, d1] = fresh('team', 'alice', 'document:d1')
    const tenant = await verdict.tenant(fresh('tenant')[0])
    const user = await verdict.user(alice)
    const instance = await verdict.instance(d1, tenant.key)
    const document = (await verdict.get<Resource>(`${RESOURCES}/document`)).body
    const editor = document.roles['editor']!
    const created = await verdict.post<GroupRead>(GROUPS, {
      group_instance_key: team,
      group_tenant: tenant.id,
    })
    expect(created.body.group_tenant).toBe(tenant.key)
    const path = `${GROUPS}/${created.body.id}`
    expect((await verdict.put(`${path}/users/${user.id}`, { tenant: tenant.id })).status).toBe(200)
    const ids = { role: editor.id, resource: document.id, resource_instance: instance.id, tenant: tenant.id }
    const granted = await verdict.post<GroupRead>(`${path}/roles`, ids)
    expect(granted.body.assigned_roles).toEqual([`group:${team}#member`, `${d1}#editor`])
    expect(await verdict.allows(alice, 'update', d1)).toBe(true)
    const keys = { role: 'editor', resource: 'document', resource_instance: d1, tenant: tenant.key }
    expect((await verdict.delete(`${path}/roles`, keys)).status).toBe(204)
    expect(await verdict.allows(alice, 'update', d1)).toBe(false)
  })
})

describe('creating a group', () => {
  test('reads the type from the key or from a separate field, which must match', async () => {
    const [a, b, c] = fresh('a', 'b', 'c')
    const body = { group_tenant: 'default' }
    const fromKey = await verdict.post<GroupRead>(GROUPS, { ...body, group_instance_key: `squad:${a}` })
    expect(fromKey.body).toMatchObject({ group_resource_type_key: 'squad', group_instance_key: a })
    const fromField = await verdict.post<GroupRead>(GROUPS, {
      ...body,
      group_instance_key: b,
      group_resource_type_key: 'squad',
    })
    expect(fromField.body).toMatchObject({ group_resource_type_key: 'squad', group_instance_key: b })
    const differing = await verdict.post<Problem>(GROUPS, {
      ...body,
      group_instance_key: `squad:${c}`,
      group_resource_type_key: 'group',
    })
    expect([differing.status, differing.body.error_code]).toEqual(IMPOSSIBLE)
  })

  test('creates the type, with a member role without permissions', async () => {
    const [type, key] = fresh('circle', 'first')
    await verdict.group(`${type}:${key}`)
    const { body } = await verdict.get<Resource>(`${RESOURCES}/${type}`)
    expect(body).toMatchObject({ key: type, name: type, actions: {} })
    expect(Object.keys(body.roles)).toEqual(['member'])
    expect(body.roles['member']).toMatchObject({ name: 'member', permissions: [] })
  })

  test('is a 409 if a group or another instance with that key exists (native.md D-6)', async () => {
    const [team, plain] = fresh('team', 'plain')
    await verdict.group(team)
    await verdict.instance(`group:${plain}`)
    for (const [key, taken] of [
      [team, `the group "group:${team}"`],
      [plain, `the resource instance "group:${plain}"`],
    ] as const) {
      const again = await verdict.post<Problem>(GROUPS, { group_instance_key: key, group_tenant: 'default' })
      expect([again.status, again.body.error_code]).toEqual(DUPLICATE)
      expect(again.body.message).toContain(`${taken} already exists`)
    }
    // An instance that was not created as a group is not a group (native.md D-7).
    expect((await verdict.get(groupPath(plain))).status).toBe(404)
  })
})

test('members, grants and instances of another tenant are rejected (C.6)', async () => {
  const [team, alice, tenant, away] = fresh('team', 'alice', 'tenant', 'document:away')
  await verdict.tenant(tenant)
  await verdict.user(alice)
  await verdict.group(team)
  await verdict.join(team, alice)
  await verdict.instance(away, tenant)
  const revision = await verdict.revision()
  const roles = `${groupPath(team)}/roles`
  for (const [method, path, body] of [
    ['PUT', memberPath(team, alice), { tenant }],
    ['DELETE', memberPath(team, alice), { tenant }],
    ['POST', roles, grantBody('editor', away)],
    ['POST', roles, grantBody('editor', away, tenant)],
    ['POST', roles, grantBody('editor', `${away}-new`, tenant)],
  ] as const)
    expect(refusal(await verdict.send(method, path, { body })), `${method} ${path}`).toEqual(OTHER_TENANT)
  expect(await verdict.revision()).toBe(revision)
})

test('a request that names a missing entity, or removes a missing link, is a 404', async () => {
  const [team, other, alice, d1, tenant] = fresh('team', 'other', 'alice', 'document:d1', 'tenant')
  await verdict.user(alice)
  await verdict.tenant(tenant)
  await verdict.groups(team, other)
  await verdict.instance(d1)
  const grant = grantBody('editor', d1)
  const missing = grantBody('editor', `${d1}-missing`)
  const [roles, nesting] = [`${groupPath(team)}/roles`, `${groupPath(team)}/assign_group`]
  for (const [method, path, body] of [
    ['POST', GROUPS, { group_instance_key: `${team}-x`, group_tenant: 'nowhere' }],
    ['DELETE', groupPath('nothing')],
    ['PUT', memberPath(team, 'nobody'), { tenant: 'default' }],
    ['PUT', memberPath('nothing', alice), { tenant: 'default' }],
    ['PUT', memberPath(team, alice), { tenant: 'nowhere' }],
    ['DELETE', memberPath(team, 'nobody')],
    ['DELETE', memberPath(team, alice)],
    ['POST', `${groupPath('nothing')}/roles`, grant],
    ['POST', roles, { ...grant, role: 'nothing' }],
    ['POST', roles, { ...grant, resource: 'nothing' }],
    ['POST', roles, { ...grant, tenant: 'nowhere' }],
    ['DELETE', roles, grant],
    ['DELETE', roles, missing],
    // A missing entity is reported before a mismatch (native.md D-38).
    ['DELETE', roles, { ...missing, tenant }],
    ['PUT', nesting, { group_instance_key: 'nothing' }],
    ['PUT', `${groupPath('nothing')}/assign_group`, { group_instance_key: team }],
    ['DELETE', nesting, { group_instance_key: other }],
  ] as const) {
    expect((await verdict.send(method, path, { body })).status, `${method} ${path}`).toBe(404)
  }
})

describe('lists of groups', () => {
  test('are in creation order, with 30 groups per page by default and a total count', async () => {
    await verdict.tenant('lists')
    const keys = Array.from({ length: 32 }, (_, index) => `listed-${index}`)
    for (const key of keys) await verdict.group(key, 'lists')
    const page = async (query = '') => {
      const { body } = await verdict.get<Envelope<GroupRecord>>(`${GROUPS}/direct?tenant=lists${query}`)
      return [body.data.map(group => group.group_instance_key), body.total_count, body.page_count]
    }
    expect(await page()).toEqual([keys.slice(0, 30), 32, 2])
    expect(await page('&page=2')).toEqual([keys.slice(30), 32, 2])
    expect(await page('&page=4&per_page=5')).toEqual([keys.slice(15, 20), 32, 7])
    expect(await page('&page=1000')).toEqual([[], 32, 2])

    const whole = await verdict.get<GroupRead[]>(`${GROUPS}?tenant=lists&per_page=2&page=2`)
    expect(whole.body.map(group => group.group_instance_key)).toEqual(keys.slice(2, 4))
  })

  test('are filtered by search, tenant and resource, by key or id (native.md D-13)', async () => {
    const [tenant, one, two, squad] = fresh('tenant', 'Alpha_one', 'alpha-two', 'alpha')
    const { id } = await verdict.tenant(tenant)
    await verdict.group(one, tenant)
    await verdict.group(two, tenant)
    await verdict.group(`squad:${squad}`, tenant)
    const squadType = (await verdict.get<Resource>(`${RESOURCES}/squad`)).body
    const of = (query: string) => keysAt(`${GROUPS}/direct?${query}`)

    expect(await of(`tenant=${tenant}`)).toEqual([one, two, squad])
    expect(await of(`tenant=${id}&search=ALPHA`)).toEqual([one, two, squad])
    expect(await of(`tenant=${id}&search=a_o`)).toEqual([one])
    expect(await of(`tenant=${id}&search=al*two`)).toEqual([two])
    expect(await of(`tenant=${id}&search=two*al`)).toEqual([])
    expect(await of(`tenant=${id}&resource=squad`)).toEqual([squad])
    expect(await of(`tenant=${id}&resource=${squadType.id}`)).toEqual([squad])
    expect(await of(`resource=group&search=${two}`)).toEqual([two])
    expect(await of('tenant=nowhere')).toEqual([])
    expect(await of('resource=nothing')).toEqual([])
  })

  test('have pages for members, roles, children and parents', async () => {
    const [team] = fresh('team')
    await verdict.group(team)
    const numbers = [0, 1, 2, 3, 4]
    const users = numbers.map(number => `${team}-user${number}`)
    const inner = numbers.map(number => `${team}-inner${number}`)
    for (const number of numbers) {
      await verdict.user(users[number]!)
      await verdict.join(team, users[number]!)
      await verdict.group(inner[number]!)
      await verdict.nest(inner[number]!, { into: team })
      await verdict.grant(team, number % 2 === 0 ? 'viewer' : 'editor', `document:${team}-${number}`)
    }
    const page = async <Item>(path: string, query: string) =>
      (await verdict.get<Envelope<Item>>(`${groupPath(team)}/${path}?${query}`)).body
    const counts = { total_count: 5, page_count: 3 }

    expect(await page('users', 'per_page=2&page=2')).toMatchObject({
      data: [{ key: users[2] }, { key: users[3] }],
      ...counts,
    })
    expect(await page('roles', 'per_page=2&page=2')).toMatchObject({
      data: [
        { key: 'viewer', resource_instance: { key: `${team}-2` } },
        { key: 'editor', resource_instance: { key: `${team}-3` } },
      ],
      ...counts,
    })
    expect(await page('children', 'per_page=2&page=3')).toMatchObject({
      data: [{ group_instance_key: inner[4] }],
      ...counts,
    })
    expect(await page('parents', 'per_page=2')).toEqual({ data: [], total_count: 0, page_count: 0 })
    expect(await page('users', 'page=99')).toEqual({ data: [], total_count: 5, page_count: 1 })
  })
})

test('a role assignment of member on a group is a membership', async () => {
  const [team, alice, d1] = fresh('team', 'alice', 'document:d1')
  const user = await verdict.user(alice)
  await verdict.group(team)
  await verdict.grant(team, 'viewer', d1)
  await verdict.assign(alice, 'member', `group:${team}`)
  expect(await verdict.allows(alice, 'read', d1)).toBe(true)
  expect((await verdict.get<GroupRead>(groupPath(team))).body.users).toEqual([user.id])
  await verdict.leave(team, alice)
  expect(await verdict.allows(alice, 'read', d1)).toBe(false)
})

test('a relationship tuple with the relation of a grant is a grant', async () => {
  const [team, other, alice, d1, d2] = fresh('team', 'other', 'alice', 'document:d1', 'document:d2')
  await verdict.user(alice)
  await verdict.groups(team, other)
  await verdict.join(other, alice)
  await verdict.grant(team, 'viewer', d1)
  await verdict.relate(`group:${other}`, 'group_group_viewer', d2)
  expect(await verdict.allows(alice, 'read', d2)).toBe(true)
  expect(await assignedRolesOf(other)).toEqual([`group:${other}#member`, `${d2}#viewer`])
  await verdict.revoke(other, 'viewer', d2)
  expect(await verdict.allows(alice, 'read', d2)).toBe(false)
  expect(await relationsOfDocuments()).toContain('group_group_viewer')
})
