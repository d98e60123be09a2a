/** Ids in paths, queries and bodies can be written with or without hyphens, and in upper or lower case. */
import { describe, expect, test } from 'vitest'
import { createOneOfEach } from '../../support/calls/one-of-each.ts'
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

test('an id is read with or without hyphens, in upper or lower case, and in no other form', () => {
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

function made(path: string, body: object, key?: string): Promise<Identified> {
  return verdict.done('POST', path, body, key)
}

/** The id as 32 digits without hyphens. */
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
const { body: scope } = await verdict.get<Readonly<Record<string, string>>>('/v2/api-key/scope')
const [organization, project, environment] = ['organization', 'project', 'environment'].map(kind =>
  bare({ id: scope[`${kind}_id`]! }),
)
const place = `${project}/${environment}`

describe('an id without hyphens', async () => {
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
  ])('is accepted in the path of GET %s', async path => {
    expect((await verdict.get(path)).status).toBe(200)
  })

  test.each([
    `/v2/projects/${project}`,
    `/v2/projects/${project}/envs/${environment}`,
    `/v2/facts/${place}/users/alice`,
    `/v2/orgs/${organization}`,
    `/v2/api-key/${bare(apiKey)}`,
    `/v2/api-key/${place}`,
    `/v2/api-key?proj_id=${project}`,
  ])('is accepted in GET %s with a key of the organization', async path => {
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
  ])('is accepted in the body of POST %s and in the filters of its list', async (path, body, queries) => {
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
      { mapping_rules: [{ url: 'https://a.org/x', http_method: 'get', resource: doc }] },
    ],
    [
      'POST',
      `${SCHEMA}/condition_sets/try`,
      { type: 'userset', samples: [{ user, resource_instance: other }] },
    ],
    ['PUT', `${RESOURCES}/${doc}`, { name: 'Doc', actions: { read: {} } }],
  ])('is accepted in %s %s of %j', async (method, path, body) => {
    await verdict.done(method, path, body)
  })

  test('is accepted in the body of a new API key, in audit log filters, and in a list of entities to delete', async () => {
    const body = { organization_id: organization, project_id: project, environment_id: environment }
    await made('/v2/api-key', body, ADMIN_KEY)
    const { body: ownKey } = await verdict.admin<Identified>('GET', `/v2/api-key/${place}`)
    const query = `about=user:${user}&api_key_id=${bare(ownKey)}`
    const about = await verdict.done<{ total_count: number }>('GET', `/v2/audit-log/${place}?${query}`)
    expect(about.total_count).toBeGreaterThan(0)
    const spare = await made(`${FACTS}/users`, { key: 'spare' })
    expect((await verdict.delete(`${FACTS}/bulk/users`, { idents: [bare(spare)] })).status).toBe(200)
    expect((await verdict.get(`${FACTS}/users/spare`)).status).toBe(404)
  })
})

test('a key in the form of an id without hyphens takes precedence, and a resource can have such a key', async () => {
  const key = user
  await made(`${FACTS}/users`, { key })
  expect((await verdict.get<Identified>(`${FACTS}/users/${key}`)).body.key).toBe(key)
  expect((await verdict.get<Identified>(`${FACTS}/users/${ids['user_id']}`)).body.key).toBe('alice')
  const resource = { name: 'Hash', actions: {} }
  expect((await verdict.put(`${RESOURCES}/${'ab12'.repeat(8)}`, resource)).status).toBe(200)
  expect((await verdict.put(`${RESOURCES}/${ID}`, resource)).status).toBe(404)
})
