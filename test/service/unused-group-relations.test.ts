/**
 * Removals of unused relations of the groups API (native.md C.5). `schema-changes.test.ts` has random ones.
 */
import { describe, expect, test } from 'vitest'
import type { writeOperations } from '#management/environment/operations.ts'
import type { ExportedSchema } from '#management/schema/schema-export.ts'
import { call, type Call, RunningEnvironment } from '../support/running-environment.ts'

type WriteName = keyof typeof writeOperations

const tenant = 'acme'
const ROLE_ON_D1 = { role: 'editor', resource: 'document', resource_instance: 'd1', tenant }
const TEAM = { group_instance_key: 'team' }
const TUPLE = { subject: 'group:team', relation: 'group_group_editor', object: 'document:d1' }
/** Leads of a group are viewers of what the group edits. */
const LEADS_VIEW = { role: 'lead', on_resource: 'group', linked_by_relation: 'group_group_editor' }
const VIEWER = { resource_id: 'document', role_id: 'viewer' }
const VIEWER_BLOCK = { name: 'Viewer' }
const EDITOR_BLOCK = { name: 'Editor', permissions: ['update'] }
const DOCUMENT = { name: 'Document', actions: { update: {} } }

/** `team` is an editor of `document:d1`, over one relation for grants. It is in no other group. */
async function granted(): Promise<RunningEnvironment> {
  const it = await RunningEnvironment.open()
  await it.execute('createResource', {
    body: { key: 'document', ...DOCUMENT, roles: { editor: EDITOR_BLOCK, viewer: VIEWER_BLOCK } },
  })
  await it.execute('createTenant', { body: { key: tenant, name: 'Acme' } })
  for (const group_instance_key of ['team', 'outer']) {
    await it.execute('createGroup', { body: { group_instance_key, group_tenant: tenant } })
  }
  await it.execute('createResourceRole', {
    params: { resource_id: 'group' },
    body: { key: 'lead', name: 'Lead' },
  })
  await it.execute('addGroupRole', { params: TEAM, body: ROLE_ON_D1 })
  expect(relations(it)).toBe(1)
  return it
}

/** The relation has no tuple any more, and exists only because of a derivation of another client. */
async function derivedOver(): Promise<RunningEnvironment> {
  const it = await granted()
  await it.execute('addImplicitGrant', { params: VIEWER, body: LEADS_VIEW })
  await it.execute('removeGroupRole', { params: TEAM, body: ROLE_ON_D1 })
  expect(relations(it)).toBe(1)
  return it
}

function relations(environment: RunningEnvironment): number {
  return environment.count('relation')
}

/** A schema with a resource of this key that has only roles. */
function copyOf(key: string, roles: Readonly<Record<string, { readonly name: string }>>): ExportedSchema {
  const body = { name: key, actions: {}, roles, relations: {} }
  return {
    resources: [{ key, body, relationTexts: [], actionGroups: [] }],
    tenantRoles: [],
    builtInTypes: [],
    conditionSets: [],
    rules: [],
    proxyConfigs: [],
  }
}

const TAKE_THE_TUPLE: Partial<Record<WriteName, Call>> = {
  removeGroupRole: call('removeGroupRole', { params: TEAM, body: ROLE_ON_D1 }),
  deleteGroup: call('deleteGroup', { params: TEAM }),
  deleteRelationshipTuple: call('deleteRelationshipTuple', { body: TUPLE }),
  deleteRelationshipTuples: call('deleteRelationshipTuples', { body: { idents: [TUPLE] } }),
  deleteResourceInstance: call('deleteResourceInstance', { params: { instance_id: 'document:d1' } }),
  deleteResourceInstances: call('deleteResourceInstances', { body: { idents: ['document:d1'] } }),
  deleteTenant: call('deleteTenant', { params: { tenant_id: tenant } }),
  deleteTenants: call('deleteTenants', { body: { idents: [tenant] } }),
}

