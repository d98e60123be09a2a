/** Ids as clients write them: with hyphens or without, in capitals or not, wherever a path, a query or a body names something. */
import { describe, expect, test } from 'vitest'
import { idFrom } from '#model/instance-reference.ts'
import {
  ADMIN_KEY,
  FACTS,
  GROUPS,
  RESOURCES,
  SCHEMA,
  sharedService,
} from '#testing/processes/running-service.ts'

const ID = '0b6ef9a1-3c3f-4d8e-9a66-0123456789ab'

test('an id is read with hyphens or without, in capitals or not, and nothing else is one', () => {
  const bareId = ID.replaceAll('-', '')
  for (const written of [ID, ID.toUpperCase(), bareId, bareId.toUpperCase()]) expect(idFrom(written)).toBe(ID)
  for (const other of [
    `${bareId}    `,
    '0b6ef9a13c3f-4d8e-9a66-0123456789ab',
    '0b6ef9a1-3c3f4d8e9a660123456789abcdef',
    `-${bareId.slice(1)}`,
    `${ID.slice(0, -1)}g`,
    `{${ID}}`,
    '',
  ]) {
    expect(idFrom(other), other).toBeNull()
  }
})

const verdict = await sharedService()

interface Identified {
  readonly id: string
  readonly key: string
}

async function made(path: string, body: object, key?: string): Promise<Identified> {
  const answer = await verdict.send<Identified>('POST', path, { body, ...(key !== undefined && { key }) })
  expect(answer.status, `${path} ${JSON.stringify(answer.body)}`).toBe(200)
  return answer.body
}

/** The id as clients write it that keep ids as 32 digits. */
const bare = ({ id }: { readonly id: string }): string => id.replaceAll('-', '')

await made(RESOURCES, { key: 'folder', name: 'Folder', actions: {}, roles: { owner: { name: 'Owner' } } })
const document = await made(RESOURCES, { key: 'document', name: 'Document', actions: {} })
const folder = (await verdict.get<Identified>(`${RESOURCES}/folder`)).body
const action = await made(`${RESOURCES}/document/actions`, { key: 'read', name: 'Read' })
const actionGroup = await made(`${RESOURCES}/document/action_groups`, { key: 'all', name: 'All' })
const attribute = await made(`${RESOURCES}/document/attributes`, { key: 'size', type: 'number' })
const relation = await made(`${RESOURCES}/document/relations`, {
  key: 'parent',
  name: 'Parent',
  subject_resource: 'folder',
})
const viewer = await made(`${RESOURCES}/document/roles`, { key: 'viewer', name: 'Viewer' })
const owner = (await verdict.get<Identified>(`${RESOURCES}/folder/roles/owner`)).body
const editor = await made(`${SCHEMA}/roles`, { key: 'editor', name: 'Editor' })
const user = await made(`${FACTS}/users`, { key: 'ann' })
const tenant = await made(`${FACTS}/tenants`, { key: 'acme', name: 'Acme' })
const instance = await made(`${FACTS}/resource_instances`, {
  key: 'd1',
  resource: 'document',
  tenant: 'acme',
})
const shelf = await made(`${FACTS}/resource_instances`, { key: 'f1', resource: 'folder', tenant: 'acme' })
const set = await made(`${SCHEMA}/condition_sets`, { key: 'staff', name: 'Staff', type: 'userset' })
const config = await made(`${FACTS}/proxy_configs`, { key: 'proxy', name: 'Proxy', secret: 's' })
const group = await made(GROUPS, { group_instance_key: 'team', group_tenant: 'acme' })
const userType = (await verdict.get<Identified>(`${RESOURCES}/__user`)).body
const ofRole = (await verdict.get<Identified>(`${SCHEMA}/condition_sets/__autogen_editor`)).body
const apiKey = await made('/v2/api-key', { project_id: 'default', environment_id: 'default' }, ADMIN_KEY)
const scope = (
  await verdict.get<{ organization_id: string; project_id: string; environment_id: string }>(
    '/v2/api-key/scope',
  )
).body
const organization = { id: scope.organization_id }
const project = { id: scope.project_id }
const environment = { id: scope.environment_id }
const place = `${bare(project)}/${bare(environment)}`

