/** Copies of the whole schema or a part of it into a new or an existing environment (native.md B.13). */
import { describe, expect, test } from 'vitest'
import type { Environment } from '#model/wire/organization/environment.ts'
import { answerFindings } from '#testing/requests/routes.ts'
import {
  type Answer,
  FACTS,
  fresh,
  grantBody,
  neighbourOf,
  question,
  RESOURCES,
  SCHEMA,
  sharedService,
} from '#testing/processes/running-service.ts'
import { DUPLICATE, IMPOSSIBLE, NOT_FOUND, refusal } from '../../support/calls/refusals.ts'

const verdict = await sharedService()
const ENVS = '/v2/projects/default/envs'
const TENANT_ATTRIBUTES = 'resources/__tenant/attributes'
await verdict.resource({
  key: 'folder',
  name: 'Folder',
  urn: 'urn:folder',
  description: 'Holds documents',
  actions: { read: { name: 'Read', attributes: { cost: 1 } } },
  attributes: { size: { type: 'number', description: 'Bytes' } },
  type_attributes: { a: { b: [1] } },
  roles: { keeper: { name: 'Keeper', permissions: ['read'], attributes: { rank: 1 } } },
})
await verdict.resource({
  key: 'document',
  actions: { read: {}, write: {} },
  relations: { parent: 'folder' },
  roles: {
    viewer: { name: 'Viewer', permissions: ['read'] },
    editor: {
      name: 'Editor',
      permissions: ['write'],
      extends: ['viewer'],
      granted_to: {
        when: { no_direct_roles_on_object: true },
        users_with_role: [{ role: 'keeper', on_resource: 'folder', linked_by_relation: 'parent' }],
      },
    },
  },
})
await verdict.relation('folder', 'about', 'document')
const all = { key: 'all', name: 'All', actions: ['read', 'write'] }
await verdict.post(`${RESOURCES}/document/action_groups`, all)
await verdict.post(`${SCHEMA}/users/attributes`, { key: 'level', type: 'number' })
await verdict.post(`${SCHEMA}/${TENANT_ATTRIBUTES}`, { key: 'plan', type: 'string' })
await verdict.tenantRole('auditor', ['document:read', 'folder:read'])
await verdict.tenantRole('chief', [])
const SETS = `${SCHEMA}/condition_sets`
for (const body of [
  { key: 'low', name: 'Low', conditions: { 'user.level': { 'less-than': 3 } } },
  { key: 'staff', name: 'Staff', conditions: { 'user.staff': { equals: true } } },
  { key: 'docs', name: 'Docs', type: 'resourceset', resource_id: 'document' },
  { key: 'any', name: 'Any', type: 'resourceset' },
]) {
  await verdict.post(SETS, body)
}
await verdict.patch(`${SETS}/low`, { parent_id: 'staff' })
await verdict.setRule('low', 'document:write', 'docs')
await verdict.setRule('auditor', 'document:write', 'any')
await verdict.setRule('staff', 'folder:read', 'folder')
const spelling = { case_sensitive: true, encoded_slashes: 'literal' }
const mapping = { url: 'https://a.org/{id}', http_method: 'get', action: 'read', ...spelling }
for (const [key, ...resources] of [['z', 'document'], ['a', 'folder', 'document'], ['m']]) {
  const mapping_rules = resources.map(resource => ({ ...mapping, resource }))
  await verdict.post(`${FACTS}/proxy_configs`, { key, name: key, secret: 'not-told', mapping_rules })
}
// Facts and the relations of their groups are not copied.
await verdict.user('alice')
await verdict.group('team')
await verdict.join('team', 'alice')
await verdict.grant('team', 'viewer', 'document:d1')

function copy(body: object, source = 'default'): Promise<Answer<Environment>> {
  return verdict.admin('POST', `${ENVS}/${source}/copy`, body)
}

/** The schema of an environment, without ids and times. */
async function schemaOf(environment: string): Promise<unknown> {
  const base = `/v2/schema/default/${environment}`
  const parts = ['resources', 'roles', 'users/attributes', TENANT_ATTRIBUTES]
  const types = await verdict.admin<{ key: string }[]>('GET', `${base}/resources`)
  for (const { key } of types.body) {
    parts.push(...['relations', 'action_groups', 'roles'].map(part => `resources/${key}/${part}`))
  }
  const found = await Promise.all(parts.map(part => verdict.admin<object[]>('GET', `${base}/${part}`)))
  const sets = await verdict.admin<{ key: string }[]>('GET', `${base}/condition_sets`)
  // A copy lists parents before their children, so the order can differ.
  const sorted = { body: sets.body.toSorted((one, other) => (one.key < other.key ? -1 : 1)) }
  const rules = await verdict.admin<unknown[]>('GET', `/v2/facts/default/${environment}/set_rules`)
  const configs = await verdict.admin<unknown[]>('GET', `/v2/facts/default/${environment}/proxy_configs`)
  return [...found, sorted, rules, configs].map(({ body }) => withoutIds(body))
}

function withoutIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutIds)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([name]) => !/(^|_)id$|_at$/.test(name))
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutIds(inner)]))
}

const idsIn = (value: unknown) => new Set(JSON.stringify(value).match(/"id":"[0-9a-f-]{36}"/g))

async function keyOf(environment: string): Promise<string> {
  return (await verdict.admin<{ secret: string }>('GET', `/v2/api-key/default/${environment}`)).body.secret
}

/** The schema of the source without the relations that roles of groups created. */
const WITHOUT_GRANTS = await (async () => {
  await verdict.revoke('team', 'viewer', 'document:d1')
  const schema = await schemaOf('default')
  await verdict.grant('team', 'viewer', 'document:d1')
  return schema
})()

describe('a copy into a new environment', () => {
  test('creates an environment with the same schema, new ids, no facts and its own API key', async () => {
    const [key] = fresh('copied')
    const answer = await copy({ target_env: { new: { key, name: 'Copy', description: 'C' } } })
    expect([answer.status, answerFindings('copyEnvironment', 201, answer.body)]).toEqual([201, []])
    expect(answer.body).toMatchObject({ key, name: 'Copy', description: 'C' })
    expect(await schemaOf(key)).toEqual(WITHOUT_GRANTS)
    const resources = async (name: string) =>
      (await verdict.admin('GET', `/v2/schema/default/${name}/resources`)).body
    const ids = idsIn(await resources(key))
    expect([...idsIn(await resources('default'))].filter(id => ids.has(id))).toEqual([])
    const facts = `/v2/facts/default/${key}`
    const users = await verdict.admin('GET', `${facts}/users`)
    expect(users.body).toMatchObject({ total_count: 0 })
    const instances = await verdict.admin('GET', `${facts}/resource_instances`)
    expect(instances.body).toEqual([])
    const own = await keyOf(key)
    // Decisions use the copied schema: a keeper of the folder can write the document.
    const post = (path: string, body: unknown) => verdict.send('POST', path, { key: own, body })
    await post(`${facts}/users`, { key: 'bob' })
    const tuple = { subject: 'folder:f', relation: 'parent', object: 'document:d', tenant: 'default' }
    expect((await post(`${facts}/relationship_tuples`, tuple)).status).toBe(200)
    const held = { user: 'bob', role: 'keeper', resource_instance: 'folder:f' }
    expect((await post(`${facts}/role_assignments`, held)).status).toBe(200)
    const check = question('bob', 'write', 'document:d')
    expect((await post('/allowed', check)).body).toMatchObject({ allow: true })
  })

  test('includes only the resources and roles of its scope', async () => {
    const [key] = fresh('part')
    const scope = { resources: { include: ['f*', 'doc*'], exclude: ['*ument'] }, roles: { include: [] } }
    const bad = await copy({ target_env: { new: { key, name: key } }, scope })
    // The relation `about` of folders has documents as subjects, and the scope excludes documents.
    expect(refusal(bad)).toEqual(NOT_FOUND)
    expect((await verdict.admin('GET', `${ENVS}/${key}`)).status).toBe(404)
    const good = { roles: { include: ['chief'] }, resources: { exclude: ['*'] } }
    expect((await copy({ target_env: { new: { key, name: key } }, scope: good })).status).toBe(201)
    const roles = await verdict.admin<{ key: string }[]>('GET', `/v2/schema/default/${key}/roles`)
    expect(roles.body.map(role => role.key)).toEqual(['chief'])
    const builtIn = `/v2/schema/default/${key}/resources?include_built_in=true`
    const { body } = await verdict.admin<{ key: string; attributes: object }[]>('GET', builtIn)
    const attributes = Object.fromEntries(body.map(each => [each.key, each.attributes]))
    expect(attributes).toEqual({ __user: {}, __tenant: {} })
  })

  test('includes the condition sets of its scope, and the rules whose parts are all copied', async () => {
    const [key, orphan] = fresh('sets', 'orphan')
    const withoutParent = { user_sets: { include: ['low'] } }
    // Without its parent, the set would match more users.
    const refused = await copy({ target_env: { new: { key: orphan, name: orphan } }, scope: withoutParent })
    expect(refusal(refused)).toEqual(NOT_FOUND)
    const scope = {
      resources: { include: ['document', 'folder'] },
      roles: { include: [] },
      user_sets: { include: ['low', 'staff'] },
      resource_sets: { exclude: ['docs'] },
    }
    expect((await copy({ target_env: { new: { key, name: key } }, scope })).status).toBe(201)
    const read = async <Item>(path: string): Promise<Item[]> =>
      (await verdict.admin<Item[]>('GET', `/v2/${path}`)).body
    const sets = await read<{ key: string; parent_id: string | null }>(`schema/default/${key}/condition_sets`)
    // The last set was generated for the resource of a rule.
    expect(sets.map(set => set.key)).toEqual(['staff', 'low', 'any', '__autogen_folder'])
    const rules = await read<{ user_set: string }>(`facts/default/${key}/set_rules`)
    expect(rules.map(rule => rule.user_set)).toEqual(['staff'])
    const none = { include: [] }
    const nothing = { resources: none, roles: none, user_sets: none, resource_sets: none }
    const [bare] = fresh('bare')
    expect((await copy({ target_env: { new: { key: bare, name: bare } }, scope: nothing })).status).toBe(201)
    const configs = await read<{ key: string }>(`facts/default/${bare}/proxy_configs`)
    // The rules of the other configs name resources that were not copied.
    expect(configs.map(config => config.key)).toEqual(['m'])
    // Decisions use the copied condition sets.
    const sue = { key: 'sue', attributes: { staff: true } }
    expect((await verdict.admin('POST', `/v2/facts/default/${key}/users`, sue)).status).toBe(200)
    const check = { key: await keyOf(key), body: question('sue', 'read', 'folder') }
    expect((await verdict.send('POST', '/allowed', check)).body).toMatchObject({ allow: true })
  })

  test.each([
    [{ target_env: {} }, 422],
    [{ target_env: { existing: 'default', new: { key: 'k', name: 'K' } } }, 422],
    [{ target_env: { new: { key: 'default', name: 'D' } } }, 409],
    [{ target_env: { existing: 'nothing' } }, 404],
    [{ target_env: { existing: 'default' } }, 400],
    [{ target_env: { existing: 'default' }, conflict_strategy: 'merge' }, 422],
  ])('is rejected for %j with %i', async (body, status) => {
    expect(refusal(await copy(body))[0]).toBe(status)
  })
})

