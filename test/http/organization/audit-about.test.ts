/** The audit log filtered by entity (`about`): finds calls that name the entity by its key or id. */
import { expect, test } from 'vitest'
import type { AuditEntry } from '#model/wire/organization/audit.ts'
import {
  type Client,
  type Envelope,
  FACTS,
  GROUPS,
  SCHEMA,
  startedService,
} from '#testing/processes/running-service.ts'
import { refusal } from '../../support/calls/refusals.ts'

const LOG = '/v2/audit-log/default/default'

/** The operations about an entity, oldest first. */
async function about(verdict: Client, entity: string, more = ''): Promise<string[]> {
  const query = `about=${encodeURIComponent(entity)}&order=oldest&per_page=100${more}`
  const { total_count, data } = await verdict.done<Envelope<AuditEntry>>('GET', `${LOG}?${query}`)
  expect(total_count).toBe(data.length)
  return data.map(({ operation }) => operation)
}

async function startedCompany(): Promise<Client> {
  const verdict = await startedService()
  await verdict.createDocumentModel()
  await verdict.tenantRole('clerk', ['document:read'])
  await verdict.tenant('acme')
  await verdict.users('alice', 'bob')
  await verdict.instance('document:readme')
  await verdict.instance('document:other')
  await verdict.groups('support', 'staff')
  await verdict.join('support', 'alice')
  await verdict.nest('support', { into: 'staff' })
  await verdict.assign('alice', 'clerk', 'acme')
  await verdict.grant('support', 'viewer', 'document:readme')
  return verdict
}

test('a user is found by key and by id in creations, grants, group changes, bulk calls and deletions', async () => {
  const verdict = await startedCompany()
  const { body: alice } = await verdict.get<{ id: string }>(`${FACTS}/users/alice`)
  await verdict.patch(`${FACTS}/users/${alice.id.toUpperCase()}`, { attributes: { user: 'bob', key: 'bob' } })
  await verdict.put(`${FACTS}/bulk/users`, { operations: [{ key: 'carol' }, { key: 'alice' }] })
  await verdict.post(`${FACTS}/role_assignments/bulk`, [
    { user: 'bob', role: 'clerk', tenant: 'acme' },
    { user: 'alice', role: 'clerk', tenant: 'default' },
  ])
  const ofAlice = [
    'createUser',
    'addGroupMember',
    'createRoleAssignment',
    'updateUser',
    'replaceUsers',
    'assignRoles',
  ]
  expect(await about(verdict, 'user:alice')).toEqual(ofAlice)
  expect(await about(verdict, `user:${alice.id}`)).toEqual(ofAlice)
  expect(await about(verdict, `user:${alice.id.toUpperCase()}`)).toEqual(ofAlice)
  expect(await about(verdict, 'user:bob')).toEqual(['createUser', 'assignRoles'])
  expect(await about(verdict, 'user:nobody')).toEqual([])
  await verdict.send('DELETE', `${FACTS}/bulk/users`, { body: { idents: ['alice', 'carol'] } })
  // Each entry has the key and the id, even if the call contained only the key or the id.
  for (const name of ['alice', alice.id, alice.id.toUpperCase()])
    expect(await about(verdict, `user:${name}`), name).toEqual([...ofAlice, 'deleteUsers'])
})

/** The entities that the newest entry names, as `kind:key`, with their ids. */
async function newest(verdict: Client): Promise<Readonly<Record<string, string>>> {
  const { body } = await verdict.get<Envelope<AuditEntry>>(`${LOG}?per_page=1`)
  return Object.fromEntries(body.data[0]!.about.map(({ kind, key, id }) => [`${kind}:${key}`, id]))
}