const TAKE_THE_ENTRY: Partial<Record<WriteName, Call>> = {
  removeImplicitGrant: call('removeImplicitGrant', { params: VIEWER, body: LEADS_VIEW }),
  updateResourceRole: call('updateResourceRole', { params: VIEWER, body: { granted_to: {} } }),
  deleteResourceRole: call('deleteResourceRole', { params: VIEWER }),
  putRolesInBulk: call('putRolesInBulk', {
    body: { operations: [{ key: 'viewer', ...VIEWER_BLOCK, resource: 'document' }] },
  }),
  updateResource: call('updateResource', {
    params: { resource_id: 'document' },
    body: { roles: { editor: EDITOR_BLOCK, viewer: VIEWER_BLOCK } },
  }),
  // The imported `group` has only its member role, so there is no `lead` any more.
  importSchema: call('importSchema', {
    schema: copyOf('group', { member: { name: 'member' } }),
    conflictStrategy: 'overwrite',
  }),
}

/** Operations that delete the relation itself. */
const TAKE_THE_RELATION: Partial<Record<WriteName, Call>> = {
  deleteRelation: call('deleteRelation', {
    params: { resource_id: 'document', relation_id: 'group_group_editor' },
  }),
  deleteResource: call('deleteResource', { params: { resource_id: 'document' } }),
  replaceResource: call('replaceResource', { params: { resource_id: 'document' }, body: DOCUMENT }),
}

const TAKE_A_NESTING: Partial<Record<WriteName, Call>> = {
  unassignGroup: call('unassignGroup', { params: { group_instance_key: 'outer' }, body: TEAM }),
}

describe('the last tuple over a relation for grants is taken by', () => {
  test.each(Object.entries(TAKE_THE_TUPLE))('%s, and the relation with it', async (_name, take) => {
    const environment = await granted()
    await take(environment)
    expect(relations(environment)).toBe(0)
  })

  const CASCADES = ['deleteGroup', 'deleteResourceInstance', 'deleteTenant'] as const
  test.each(CASCADES)('%s, with more rows than one commit removes', async name => {
    const environment = await granted()
    const users = Array.from({ length: 100 }, (_, number) => `u${number}`)
    await environment.execute('createUsers', { body: { operations: users.map(key => ({ key })) } })
    const roles = [
      { role: 'editor', resource_instance: 'document:d1' },
      { role: 'member', resource_instance: 'group:team' },
    ]
    const body = users.flatMap(user => roles.map(role => ({ user, tenant, ...role })))
    await environment.execute('assignRoles', { query: {}, body })
    await TAKE_THE_TUPLE[name]!(environment)
    // The relation is gone even if the row of the tuple is not purged yet.
    expect(relations(environment)).toBe(0)
    await environment.purged()
    expect([relations(environment), environment.count('tuple')]).toEqual([0, 0])
  })
})

describe('the last entry over a relation without tuples is taken by', () => {
  test.each(Object.entries(TAKE_THE_ENTRY))('%s, and the relation with it', async (_name, take) => {
    const environment = await derivedOver()
    await take(environment)
    expect(relations(environment)).toBe(0)
  })

  test('the removal of the role it derives from, and the relation with it', async () => {
    const environment = await derivedOver()
    const params = { resource_id: 'group', role_id: 'lead' }
    await environment.execute('deleteResourceRole', { params })
    expect(relations(environment)).toBe(0)
  })
})

test.each(Object.entries(TAKE_THE_RELATION))('%s takes the relation itself', async (_name, take) => {
  const environment = await granted()
  await take(environment)
  expect(relations(environment)).toBe(0)
})

test.each(Object.entries(TAKE_A_NESTING))(
  '%s takes the last nesting, and its relation',
  async (_name, take) => {
    const environment = await granted()
    const params = { group_instance_key: 'outer' }
    await environment.execute('assignGroup', { params, body: TEAM })
    expect(relations(environment)).toBe(2)
    await take(environment)
    expect(relations(environment)).toBe(1)
  },
)