describe('a copy into an existing environment', () => {
  test('fails at the first conflict and changes nothing', async () => {
    const [name] = fresh('conflicting')
    const key = await neighbourOf(verdict, name)
    const resource = { key: 'document', name: 'Theirs', actions: {} }
    await verdict.send('POST', `/v2/schema/default/${name}/resources`, { key, body: resource })
    const before = await schemaOf(name)
    expect(refusal(await copy({ target_env: { existing: name } }))).toEqual(DUPLICATE)
    expect(await schemaOf(name)).toEqual(before)
  })

  test('overwrites entities with the same key, which keep their ids, facts and roles of groups', async () => {
    const [name] = fresh('overwritten')
    const key = await neighbourOf(verdict, name)
    const as = <Body>(method: string, path: string, body?: unknown) =>
      verdict.send<Body>(method, path, { key, body })
    const schema = `/v2/schema/default/${name}`
    const facts = `/v2/facts/default/${name}`
    const theirs = await as<{ id: string }>('POST', `${schema}/resources`, {
      key: 'document',
      name: 'Theirs',
      actions: { read: {}, shred: {} },
      roles: { viewer: { name: 'V', permissions: ['shred'] }, shredder: { name: 'S' } },
    })
    await as('POST', `${schema}/roles`, { key: 'own', name: 'Own' })
    await as('POST', `${facts}/users`, { key: 'bob' })
    await as('POST', `${facts}/users`, { key: 'carol' })
    const held = { user: 'bob', role: 'viewer', resource_instance: 'document:d', tenant: 'default' }
    expect((await as('POST', `${facts}/role_assignments`, held)).status).toBe(200)
    await as('POST', `${schema}/groups`, { group_instance_key: 'team', group_tenant: 'default' })
    await as('PUT', `${schema}/groups/team/users/carol`, { tenant: 'default' })
    const grant = { role: 'viewer', resource: 'document', resource_instance: 'd', tenant: 'default' }
    expect((await as('POST', `${schema}/groups/team/roles`, grant)).status).toBe(200)
    const answer = await copy({ target_env: { existing: name }, conflict_strategy: 'overwrite' })
    expect([answer.status, answer.body.key]).toEqual([201, name])
    const now = await as<{ id: string; name: string; actions: object; roles: object }>(
      'GET',
      `${schema}/resources/document`,
    )
    expect(now.body).toMatchObject({ id: theirs.body.id, name: 'document' })
    expect(Object.keys(now.body.actions)).toEqual(['read', 'write'])
    expect(Object.keys(now.body.roles)).toEqual(['viewer', 'editor'])
    expect((await as('GET', `${schema}/roles/own`)).status).toBe(200)
    for (const [user, action, allow] of [
      ['bob', 'read', true],
      ['carol', 'read', true],
      ['bob', 'shred', false],
    ] as const) {
      const { body } = await as('POST', '/allowed', question(user, action, 'document:d'))
      expect(body, `${user} ${action}`).toMatchObject({ allow })
    }
    // A second copy changes nothing.
    const before = await schemaOf(name)
    await copy({ target_env: { existing: name }, conflict_strategy: 'overwrite' })
    expect(await schemaOf(name)).toEqual(before)
  })

  test('overwrites condition sets and their parents, even if a parent and its child change places', async () => {
    const [name] = fresh('ruled')
    const key = await neighbourOf(verdict, name)
    const as = (method: string, path: string, body?: unknown) =>
      verdict.send<{ id: string }>(method, path, { key, body })
    const sets = `/v2/schema/default/${name}/condition_sets`
    const rules = `/v2/facts/default/${name}/set_rules`
    await as('POST', sets, { key: 'low', name: 'Theirs' })
    await as('POST', sets, { key: 'staff', name: 'Theirs', parent_id: 'low' })
    await as('POST', sets, { key: 'own', name: 'Own', parent_id: 'staff' })
    const theirs = (await as('GET', `${sets}/staff`)).body
    const disk = { key: 'disk', name: 'D', actions: { spin: {} } }
    await as('POST', `/v2/schema/default/${name}/resources`, disk)
    await as('POST', rules, { user_set: 'staff', permission: 'disk:spin', resource_set: 'disk' })
    expect(refusal(await copy({ target_env: { existing: name } }))).toEqual(DUPLICATE)
    const overwriting = { target_env: { existing: name }, conflict_strategy: 'overwrite' }
    expect((await copy(overwriting)).status).toBe(201)
    const staff = (await as('GET', `${sets}/staff`)).body
    expect(staff).toMatchObject({ id: theirs.id, name: 'Staff', parent_id: null })
    expect((await as('GET', `${sets}/low`)).body).toMatchObject({ name: 'Low', parent_id: staff.id })
    expect((await as('GET', `${sets}/own`)).body).toMatchObject({ parent_id: staff.id })
    const before = await schemaOf(name)
    expect((await copy(overwriting)).status).toBe(201)
    expect(await schemaOf(name)).toEqual(before)
    const kept = await verdict.send<unknown[]>('GET', rules, { key })
    expect(kept.body).toHaveLength(4)
  })

  test.each([
    ['type', { key: 'docs', name: 'X' }],
    ['resource', { key: 'docs', name: 'X', type: 'resourceset' }],
  ])('is rejected if a condition set of another %s has the same key', async (_, body) => {
    const [name] = fresh('other-set')
    const key = await neighbourOf(verdict, name)
    await verdict.send('POST', `/v2/schema/default/${name}/condition_sets`, { key, body })
    const before = await schemaOf(name)
    const answer = await copy({ target_env: { existing: name }, conflict_strategy: 'overwrite' })
    expect(refusal(answer)).toEqual(IMPOSSIBLE)
    expect(await schemaOf(name)).toEqual(before)
  })

  test('removes the roles of groups if the copied resource of the groups has no member role', async () => {
    const [source, target] = fresh('memberless', 'granted')
    for (const name of [source, target]) await neighbourOf(verdict, name)
    const viewer = { viewer: { name: 'Viewer', permissions: ['read'] } }
    const paper = { key: 'paper', name: 'Paper', actions: { read: {} }, roles: viewer }
    for (const name of [source, target])
      await verdict.admin('POST', `/v2/schema/default/${name}/resources`, paper)
    const crew = { key: 'crew', name: 'Crew', actions: {} }
    await verdict.admin('POST', `/v2/schema/default/${source}/resources`, crew)
    await verdict.admin('POST', `/v2/facts/default/${target}/users`, { key: 'alice' })
    const groups = `/v2/schema/default/${target}/groups`
    const group = { group_instance_key: 'one', group_tenant: 'default', group_resource_type_key: 'crew' }
    await verdict.admin('POST', groups, group)
    await verdict.admin('PUT', `${groups}/crew:one/users/alice`, { tenant: 'default' })
    await verdict.admin('POST', `${groups}/crew:one/roles`, grantBody('viewer', 'paper:p'))
    const check = { key: await keyOf(target), body: question('alice', 'read', 'paper:p') }
    const decision = async () => (await verdict.send('POST', '/allowed', check)).body
    expect(await decision()).toMatchObject({ allow: true })
    const answer = await copy({ target_env: { existing: target }, conflict_strategy: 'overwrite' }, source)
    expect(answer.status).toBe(201)
    expect(await decision()).toMatchObject({ allow: false })
  })
})