test('an entry about a change or deletion by id has the key and id of each entity in the path', async () => {
  const verdict = await startedCompany()
  await verdict.conditionSet({ key: 'large', type: 'resourceset', resource_id: 'document', conditions: {} })
  const config = { key: 'proxy', name: 'P', auth_mechanism: 'Bearer', mapping_rules: [], secret: 's' }
  expect((await verdict.post(`${FACTS}/proxy_configs`, config)).status).toBe(200)
  await verdict.post(`${SCHEMA}/resources`, { key: 'folder', name: 'Folder', actions: { read: {} } })
  const made: Readonly<Record<string, object>> = {
    roles: { key: 'author', name: 'A' },
    relations: { key: 'parent', name: 'P', subject_resource: 'folder' },
    actions: { key: 'share', name: 'S' },
    action_groups: { key: 'all', name: 'A', actions: [] },
    attributes: { key: 'size', type: 'number' },
  }
  for (const [noun, body] of Object.entries(made))
    expect((await verdict.post(`${SCHEMA}/resources/document/${noun}`, body)).status, noun).toBe(200)
  // A tenant role with the same key as the resource role.
  await verdict.tenantRole('author', [])
  const DOCUMENT = `${SCHEMA}/resources/document`
  const ENTITIES: readonly (readonly [path: string, entity: string, hasPatch: boolean])[] = [
    [`${FACTS}/users/bob`, 'user:bob', true],
    [`${FACTS}/tenants/acme`, 'tenant:acme', true],
    [`${FACTS}/resource_instances/document:readme`, 'resource_instance:document:readme', true],
    [`${GROUPS}/support`, 'resource_instance:group:support', false],
    [`${FACTS}/proxy_configs/proxy`, 'proxy_config:proxy', true],
    [`${SCHEMA}/condition_sets/large`, 'condition_set:large', true],
    [`${SCHEMA}/roles/clerk`, 'role:clerk', true],
    [`${DOCUMENT}/roles/author`, 'role:author', true],
    [`${DOCUMENT}/relations/parent`, 'relation:parent', false],
    [`${DOCUMENT}/action_groups/all`, 'action_group:all', true],
    [`${DOCUMENT}/actions/share`, 'action:share', true],
    [`${DOCUMENT}/attributes/size`, 'attribute:size', true],
    [DOCUMENT, 'resource:document', true],
  ]
  const { body: document } = await verdict.get<{ id: string }>(DOCUMENT)
  for (const [path, entity, hasPatch] of ENTITIES) {
    const { id } = (await verdict.get<{ id: string }>(path)).body
    const byId = path.replace('/document/', `/${document.id}/`).replace(/[^/]+$/, id)
    const isPart = path.startsWith(`${DOCUMENT}/`)
    const expected = { [entity]: id, ...(isPart && { 'resource:document': document.id }) }
    if (hasPatch) {
      expect((await verdict.patch(byId, { description: 'x' })).status, entity).toBe(200)
      expect(await newest(verdict)).toEqual(expected)
    }
    expect((await verdict.delete(byId)).status, entity).toBe(204)
    expect(await newest(verdict)).toEqual(expected)
    const kinds = ['user', 'tenant', 'resource', 'resource_instance', 'role', 'condition_set']
    const kind = entity.split(':')[0]!
    if (!kinds.includes(kind)) continue
    // The filter finds a deleted entity by key and by id.
    for (const name of [entity, `${kind}:${id}`])
      expect((await about(verdict, name)).at(-1), name).toMatch(/^delete/)
  }
})

test('an entry about a role assignment by ids has the keys of the user, the role and the tenant', async () => {
  const verdict = await startedCompany()
  const idOf = async (path: string) => (await verdict.get<{ id: string }>(path)).body.id
  const [user, role, tenant] = await Promise.all([
    idOf(`${FACTS}/users/alice`),
    idOf(`${SCHEMA}/roles/clerk`),
    idOf(`${FACTS}/tenants/acme`),
  ])
  const expected = { 'user:alice': user, 'role:clerk': role, 'tenant:acme': tenant }
  await verdict.send('DELETE', `${FACTS}/role_assignments`, { body: { user, role, tenant } })
  expect(await newest(verdict)).toEqual(expected)
  await verdict.post(`${FACTS}/role_assignments/bulk`, [{ user, role, tenant }])
  expect(await newest(verdict)).toEqual(expected)
  await verdict.send('DELETE', `${FACTS}/role_assignments/bulk`, { body: [{ user, role, tenant }] })
  expect(await newest(verdict)).toEqual(expected)
  expect((await about(verdict, 'user:alice')).slice(-3)).toEqual([
    'deleteRoleAssignment',
    'assignRoles',
    'unassignRoles',
  ])
})

