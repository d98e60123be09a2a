/** An environment with one entity of every kind. */
import { expect } from 'vitest'
import type { Client } from '#testing/processes/running-service.ts'

export type Ids = Readonly<Record<string, string>>

/** Returns the ids of the entities by their path parameters. `doc:d1` is the parent of `doc:d2`. */
export async function createOneOfEach(client: Client, place: string, key: string): Promise<Ids> {
  const [schema, facts] = [`/v2/schema/${place}`, `/v2/facts/${place}`]
  const made = async (method: string, path: string, body: unknown) => {
    const answer = await client.send<{ readonly id: string }>(method, path, { key, body })
    expect([path, answer.status]).toEqual([path, 200])
    return answer.body.id
  }
  const ids: Record<string, string> = {}
  const make = async (name: string | null, path: string, body: unknown): Promise<void> => {
    const id = await made('POST', path, body)
    if (name !== null) ids[name] = id
  }
  const doc = `${schema}/resources/doc`
  const roles = { owner: { name: 'Owner' } }
  const resource = { key: 'doc', name: 'Doc', actions: { write: {} }, roles }
  await make('resource_id', `${schema}/resources`, resource)
  await make('action_id', `${doc}/actions`, { key: 'read', name: 'Read' })
  await make('action_group_id', `${doc}/action_groups`, { key: 'all', name: 'All' })
  await make('attribute_id', `${doc}/attributes`, { key: 'size', type: 'number' })
  await make('user_attribute_id', `${schema}/users/attributes`, { key: 'size', type: 'number' })
  await make('relation_id', `${doc}/relations`, { key: 'parent', name: 'P', subject_resource: 'doc' })
  await make('role_id', `${doc}/roles`, { key: 'viewer', name: 'Viewer', permissions: ['read'] })
  await make('tenant_role_id', `${schema}/roles`, { key: 'auditor', name: 'A', permissions: ['doc:read'] })
  await make('tenant_id', `${facts}/tenants`, { key: 'acme', name: 'Acme' })
  await make('user_id', `${facts}/users`, { key: 'alice' })
  const instance = { resource: 'doc', tenant: 'acme' }
  await make('instance_id', `${facts}/resource_instances`, { ...instance, key: 'd1' })
  await make('other_instance_id', `${facts}/resource_instances`, { ...instance, key: 'd2' })
  const assignments = `${facts}/role_assignments`
  await make(null, assignments, { user: 'alice', role: 'auditor', tenant: 'acme' })
  await make(null, assignments, { user: 'alice', role: 'viewer', resource_instance: 'doc:d1' })
  const tuple = { subject: 'doc:d1', relation: 'parent', object: 'doc:d2' }
  await make(null, `${facts}/relationship_tuples`, tuple)
  const group = { group_instance_key: 'team', group_tenant: 'acme' }
  await make('group_instance_key', `${schema}/groups`, group)
  await made('PUT', `${schema}/groups/team/users/alice`, { tenant: 'acme' })
  const grant = { role: 'viewer', resource: 'doc', resource_instance: 'd1', tenant: 'acme' }
  await make(null, `${schema}/groups/team/roles`, grant)
  const sets = `${schema}/condition_sets`
  await make('condition_set_id', sets, { key: 'staff', name: 'Staff' })
  const ofDocs = { type: 'resourceset', resource_id: ids['resource_id'] }
  await make('resource_set_id', sets, { key: 'docs', name: 'Docs', ...ofDocs })
  const rule = { user_set: 'staff', permission: 'doc:read', resource_set: 'docs' }
  await make(null, `${facts}/set_rules`, rule)
  const mapping_rules = [{ url: 'https://a.org', http_method: 'get', resource: 'doc' }]
  const proxyConfig = { key: 'gateway', name: 'Gateway', secret: 'x', mapping_rules }
  await make('proxy_config_id', `${facts}/proxy_configs`, proxyConfig)
  return ids
}