describe('without hyphens an id is found', () => {
  test.each([
    `${RESOURCES}/${bare(document)}`,
    `${RESOURCES}/${bare(userType)}`,
    `${RESOURCES}/${bare(document)}/actions/${bare(action)}`,
    `${RESOURCES}/${bare(document)}/action_groups/${bare(actionGroup)}`,
    `${RESOURCES}/${bare(document)}/attributes/${bare(attribute)}`,
    `${RESOURCES}/${bare(document)}/relations/${bare(relation)}`,
    `${RESOURCES}/${bare(document)}/roles/${bare(viewer)}`,
    `${SCHEMA}/roles/${bare(editor)}`,
    `${SCHEMA}/roles/${bare(editor).toUpperCase()}`,
    `${SCHEMA}/condition_sets/${bare(set)}`,
    `${SCHEMA}/condition_sets/${bare(ofRole)}`,
    `${FACTS}/users/${bare(user)}`,
    `${FACTS}/tenants/${bare(tenant)}`,
    `${FACTS}/tenants/${bare(tenant)}/users`,
    `${FACTS}/resource_instances/${bare(instance)}`,
    `${FACTS}/proxy_configs/${bare(config)}`,
    `${GROUPS}/direct/${bare(group)}`,
    `/v2/facts/${place}/users/ann`,
  ])('in the path of GET %s', async path => {
    expect((await verdict.get(path)).status).toBe(200)
  })

  test.each([
    `/v2/projects/${bare(project)}`,
    `/v2/projects/${bare(project)}/envs/${bare(environment)}`,
    `/v2/facts/${place}/users/ann`,
    `/v2/orgs/${bare(organization)}`,
    `/v2/api-key/${bare(apiKey)}`,
    `/v2/api-key/${place}`,
    `/v2/api-key?proj_id=${bare(project)}`,
  ])('in the path of GET %s for the organization', async path => {
    expect((await verdict.send('GET', path, { key: ADMIN_KEY })).status).toBe(200)
  })

  test.each([
    [
      `${FACTS}/role_assignments`,
      { user: bare(user), role: bare(viewer), tenant: bare(tenant), resource_instance: bare(instance) },
      [
        `user=${bare(user)}&role=${bare(viewer)}&tenant=${bare(tenant)}`,
        `resource_instance=${bare(instance)}`,
      ],
    ],
    [
      `${FACTS}/relationship_tuples`,
      { subject: bare(shelf), relation: bare(relation), object: bare(instance), tenant: bare(tenant) },
      [`subject=${bare(shelf)}&relation=${bare(relation)}&object=${bare(instance)}`],
    ],
    [
      `${FACTS}/set_rules`,
      { user_set: bare(set), permission: bare(action), resource_set: bare(document) },
      [`user_set=${bare(set)}&permission=${bare(action)}&resource_set=${bare(document)}`],
    ],
  ])('in the body of POST %s, and in its list', async (path, body, queries) => {
    expect((await verdict.post(path, body)).status).toBe(200)
    for (const query of queries) expect((await verdict.get(`${path}?${query}`)).body, query).toHaveLength(1)
    expect((await verdict.send('DELETE', path, { body })).status).toBe(204)
  })

  test.each<[method: string, path: string, body: object]>([
    ['POST', `${SCHEMA}/roles/editor/permissions`, { permissions: [bare(action)] }],
    ['POST', `${RESOURCES}/document/roles/viewer/permissions`, { permissions: [bare(action)] }],
    [
      'POST',
      `${RESOURCES}/document/roles/viewer/implicit_grants`,
      { role: bare(owner), on_resource: bare(folder), linked_by_relation: bare(relation) },
    ],
    [
      'POST',
      `${SCHEMA}/condition_sets`,
      { key: 'large', name: 'Large', type: 'resourceset', resource_id: bare(document) },
    ],
    ['POST', `${SCHEMA}/condition_sets`, { key: 'below', name: 'Below', parent_id: bare(set) }],
    ['PUT', `${FACTS}/users/${bare(user)}`, { key: 'ann' }],
    ['PUT', `${RESOURCES}/${bare(document)}`, { name: 'Document', actions: { read: {} } }],
    ['PUT', `${GROUPS}/${bare(group)}/users/${bare(user)}`, { tenant: bare(tenant) }],
    [
      'POST',
      `${GROUPS}/${bare(group)}/roles`,
      { resource: bare(folder), resource_instance: bare(shelf), role: bare(owner), tenant: bare(tenant) },
    ],
    [
      'PATCH',
      `${FACTS}/proxy_configs/${bare(config)}`,
      {
        mapping_rules: [
          { url: 'https://a.org/x', http_method: 'get', resource: bare(folder), action: undefined },
        ],
      },
    ],
    [
      'POST',
      `${SCHEMA}/condition_sets/try`,
      { type: 'userset', samples: [{ user: bare(user), resource_instance: bare(shelf) }] },
    ],
  ])('in %s %s of %j', async (method, path, body) => {
    const answer = await verdict.send(method, path, { body })
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  })

  test('where a key is created, in the audit log, and in a list of what is deleted', async () => {
    const body = {
      organization_id: bare(organization),
      project_id: bare(project),
      environment_id: bare(environment),
    }
    await made('/v2/api-key', body, ADMIN_KEY)
    const about = await verdict.get<{ total_count: number }>(
      `/v2/audit-log/${place}?about=user:${bare(user)}&api_key_id=${bare(await ownKey())}`,
    )
    expect(about.status).toBe(200)
    expect(about.body.total_count).toBeGreaterThan(0)
    const spare = await made(`${FACTS}/users`, { key: 'spare' })
    const removal = { body: { idents: [bare(spare)] } }
    expect((await verdict.send('DELETE', `${FACTS}/bulk/users`, removal)).status).toBe(200)
    expect((await verdict.get(`${FACTS}/users/spare`)).status).toBe(404)
  })

  /** The key with which the tests call. */
  async function ownKey(): Promise<{ readonly id: string }> {
    const { body } = await verdict.send<{ id: string }>('GET', `/v2/api-key/${place}`, { key: ADMIN_KEY })
    return body
  }
})

test('a key that looks like an id without hyphens comes first, and a resource can have one', async () => {
  const key = bare(user)
  await made(`${FACTS}/users`, { key })
  expect((await verdict.get<Identified>(`${FACTS}/users/${key}`)).body.key).toBe(key)
  expect((await verdict.get<Identified>(`${FACTS}/users/${user.id}`)).body.key).toBe('ann')
  const resource = { name: 'Hash', actions: {} }
  expect((await verdict.put(`${RESOURCES}/${'ab12'.repeat(8)}`, resource)).status).toBe(200)
  expect((await verdict.put(`${RESOURCES}/${ID}`, resource)).status).toBe(404)
})