test('an entry of the organization has the key and id of the project, environment or API key', async () => {
  const verdict = await startedService()
  const made = await verdict.admin<{ id: string }>('POST', '/v2/projects', { key: 'shop', name: 'Shop' })
  const project = made.body.id
  const env = await verdict.admin<{ id: string }>('POST', '/v2/projects/shop/envs', {
    key: 'staging',
    name: 'S',
  })
  const key = await verdict.createKey({ project_id: project, environment_id: env.body.id, name: 'robot' })
  await verdict.admin('DELETE', `/v2/api-key/${key.id}`)
  await verdict.admin('DELETE', `/v2/projects/${project}/envs/${env.body.id}`)
  await verdict.admin('DELETE', `/v2/projects/${project}`)
  const { body } = await verdict.admin<Envelope<AuditEntry>>('GET', '/v2/audit-log?per_page=6')
  const found = body.data.map(({ operation, about: entities }) => [operation, entities])
  const [ofProject, ofEnvironment, ofKey] = [
    { kind: 'project', key: 'shop', id: project },
    { kind: 'environment', key: 'staging', id: env.body.id },
    { kind: 'api_key', key: 'robot', id: key.id },
  ]
  expect(found.slice(0, 4)).toEqual([
    ['deleteProject', [ofProject]],
    ['deleteEnvironment', [ofProject, ofEnvironment]],
    ['deleteApiKey', [ofKey]],
    ['createApiKey', expect.arrayContaining([ofProject, ofEnvironment, ofKey])],
  ])
  expect(found[4]).toEqual(['createEnvironment', expect.arrayContaining([ofProject, ofEnvironment])])
  expect(found[5]).toEqual(['createProject', expect.arrayContaining([ofProject])])
})

test('a group is found by key, type:key and id, without groups of other types with the same key', async () => {
  const verdict = await startedCompany()
  await verdict.post(GROUPS, {
    group_instance_key: 'support',
    group_tenant: 'default',
    group_resource_type_key: 'team',
  })
  const ofSupport = ['createGroup', 'addGroupMember', 'assignGroup', 'addGroupRole']
  const { body } = await verdict.get<{ id: string }>(`${GROUPS}/support`)
  for (const name of ['support', 'group:support', body.id]) {
    expect(await about(verdict, `group:${name}`), name).toEqual(ofSupport)
  }
  expect(await about(verdict, 'resource_instance:group:support')).toEqual(ofSupport)
  expect(await about(verdict, 'group:team:support')).toEqual(['createGroup'])
  expect(await about(verdict, 'group:staff')).toEqual(['createGroup', 'assignGroup'])
  await verdict.delete(`${GROUPS}/${body.id}`)
  for (const name of ['support', 'group:support', body.id])
    expect(await about(verdict, `group:${name}`), name).toEqual([...ofSupport, 'deleteGroup'])
})

test('resources, instances, tenants, roles and condition sets are found by key', async () => {
  const verdict = await startedCompany()
  await verdict.patch(`${SCHEMA}/resources/document`, { name: 'Document' })
  await verdict.conditionSet({ key: 'large', type: 'resourceset', resource_id: 'document', conditions: {} })
  await verdict.setRule('clerk', 'document:read', 'large')
  expect(await about(verdict, 'resource:document')).toEqual([
    'createResource',
    'createTenantRole',
    'updateResource',
    'createConditionSet',
    'createSetRule',
  ])
  expect(await about(verdict, 'resource_instance:document:readme')).toEqual([
    'createResourceInstance',
    'addGroupRole',
  ])
  expect(await about(verdict, 'tenant:acme')).toEqual(['createTenant', 'createRoleAssignment'])
  expect(await about(verdict, 'role:clerk')).toEqual([
    'createTenantRole',
    'createRoleAssignment',
    'createSetRule',
  ])
  expect(await about(verdict, 'role:viewer')).toContain('addGroupRole')
  expect(await about(verdict, 'condition_set:large')).toEqual(['createConditionSet', 'createSetRule'])
})

