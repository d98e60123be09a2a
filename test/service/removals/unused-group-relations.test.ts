/** Removals of unused relations of the groups API (native.md C.5). */
import { describe, expect, test } from 'vitest'
import { call, type Call, RunningEnvironment } from '../../support/running-environment.ts'
import { copyOf } from '../../support/calls/schema-copies.ts'

const tenant = 'acme'
const ROLE_ON_D1 = { role: 'editor', resource: 'document', resource_instance: 'd1', tenant }
const TEAM = { group_instance_key: 'team' }
const TUPLE = { subject: 'group:team', relation: 'group_group_editor', object: 'document:d1' }
/** Leads of a group are viewers of what the group edits. */
const LEADS_VIEW = { role: 'lead', on_resource: 'group', linked_by_relation: 'group_group_editor' }
const VIEWER = { resource_id: 'document', role_id: 'viewer' }
const VIEWER_BLOCK = { name: 'Viewer' }
const EDITOR_BLOCK = { name: 'Editor', permissions: ['update'] }

/** `team` is an editor of `document:d1` through one relation for grants, and is in no other group. */
async function granted(): Promise<RunningEnvironment> {
  const it = await RunningEnvironment.open()
  await it.resource('document', ['update'], { editor: ['update'], viewer: [] })
  await it.execute('createTenant', { body: { key: tenant, name: 'Acme' } })
  for (const key of ['team', 'outer']) await it.group(key, tenant)
  await it.execute('createResourceRole', {
    params: { resource_id: 'group' },
    body: { key: 'lead', name: 'Lead' },
  })
  await it.grant('team', 'editor', 'document:d1', tenant)
  expect(it.count('relation')).toBe(1)
  return it
}

/** The relation has no tuples, and exists only because another client has added a derivation. */
async function derivedOver(): Promise<RunningEnvironment> {
  const it = await granted()
  await it.execute('addImplicitGrant', { params: VIEWER, body: LEADS_VIEW })
  await it.execute('removeGroupRole', { params: TEAM, body: ROLE_ON_D1 })
  expect(it.count('relation')).toBe(1)
  return it
}

/** The last three operations delete the relation itself. The other operations delete its last tuple. */
const WITH_TUPLE = {
  removeGroupRole: call('removeGroupRole', { params: TEAM, body: ROLE_ON_D1 }),
  deleteGroup: call('deleteGroup', { params: TEAM }),
  deleteRelationshipTuple: call('deleteRelationshipTuple', { body: TUPLE }),
  deleteRelationshipTuples: call('deleteRelationshipTuples', { body: { idents: [TUPLE] } }),
  deleteResourceInstance: call('deleteResourceInstance', { params: { instance_id: 'document:d1' } }),
  deleteResourceInstances: call('deleteResourceInstances', { body: { idents: ['document:d1'] } }),
  deleteTenant: call('deleteTenant', { params: { tenant_id: tenant } }),
  deleteTenants: call('deleteTenants', { body: { idents: [tenant] } }),
  deleteRelation: call('deleteRelation', {
    params: { resource_id: 'document', relation_id: 'group_group_editor' },
  }),
  deleteResource: call('deleteResource', { params: { resource_id: 'document' } }),
  replaceResource: call('replaceResource', {
    params: { resource_id: 'document' },
    body: { name: 'Document', actions: { update: {} } },
  }),
} satisfies Record<string, Call>

const WITH_DERIVATION: Readonly<Record<string, Call>> = {
  removeImplicitGrant: call('removeImplicitGrant', { params: VIEWER, body: LEADS_VIEW }),
  updateResourceRole: call('updateResourceRole', { params: VIEWER, body: { granted_to: {} } }),
  deleteResourceRole: call('deleteResourceRole', { params: VIEWER }),
  'deleteResourceRole of the source role': call('deleteResourceRole', {
    params: { resource_id: 'group', role_id: 'lead' },
  }),
  putRolesInBulk: call('putRolesInBulk', {
    body: { operations: [{ key: 'viewer', ...VIEWER_BLOCK, resource: 'document' }] },
  }),
  updateResource: call('updateResource', {
    params: { resource_id: 'document' },
    body: { roles: { editor: EDITOR_BLOCK, viewer: VIEWER_BLOCK } },
  }),
  // The imported `group` has only its member role, so the role `lead` is deleted.
  importSchema: call(
    'importSchema',
    copyOf({
      resources: [
        {
          key: 'group',
          body: { name: 'group', actions: {}, roles: { member: { name: 'member' } }, relations: {} },
          relationTexts: [],
          actionGroups: [],
        },
      ],
    }),
  ),
}

describe('a relation for grants is deleted by', () => {
  test.each(Object.entries(WITH_TUPLE))('%s (last tuple or whole relation)', async (_name, remove) => {
    const environment = await granted()
    await remove(environment)
    expect(environment.count('relation')).toBe(0)
  })

  test.each(Object.entries(WITH_DERIVATION))('%s (last derivation)', async (_name, remove) => {
    const environment = await derivedOver()
    await remove(environment)
    expect(environment.count('relation')).toBe(0)
  })

  const CASCADES = ['deleteGroup', 'deleteResourceInstance', 'deleteTenant'] as const
  test.each(CASCADES)('%s (more rows than one commit)', async name => {
    const environment = await granted()
    const users = Array.from({ length: 100 }, (_, number) => `u${number}`)
    await environment.users(...users)
    const roles = [
      { role: 'editor', resource_instance: 'document:d1' },
      { role: 'member', resource_instance: 'group:team' },
    ]
    const body = users.flatMap(user => roles.map(role => ({ user, tenant, ...role })))
    await environment.execute('assignRoles', { query: {}, body })
    await WITH_TUPLE[name](environment)
    // The relation is gone even if the row of the tuple is not purged yet.
    expect(environment.count('relation')).toBe(0)
    await environment.purged()
    expect([environment.count('relation'), environment.count('tuple')]).toEqual([0, 0])
  })
})

test('unassignGroup deletes the relation of the last nesting', async () => {
  const environment = await granted()
  const nesting = { params: { group_instance_key: 'outer' }, body: TEAM }
  await environment.execute('assignGroup', nesting)
  expect(environment.count('relation')).toBe(2)
  await environment.execute('unassignGroup', nesting)
  expect(environment.count('relation')).toBe(1)
})
