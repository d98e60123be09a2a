/** An environment with one thing of every kind. */
import { expect } from 'vitest'
import type { Client } from '#testing/processes/running-service.ts'

export type Ids = Readonly<Record<string, string>>

/** Under the same keys wherever it is made; returns the ids by the name of the parameter. `doc:d2` is below `doc:d1`. */
export async function createOneOfEach(client: Client, place: string, key: string): Promise<Ids> {
  const [schema, facts] = [`/v2/schema/${place}`, `/v2/facts/${place}`]
  const made = async (method: string, path: string, body: unknown) => {
    const answer = await client.send<{ readonly id: string }>(method, path, { key, body })
    expect([path, answer.status]).toEqual([path, 200])
    return answer.body.id
  }
  const make = (path: string, body: unknown) => made('POST', path, body)
  const doc = `${schema}/resources/doc`
  const resource_id = await make(`${schema}/resources`, {
    key: 'doc',
    name: 'Doc',
    actions: { write: {} },
    roles: { owner: { name: 'Owner' } },
  })
  const action_id = await make(`${doc}/actions`, { key: 'read', name: 'Read' })
  const action_group_id = await make(`${doc}/action_groups`, { key: 'all', name: 'All' })
  const attribute_id = await make(`${doc}/attributes`, { key: 'size', type: 'number' })
  const user_attribute_id = await make(`${schema}/users/attributes`, { key: 'size', type: 'number' })
  const relation_id = await make(`${doc}/relations`, { key: 'parent', name: 'P', subject_resource: 'doc' })
  const role_id = await make(`${doc}/roles`, { key: 'viewer', name: 'Viewer', permissions: ['read'] })
  const tenant_role_id = await make(`${schema}/roles`, {
    key: 'auditor',
    name: 'A',
    permissions: ['doc:read'],
  })
  const tenant_id = await make(`${facts}/tenants`, { key: 'acme', name: 'Acme' })
  const user_id = await make(`${facts}/users`, { key: 'alice' })
  const instance = { resource: 'doc', tenant: 'acme' }
  const instance_id = await make(`${facts}/resource_instances`, { ...instance, key: 'd1' })
  const other_instance_id = await make(`${facts}/resource_instances`, { ...instance, key: 'd2' })
  await make(`${facts}/role_assignments`, { user: 'alice', role: 'auditor', tenant: 'acme' })
  await make(`${facts}/role_assignments`, { user: 'alice', role: 'viewer', resource_instance: 'doc:d1' })
  await make(`${facts}/relationship_tuples`, { subject: 'doc:d1', relation: 'parent', object: 'doc:d2' })
  const group_instance_key = await make(`${schema}/groups`, {
    group_instance_key: 'team',
    group_tenant: 'acme',
  })
  await made('PUT', `${schema}/groups/team/users/alice`, { tenant: 'acme' })
  const grant = { role: 'viewer', resource: 'doc', resource_instance: 'd1', tenant: 'acme' }
  await make(`${schema}/groups/team/roles`, grant)
  const sets = `${schema}/condition_sets`
  const condition_set_id = await make(sets, { key: 'staff', name: 'Staff' })
  const resource_set_id = await make(sets, { key: 'docs', name: 'Docs', type: 'resourceset', resource_id })
  const rule = { user_set: 'staff', permission: 'doc:read', resource_set: 'docs' }
  await made('POST', `${facts}/set_rules`, rule)
  const proxy_config_id = await make(`${facts}/proxy_configs`, {
    key: 'gateway',
    name: 'Gateway',
    secret: 'x',
    mapping_rules: [{ url: 'https://a.org', http_method: 'get', resource: 'doc' }],
  })
  const ids = {
    condition_set_id,
    proxy_config_id,
    resource_set_id,
    resource_id,
    action_id,
    action_group_id,
    attribute_id,
    user_attribute_id,
    relation_id,
    role_id,
  }
  const ofFacts = { tenant_id, user_id, instance_id, other_instance_id, group_instance_key }
  return { ...ids, ...ofFacts, tenant_role_id }
}