test('the entry about an expired grant is found by its user, its role and its tenant', async () => {
  const verdict = await startedCompany()
  const expires_at = new Date(Date.now() + 3_000).toISOString()
  const ending = { user: 'bob', role: 'clerk', tenant: 'acme', expires_at }
  expect((await verdict.post(`${FACTS}/role_assignments`, ending)).status).toBe(200)
  for (;;) if ((await about(verdict, 'user:bob')).includes('expireGrants')) break
  for (const entity of ['role:clerk', 'tenant:acme'])
    expect(await about(verdict, entity), entity).toContain('expireGrants')
  expect(await about(verdict, 'user:alice')).not.toContain('expireGrants')
})

test('the filter combines with other filters and pages, and rejects values other than kind:key', async () => {
  const verdict = await startedCompany()
  for (let level = 0; level < 5; level += 1) {
    await verdict.patch(`${FACTS}/users/alice`, { attributes: { level } })
    await verdict.patch(`${FACTS}/users/bob`, { attributes: { level } })
  }
  expect(await about(verdict, 'user:alice', '&operation=updateUser')).toHaveLength(5)
  const levels = async (page: number): Promise<unknown[]> => {
    const query = `about=user:alice&operation=updateUser&per_page=2&page=${page}`
    const { body } = await verdict.get<Envelope<AuditEntry>>(`${LOG}?${query}`)
    expect([body.total_count, body.page_count]).toEqual([5, 3])
    return body.data.map(({ input }) => JSON.stringify(input['body']).replaceAll(/\D/g, ''))
  }
  expect(await Promise.all([1, 2, 3, 4].map(levels))).toEqual([['4', '3'], ['2', '1'], ['0'], []])
  for (const text of ['alice', 'user:', 'person:alice', ''])
    expect(refusal(await verdict.get(`${LOG}?about=${text}`))[0], text).toBe(422)
  const organization = await verdict.admin('GET', '/v2/audit-log?about=user:alice')
  expect(organization.status).toBe(422)
})

test('entities of a body that is too large for the audit log are found', async () => {
  const verdict = await startedCompany()
  const long = { attributes: { long: 'x'.repeat(3_000) } }
  await verdict.patch(`${FACTS}/users/alice`, long)
  await verdict.put(`${FACTS}/users/bob`, { key: 'bob', ...long })
  await verdict.post(`${FACTS}/users`, { key: 'dora', ...long })
  expect(await about(verdict, 'user:alice', '&operation=updateUser')).toHaveLength(1)
  expect(await about(verdict, 'user:bob', '&operation=replaceUser')).toHaveLength(1)
  expect(await about(verdict, 'user:dora')).toEqual(['createUser'])
})

test('a bulk call with thousands of entities is found by the key and the id of each of them', async () => {
  const verdict = await startedService()
  const operations = Array.from({ length: 6_000 }, (_, index) => ({ key: `many-${index}` }))
  const idents: string[] = []
  expect((await verdict.put(`${FACTS}/bulk/users`, { operations })).status).toBe(200)
  const { body: made } = await verdict.get<Envelope<AuditEntry>>(`${LOG}?per_page=1`)
  expect(made.data[0]).toMatchObject({ is_input_cut: true, is_about_cut: false })
  for (const { id } of made.data[0]!.about) idents.push(id.replaceAll('-', ''))
  expect(idents).toHaveLength(6_000)
  expect((await verdict.send('DELETE', `${FACTS}/bulk/users`, { body: { idents } })).status).toBe(200)
  const operationsOn = ['replaceUsers', 'deleteUsers']
  for (const name of ['many-7', 'many-5999', idents[7]!])
    expect(await about(verdict, `user:${name}`), name).toEqual(operationsOn)
  expect(await about(verdict, 'user:many-6000')).toEqual([])
  const { body } = await verdict.get<Envelope<AuditEntry>>(`${LOG}?about=user:many-7`)
  const shown = body.data.map(({ about: entities, is_about_cut }) => [entities.length, is_about_cut])
  expect(shown).toEqual([
    [6_000, false],
    [100, true],
  ])
})
