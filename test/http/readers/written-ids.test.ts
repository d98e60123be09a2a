/** Ids as clients write them: with hyphens or without, in capitals or not, wherever a path, a query or a body names something. */
import { describe, expect, test } from 'vitest'
import { createOneOfEach } from '../../support/one-of-each.ts'
import { idFrom } from '#model/instance-reference.ts'
import {
  ADMIN_KEY,
  API_KEY,
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

const ids = await createOneOfEach(verdict, 'default/default', API_KEY)
const id = (name: string): string => bare({ id: ids[name]! })
const [doc, action, relation] = [id('resource_id'), id('action_id'), id('relation_id')]
const [viewer, set, config] = [id('role_id'), id('condition_set_id'), id('proxy_config_id')]
const [user, tenant, group] = [id('user_id'), id('tenant_id'), id('group_instance_key')]
const [instance, other] = [id('instance_id'), id('other_instance_id')]
const idAt = async (path: string): Promise<string> => bare((await verdict.get<Identified>(path)).body)
const owner = await idAt(`${RESOURCES}/doc/roles/owner`)
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

describe('without hyphens an id is found', async () => {
  test.each([
    `${RESOURCES}/${doc}`,
    `${RESOURCES}/${await idAt(`${RESOURCES}/__user`)}`,
    `${RESOURCES}/${doc}/actions/${action}`,
    `${RESOURCES}/${doc}/action_groups/${id('action_group_id')}`,
    `${RESOURCES}/${doc}/attributes/${id('attribute_id')}`,
    `${RESOURCES}/${doc}/relations/${relation}`,
    `${RESOURCES}/${doc}/roles/${viewer}`,
    `${SCHEMA}/roles/${id('tenant_role_id')}`,
    `${SCHEMA}/roles/${id('tenant_role_id').toUpperCase()}`,
    `${SCHEMA}/condition_sets/${set}`,
    `${SCHEMA}/condition_sets/${await idAt(`${SCHEMA}/condition_sets/__autogen_auditor`)}`,
    `${FACTS}/users/${user}`,
    `${FACTS}/tenants/${tenant}`,
    `${FACTS}/tenants/${tenant}/users`,
    `${FACTS}/resource_instances/${instance}`,
    `${FACTS}/proxy_configs/${config}`,
    `${GROUPS}/direct/${group}`,
    `/v2/facts/${place}/users/alice`,
  ])('in the path of GET %s', async path => {
    expect((await verdict.get(path)).status).toBe(200)
  })

  test.each([
    `/v2/projects/${bare(project)}`,
    `/v2/projects/${bare(project)}/envs/${bare(environment)}`,
    `/v2/facts/${place}/users/alice`,
    `/v2/orgs/${bare(organization)}`,
    `/v2/api-key/${bare(apiKey)}`,
    `/v2/api-key/${place}`,
    `/v2/api-key?proj_id=${bare(project)}`,
  ])('in the path of GET %s for the organization', async path => {
    expect((await verdict.admin('GET', path)).status).toBe(200)
  })

  test.each([
    [
      `${FACTS}/role_assignments`,
      { user, role: owner, tenant, resource_instance: other },
      [`user=${user}&role=${owner}&tenant=${tenant}`, `resource_instance=${other}`],
    ],
    [
      `${FACTS}/relationship_tuples`,
      { subject: other, relation, object: instance, tenant },
      [`subject=${other}&relation=${relation}&object=${instance}`],
    ],
    [
      `${FACTS}/set_rules`,
      { user_set: set, permission: action, resource_set: doc },
      [`user_set=${set}&permission=${action}&resource_set=${doc}`],
    ],
  ])('in the body of POST %s, and in its list', async (path, body, queries) => {
    expect((await verdict.post(path, body)).status).toBe(200)
    for (const query of queries) expect((await verdict.get(`${path}?${query}`)).body, query).toHaveLength(1)
    expect((await verdict.send('DELETE', path, { body })).status).toBe(204)
  })

  test.each<[method: string, path: string, body: object]>([
    ['POST', `${SCHEMA}/roles/auditor/permissions`, { permissions: [action] }],
    ['POST', `${RESOURCES}/doc/roles/viewer/permissions`, { permissions: [action] }],
    [
      'POST',
      `${RESOURCES}/doc/roles/viewer/implicit_grants`,
      { role: owner, on_resource: doc, linked_by_relation: relation },
    ],
    [
      'POST',
      `${SCHEMA}/condition_sets`,
      { key: 'large', name: 'Large', type: 'resourceset', resource_id: doc },
    ],
    ['POST', `${SCHEMA}/condition_sets`, { key: 'below', name: 'Below', parent_id: set }],
    ['PUT', `${FACTS}/users/${user}`, { key: 'alice' }],
    ['PUT', `${GROUPS}/${group}/users/${user}`, { tenant }],
    ['POST', `${GROUPS}/${group}/roles`, { resource: doc, resource_instance: other, role: owner, tenant }],
    [
      'PATCH',
      `${FACTS}/proxy_configs/${config}`,
      {
        mapping_rules: [{ url: 'https://a.org/x', http_method: 'get', resource: doc, action: undefined }],
      },
    ],
    [
      'POST',
      `${SCHEMA}/condition_sets/try`,
      { type: 'userset', samples: [{ user, resource_instance: other }] },
    ],
    ['PUT', `${RESOURCES}/${doc}`, { name: 'Doc', actions: { read: {} } }],
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
      `/v2/audit-log/${place}?about=user:${user}&api_key_id=${bare(await ownKey())}`,
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
    const { body } = await verdict.admin<{ id: string }>('GET', `/v2/api-key/${place}`)
    return body
  }
})

test('a key that looks like an id without hyphens comes first, and a resource can have one', async () => {
  const key = user
  await made(`${FACTS}/users`, { key })
  expect((await verdict.get<Identified>(`${FACTS}/users/${key}`)).body.key).toBe(key)
  expect((await verdict.get<Identified>(`${FACTS}/users/${ids['user_id']}`)).body.key).toBe('alice')
  const resource = { name: 'Hash', actions: {} }
  expect((await verdict.put(`${RESOURCES}/${'ab12'.repeat(8)}`, resource)).status).toBe(200)
  expect((await verdict.put(`${RESOURCES}/${ID}`, resource)).status).toBe(404)
})
