/** Every management route answers a success in the shape its own definition promises, with the revision (contract B). */
import { describe, expect, test } from 'vitest'
import type { RoleAssignment } from '#model/wire/role-assignment.ts'
import type { TenantRole } from '#model/wire/role.ts'
import type { Tenant } from '#model/wire/tenant.ts'
import {
  ADMIN_KEY,
  FACTS,
  grantBody,
  GROUPS,
  RESOURCES,
  revisionOf,
  SCHEMA,
  sharedService,
} from '../support/running-service.ts'
import { FACT_CALLS } from '../support/fact-calls.ts'
import { answerFindings, routes } from '../support/routes.ts'
import { type Call, SCHEMA_CALLS, SCHEMA_DELETIONS } from '../support/schema-calls.ts'

const verdict = await sharedService()

/** One call of every operation, in an order in which each succeeds. */
const CALLS: readonly Call[] = [
  ...SCHEMA_CALLS,
  {
    operation: 'createResource',
    method: 'POST',
    path: RESOURCES,
    body: {
      key: 'document',
      name: 'Document',
      urn: 'urn:document',
      description: 'Something written',
      actions: { read: {}, update: { name: 'Update', description: 'Change it', attributes: { cost: 2 } } },
      attributes: { pages: { type: 'number', description: 'How long' }, tags: { type: 'array' } },
      type_attributes: { kind: 'text' },
      roles: {
        viewer: { name: 'Viewer', permissions: ['read'], attributes: { rank: 1 } },
        editor: {
          name: 'Editor',
          permissions: ['document:update'],
          extends: ['viewer'],
          granted_to: {
            when: { no_direct_roles_on_object: true },
            users_with_role: [{ role: 'viewer', on_resource: 'document', linked_by_relation: 'parent' }],
          },
        },
      },
      relations: { parent: 'document' },
    },
  },
  { operation: 'listResources', method: 'GET', path: `${RESOURCES}?include_total_count=true` },
  { operation: 'listResources', method: 'GET', path: `${RESOURCES}?page=1&per_page=100` },
  { operation: 'getResource', method: 'GET', path: `${RESOURCES}/document` },
  {
    operation: 'createResourceRole',
    method: 'POST',
    path: `${RESOURCES}/document/roles`,
    body: { key: 'reader', name: 'Reader' },
  },
  {
    operation: 'updateResourceRole',
    method: 'PATCH',
    path: `${RESOURCES}/document/roles/reader`,
    body: { permissions: ['read'], description: 'Reads' },
  },
  {
    operation: 'createRelation',
    method: 'POST',
    path: `${RESOURCES}/document/relations`,
    body: { key: 'sibling', name: 'Sibling', subject_resource: 'document' },
  },
  {
    operation: 'createTenantRole',
    method: 'POST',
    path: `${SCHEMA}/roles`,
    body: {
      key: 'auditor',
      name: 'Auditor',
      permissions: ['document:read'],
      granted_to: { users_with_role: [{ role: 'a', on_resource: 'b', linked_by_relation: 'c' }] },
    },
  },
  {
    operation: 'createTenant',
    method: 'POST',
    path: `${FACTS}/tenants`,
    body: { key: 'acme', name: 'Acme' },
  },
  {
    operation: 'createUser',
    method: 'POST',
    path: `${FACTS}/users`,
    body: { key: 'auth0|elon', role_assignments: [{ role: 'auditor', tenant: 'acme' }] },
  },
  {
    operation: 'createResourceInstance',
    method: 'POST',
    path: `${FACTS}/resource_instances`,
    body: { resource: 'document', key: 'd1', tenant: 'default' },
  },
  {
    operation: 'createRoleAssignment',
    method: 'POST',
    path: `${FACTS}/role_assignments`,
    body: { user: 'auth0|elon', role: 'viewer', resource_instance: 'document:d1' },
  },
  {
    operation: 'createRelationshipTuple',
    method: 'POST',
    path: `${FACTS}/relationship_tuples`,
    body: { subject: 'document:d1', relation: 'parent', object: 'document:d2' },
  },
  {
    operation: 'createGroup',
    method: 'POST',
    path: GROUPS,
    body: { group_instance_key: 'outer', group_tenant: 'default' },
  },
  {
    operation: 'createGroup',
    method: 'POST',
    path: GROUPS,
    body: { group_instance_key: 'inner', group_tenant: 'default' },
  },
  {
    operation: 'addGroupMember',
    method: 'PUT',
    path: `${GROUPS}/inner/users/auth0%7Celon`,
    body: { tenant: 'default' },
  },
  {
    operation: 'addGroupRole',
    method: 'POST',
    path: `${GROUPS}/outer/roles`,
    body: grantBody('editor', 'document:d1'),
  },
  {
    operation: 'assignGroup',
    method: 'PUT',
    path: `${GROUPS}/outer/assign_group`,
    body: { group_instance_key: 'inner' },
  },
  { operation: 'listGroupRecords', method: 'GET', path: `${GROUPS}/direct` },
  { operation: 'getGroupRecord', method: 'GET', path: `${GROUPS}/direct/outer` },
  { operation: 'listGroups', method: 'GET', path: GROUPS },
  { operation: 'getGroup', method: 'GET', path: `${GROUPS}/outer` },
  { operation: 'listGroupUsers', method: 'GET', path: `${GROUPS}/inner/users` },
  { operation: 'listGroupRoles', method: 'GET', path: `${GROUPS}/outer/roles` },
  { operation: 'listGroupChildren', method: 'GET', path: `${GROUPS}/outer/children` },
  { operation: 'listGroupParents', method: 'GET', path: `${GROUPS}/inner/parents` },
  {
    operation: 'unassignGroup',
    method: 'DELETE',
    path: `${GROUPS}/outer/assign_group`,
    body: { group_instance_key: 'inner' },
  },
  {
    operation: 'removeGroupRole',
    method: 'DELETE',
    path: `${GROUPS}/outer/roles`,
    body: grantBody('editor', 'document:d1'),
  },
  { operation: 'removeGroupMember', method: 'DELETE', path: `${GROUPS}/inner/users/auth0%7Celon` },
  { operation: 'deleteGroup', method: 'DELETE', path: `${GROUPS}/inner` },
  ...FACT_CALLS,
  ...SCHEMA_DELETIONS,
]

test('every management operation succeeds in the shape its route promises, with a revision that grows', async () => {
  let sequence = 0
  for (const { operation, method, path, body } of CALLS) {
    const answer = await verdict.send(method, path, { body })
    const said = `${operation}: ${JSON.stringify(answer.body)}`
    const route = routes.find(({ operationId }) => operationId === operation)
    expect(Object.keys(route?.responses ?? {}), said).toContain(String(answer.status))
    expect(answerFindings(operation, answer.status, answer.body), said).toEqual([])
    const next = Number(revisionOf(answer).split('.')[1])
    const isWrite = method !== 'GET'
    expect(isWrite ? next > sequence : next === sequence, `${operation}: ${sequence}, ${next}`).toBe(true)
    sequence = next
  }
})

test('no management operation on an environment is left out here', () => {
  const managed = routes.filter(({ path }) => /^\/v2\/(schema|facts)\//.test(path))
  const called = new Set(CALLS.map(({ operation }) => operation))
  expect(managed.map(({ operationId }) => operationId).filter(name => !called.has(name))).toEqual([])
})

describe('the scope of a key', () => {
  test('names organization, project and environment, by which paths may call them', async () => {
    const { body } = await verdict.get<Record<string, string>>('/v2/api-key/scope')
    expect(answerFindings('getApiKeyScope', 200, body)).toEqual([])
    const { project_id: project, environment_id: environment } = body
    const { body: tenant } = await verdict.post<Tenant>(`/v2/facts/${project}/${environment}/tenants`, {
      key: 'by-id',
      name: 'By id',
    })
    expect(tenant).toMatchObject(body)
    for (const path of [
      `/v2/schema/${project}/default/groups`,
      `/v2/schema/default/${environment}/groups`,
      `/v2/schema/${project!.toUpperCase()}/${environment}/groups`,
    ]) {
      expect((await verdict.get(path)).status).toBe(200)
    }
  })

  test('of the organization has no project and no environment', async () => {
    const { body } = await verdict.send<Record<string, unknown>>('GET', '/v2/api-key/scope', {
      key: ADMIN_KEY,
    })
    expect(answerFindings('getApiKeyScope', 200, body)).toEqual([])
    expect(body).toMatchObject({ project_id: null, environment_id: null })
  })

  test('the organization key manages the environment (D-44), and is told when there is none of that name', async () => {
    const answer = await verdict.send<TenantRole>('POST', `${SCHEMA}/roles`, {
      key: ADMIN_KEY,
      body: { key: 'from-above', name: 'From above' },
    })
    expect(answer.status).toBe(200)
    const missing = await verdict.send('GET', '/v2/schema/default/staging/groups', { key: ADMIN_KEY })
    expect([missing.status, missing.body]).toMatchObject([404, { error_code: 'NOT_FOUND' }])
  })

  test('of an environment ends at its border: another one is 403, whether it exists or not', async () => {
    for (const place of [
      'default/staging',
      'other/default',
      '00000000-0000-4000-8000-000000000000/default',
    ]) {
      const answer = await verdict.get(`/v2/schema/${place}/groups`)
      expect([answer.status, answer.body]).toMatchObject([403, { error_code: 'FORBIDDEN_ACCESS' }])
    }
  })
})

describe('unset optional fields are null, and defaults are filled in', () => {
  test('in a resource, its actions, attributes and roles', async () => {
    const resource = await verdict.resource({
      key: 'bare',
      actions: { read: {}, sign: { name: null, description: null, attributes: null } },
      attributes: { size: { type: 'number' } },
      roles: { owner: { name: 'Owner' } },
      relations: { parent: 'bare' },
    })
    expect(resource).toMatchObject({
      urn: null,
      description: null,
      type_attributes: null,
      action_groups: {},
      actions: {
        read: { key: 'read', name: 'read', description: null, attributes: null },
        sign: { key: 'sign', name: 'sign', description: null, attributes: null },
      },
      attributes: { size: { key: 'size', type: 'number', description: null } },
      relations: {
        parent: { relation_name: 'parent', resource: 'bare', resource_id: resource.id, description: null },
      },
    })
    expect(resource.roles['owner']).toMatchObject({
      description: null,
      permissions: [],
      attributes: null,
      extends: [],
      granted_to: { when: { no_direct_roles_on_object: false }, users_with_role: [] },
      resource: 'bare',
      resource_id: resource.id,
    })
  })

  test('in a resource without anything optional', async () => {
    expect(await verdict.resource({ key: 'barest' })).toMatchObject({
      actions: {},
      attributes: {},
      roles: {},
      relations: {},
    })
  })

  test('in tenants, users, instances, assignments and tuples', async () => {
    expect(await verdict.tenant('unset')).toMatchObject({ description: null, attributes: null })
    const tenant = await verdict.post<Tenant>(`${FACTS}/tenants`, {
      key: 'set',
      name: 'Set',
      attributes: {},
      description: '',
    })
    expect(tenant.body).toMatchObject({ description: '', attributes: {} })
    expect(tenant.body.last_action_at).toBe(tenant.body.created_at)
    expect(tenant.body.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(await verdict.user('unset')).toMatchObject({
      email: null,
      first_name: null,
      last_name: null,
      attributes: {},
      associated_tenants: [],
      roles: [],
    })
    expect(await verdict.instance('bare:b1')).toMatchObject({ attributes: {}, relationships: null })
    await verdict.tenantRole('unset', [])
    expect(await verdict.assign('unset', 'unset', 'unset')).toMatchObject({
      resource_instance: null,
      resource_instance_id: null,
    })
    expect(await verdict.relate('bare:b1', 'parent', 'bare:b1')).toMatchObject({
      subject_details: null,
      relation_details: null,
      object_details: null,
      tenant_details: null,
    })
    expect(await verdict.relation('bare', 'sibling', 'bare')).toMatchObject({ description: null })
  })

  test('where null is said on input as well', async () => {
    const user = await verdict.post(`${FACTS}/users`, {
      key: 'null-user',
      email: null,
      first_name: null,
      last_name: null,
      attributes: null,
      role_assignments: null,
    })
    expect([user.status, user.body]).toMatchObject([200, { email: null, attributes: {} }])
    const instance = await verdict.post(`${FACTS}/resource_instances`, {
      resource: 'bare',
      key: 'null-instance',
      tenant: null,
      attributes: null,
    })
    expect([instance.status, instance.body]).toMatchObject([200, { tenant: 'default', attributes: {} }])
    const assignment = await verdict.post<RoleAssignment>(`${FACTS}/role_assignments`, {
      user: 'null-user',
      role: 'unset',
      tenant: 'default',
      resource_instance: null,
    })
    expect([assignment.status, assignment.body.resource_instance]).toEqual([200, null])
    const role = await verdict.post(`${RESOURCES}/bare/roles`, {
      key: 'null-role',
      name: 'Null',
      description: null,
      permissions: null,
      attributes: null,
      extends: null,
      granted_to: null,
    })
    expect([role.status, role.body]).toMatchObject([200, { permissions: [], extends: [], description: null }])
  })
})

test('what was stored comes back as it was sent: attributes of any kind, odd names, keys like those of objects', async () => {
  const attributes = {
    text: 'ß鍵😀\n"',
    number: -1.5e-7,
    large: 9007199254740991,
    huge: 1e300,
    yes: true,
    nothing: null,
    list: [1, [2, [{}]], 'x'],
    '': { ' ': { constructor: 1, toString: 2, length: 3 } },
    date: '2026-01-01T00:00:00.000Z',
  }
  const created = await verdict.post<{ attributes: unknown }>(`${FACTS}/users`, { key: 'keeper', attributes })
  expect(created.body.attributes).toEqual(attributes)
  const names = { constructor: {}, toString: {}, hasOwnProperty: {}, __proto: {}, length: {}, '0': {} }
  const resource = await verdict.resource({
    key: 'constructor',
    name: 'ß鍵😀 ',
    actions: names,
    type_attributes: attributes,
    roles: { valueOf: { name: '', permissions: ['constructor', 'toString'] } },
  })
  expect(Object.keys(resource.actions).toSorted()).toEqual(Object.keys(names).toSorted())
  const read = await verdict.get<typeof resource>(`${RESOURCES}/constructor`)
  expect(read.body).toEqual(resource)
  expect(read.body.type_attributes).toEqual(attributes)
  expect(read.body.roles['valueOf']!.permissions).toEqual(['constructor', 'toString'])
})

describe('a key called __proto__', () => {
  test('is an action, a role and a relation like any other', async () => {
    const text =
      '{"key":"proto","name":"P","actions":{"__proto__":{}},' +
      '"roles":{"__proto__":{"name":"R","permissions":["__proto__"]}},"relations":{"__proto__":"proto"}}'
    const created = await verdict.send<object>('POST', RESOURCES, { text })
    expect(created.status, JSON.stringify(created.body)).toBe(200)
    const read = await verdict.get<object>(`${RESOURCES}/proto`)
    expect(read.body).toEqual(created.body)
    for (const part of ['actions', 'roles', 'relations']) {
      expect(JSON.stringify(read.body)).toContain(`"${part}":{"__proto__":{`)
    }
    await verdict.user('proto-user')
    await verdict.assign('proto-user', '__proto__', 'proto:p1')
    expect(await verdict.allows('proto-user', '__proto__', 'proto:p1')).toBe(true)
  })

  test('is a name of attributes like any other', async () => {
    const created = await verdict.send<object>('POST', RESOURCES, {
      text: '{"key":"proto-attributes","name":"P","actions":{},"type_attributes":{"__proto__":1}}',
    })
    expect(JSON.stringify(created.body)).toContain('"type_attributes":{"__proto__":1}')
    const read = await verdict.get<object>(`${RESOURCES}/proto-attributes`)
    expect(JSON.stringify(read.body)).toContain('"type_attributes":{"__proto__":1}')
  })
})
