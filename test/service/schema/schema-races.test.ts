/** Removals that overlap with new references (native.md C.7), on lmdb: in memory, commits are immediate. */
import { describe, expect, test } from 'vitest'
import { updateConditionSet } from '#management/schema/condition-sets/condition-sets.ts'
import { deleteResource } from '#management/schema/resources.ts'
import { createSetRule } from '#management/schema/condition-sets/set-rules.ts'
import { call, type Call, RunningEnvironment } from '../../support/running-environment.ts'
import { storeDirectory } from '#testing/processes/running-service.ts'
import { strayMentions } from '../removals/stray-mentions.ts'
import { errorCodeOf } from '../../support/documents/error-codes.ts'

const tenant = 'default'
/** Alice holds a role, and Bob is a member of a group. */
const users = ['alice', 'bob']

/** After this number of microtasks, a commit has been passed to lmdb, and is not complete. */
const HEAD_START = 40

const onFolder = { resource_id: 'folder' }
const onDocument = { resource_id: 'document' }
const onViewer = { ...onDocument, role_id: 'viewer' }
const entry = { role: 'keeper', on_resource: 'folder', linked_by_relation: 'parent' }
const grant = { role: 'viewer', resource: 'document', resource_instance: 'd1', tenant }

async function prepared(): Promise<RunningEnvironment> {
  const environment = await RunningEnvironment.open(`lmdb:${storeDirectory()}`)
  await environment.resource('folder', [], { keeper: [], porter: [] })
  const roles = { viewer: [], editor: ['update'] }
  await environment.resource('document', ['read', 'update'], roles, { parent: 'folder' })
  await environment.tenantRole('auditor')
  for (const body of [
    { key: 'staff', name: 'S' },
    { key: 'any', name: 'A', type: 'resourceset' },
    { key: 'other', name: 'O', type: 'resourceset' },
    { key: 'docs', name: 'D', type: 'resourceset', resource_id: 'document' },
    { key: 'folders', name: 'F', type: 'resourceset', resource_id: 'folder' },
  ] as const) {
    await environment.execute('createConditionSet', { body })
  }
  await environment.users(...users)
  await environment.group('team')
  await environment.join('team', 'bob')
  const body = { user: 'alice', role: 'keeper', resource_instance: 'folder:f1', tenant }
  await environment.execute('createRoleAssignment', { body })
  await environment.execute('createRelationshipTuple', {
    body: { subject: 'folder:f1', relation: 'parent', object: 'document:d1' },
  })
  return environment
}

/** Runs two calls on the current state. The first call commits first, even if its response takes longer. */
async function meet(environment: RunningEnvironment, [first, second]: readonly Call[]) {
  const began = errorCodeOf(first!(environment))
  for (let turn = 0; turn < HEAD_START; turn += 1) await undefined
  return Promise.all([began, errorCodeOf(second!(environment))])
}

async function expectWhole(environment: RunningEnvironment): Promise<void> {
  expect(await strayMentions(environment)).toEqual([])
  const fresh = environment.freshEngine()
  const oracle = environment.oracle()
  for (const user of users) {
    for (const action of ['read', 'update']) {
      const query = { user, action, type: 'document', key: 'd1', tenant: null }
      expect(fresh.evaluate(query)).toBe(environment.decide(query))
      expect(oracle.evaluate(query)).toBe(environment.decide(query))
    }
  }
  await environment.purged()
  expect(environment.orphanCount()).toBe(0)
}

const REMOVALS: Record<string, Call> = {
  'an action': call('deleteAction', { params: { ...onDocument, action_id: 'update' } }),
  'an action, by PATCH': call('updateResource', { params: onDocument, body: { actions: {} } }),
  'a resource role': call('deleteResourceRole', { params: { ...onDocument, role_id: 'editor' } }),
  'a source role': call('deleteResourceRole', { params: { ...onFolder, role_id: 'keeper' } }),
  'a tenant role': call('deleteTenantRole', { params: { role_id: 'auditor' } }),
  'a relation': call('deleteRelation', { params: { ...onDocument, relation_id: 'parent' } }),
  'a relation, by PUT': call('replaceResource', {
    params: onDocument,
    body: { name: 'D', actions: { read: {} } },
  }),
  'the subject type': call('deleteResource', { params: onFolder }),
  'the object type': call('deleteResource', { params: onDocument }),
  'a user set': call('deleteConditionSet', { params: { condition_set_id: 'staff' } }),
  'a resource set': call('deleteConditionSet', { params: { condition_set_id: 'any' } }),
  // This change is not a removal, but it must not leave rules on other resources either.
  'a set from other resources': call('updateConditionSet', {
    params: { condition_set_id: 'any' },
    body: { parent_id: 'folders' },
  }),
  'the group type': call('deleteResource', { params: { resource_id: 'group' } }),
  'the role of members': call('deleteResourceRole', { params: { resource_id: 'group', role_id: 'member' } }),
}

const MENTIONS: Record<string, Call> = {
  'a role created with a permission': call('createResourceRole', {
    params: onDocument,
    body: { key: 'new', name: 'N', permissions: ['update'], extends: ['editor'] },
  }),
  'a permission given to a role': call('addResourceRolePermissions', {
    params: onViewer,
    body: { permissions: ['update'] },
  }),
  'a permission given to a tenant role': call('addTenantRolePermissions', {
    params: { role_id: 'auditor' },
    body: { permissions: ['document:update'] },
  }),
  'a tenant role created with a permission': call('createTenantRole', {
    body: { key: 'chief', name: 'C', permissions: ['document:update'], extends: ['auditor'] },
  }),
  'an action group with it': call('createActionGroup', {
    params: onDocument,
    body: { key: 'g', name: 'G', actions: ['update'] },
  }),
  'a role that extends it': call('updateResourceRole', { params: onViewer, body: { extends: ['editor'] } }),
  'a derivation entry': call('addImplicitGrant', { params: onViewer, body: entry }),
  'a relation between the types': call('createRelation', {
    params: onDocument,
    body: { key: 'shelf', name: 'S', subject_resource: 'folder' },
  }),
  'a rule': call('createSetRule', {
    body: { user_set: 'staff', permission: 'document:update', resource_set: 'any' },
  }),
  'a rule on a role': call('createSetRule', {
    body: { user_set: 'auditor', permission: 'document:update', resource_set: 'document' },
  }),
  'a set of the resource': call('createConditionSet', {
    body: { key: 'new', name: 'N', type: 'resourceset', resource_id: 'document' },
  }),
  'a child set created': call('createConditionSet', {
    body: { key: 'new', name: 'N', type: 'resourceset', parent_id: 'any' },
  }),
  'a child user set created': call('createConditionSet', {
    body: { key: 'new', name: 'N', parent_id: 'staff' },
  }),
  'a set moved below it': call('updateConditionSet', {
    params: { condition_set_id: 'other' },
    body: { parent_id: 'any' },
  }),
  'a set moved below one of the resource': call('updateConditionSet', {
    params: { condition_set_id: 'other' },
    body: { parent_id: 'docs' },
  }),
  'a cycle of parents': call('updateConditionSet', {
    params: { condition_set_id: 'folders' },
    body: { parent_id: 'any' },
  }),
  'a grant to a group': call('addGroupRole', { params: { group_instance_key: 'team' }, body: grant }),
  'a new group': call('createGroup', { body: { group_instance_key: 'crew', group_tenant: tenant } }),
  'roles in bulk': call('putRolesInBulk', {
    body: {
      operations: [
        { key: 'viewer', resource: 'document', name: 'V', granted_to: { users_with_role: [entry] } },
        { key: 'auditor', name: 'A', permissions: ['document:update'] },
      ],
    },
  }),
}

const PERMISSIONS = [
  'a role created with a permission',
  'a permission given to a role',
  'a permission given to a tenant role',
  'a tenant role created with a permission',
  'roles in bulk',
]
const RULES = ['a rule', 'a rule on a role']
const ENTRIES = ['a derivation entry', 'roles in bulk', 'a relation between the types']

/** References by removal: each operation references the removed part, or a part that is removed with it. */
const MEETINGS: Record<string, readonly string[]> = {
  'an action': [...PERMISSIONS, ...RULES, 'an action group with it'],
  'an action, by PATCH': [...PERMISSIONS, ...RULES, 'an action group with it'],
  'a resource role': ['a role created with a permission', 'a role that extends it'],
  'a source role': ENTRIES,
  'a tenant role': [
    'a permission given to a tenant role',
    'a tenant role created with a permission',
    'roles in bulk',
    'a rule on a role',
  ],
  'a user set': ['a rule', 'a child user set created'],
  'a resource set': ['a rule', 'a child set created', 'a set moved below it'],
  'a set from other resources': [
    'a rule',
    'a child set created',
    'a set moved below it',
    'a cycle of parents',
  ],
  'a relation': [...ENTRIES, 'a grant to a group'],
  'a relation, by PUT': [...PERMISSIONS, ...ENTRIES, 'a role that extends it', 'a grant to a group'],
  'the subject type': ENTRIES,
  'the object type': [
    ...PERMISSIONS,
    ...ENTRIES,
    ...RULES,
    'a grant to a group',
    'a set of the resource',
    'a set moved below one of the resource',
  ],
  'the group type': ['a grant to a group', 'a new group'],
  'the role of members': ['a grant to a group', 'a new group'],
}

describe.each(Object.entries(MEETINGS))('a concurrent removal of %s', (what, mentions) => {
  test.each([...new Set(mentions)])('and %s leave no reference to a removed entity', async mention => {
    const operations = [REMOVALS[what]!, MENTIONS[mention]!]
    for (const inOrder of [operations, operations.toReversed()]) {
      const environment = await prepared()
      const outcomes = await meet(environment, inOrder)
      // Refusals: a set has child sets, the parents form a cycle, or the parent is of another resource.
      for (const outcome of outcomes) {
        expect([null, 'NOT_FOUND', 'STILL_NEEDED', 'INVALID_INPUT']).toContain(outcome)
      }
      await expectWhole(environment)
      await environment.close()
    }
  })
})

test('deleting the subject type of a relation conflicts with a concurrent deletion of its object type', async () => {
  const environment = await prepared()
  const { work, commit } = environment.attempt(context => deleteResource(context, { params: onFolder }))
  expect(work.next().done).toBe(false)
  await environment.execute('deleteResource', { params: onDocument })
  while (!work.next().done);
  expect(await commit()).toBe(false)
  await environment.execute('deleteResource', { params: onFolder })
  await expectWhole(environment)
})

describe('moving a set with a rule below a set of another resource', () => {
  const rule = { body: { user_set: 'staff', permission: 'document:update', resource_set: 'any' } } as const
  const move = { params: { condition_set_id: 'any' }, body: { parent_id: 'folders' } } as const

  test('conflicts with the creation of the rule if the creation commits second, and the retry of the creation is refused', async () => {
    const environment = await prepared()
    const { work, commit } = environment.attempt(context => createSetRule(context, rule))
    while (!work.next().done);
    await environment.execute('updateConditionSet', move)
    expect(await commit()).toBe(false)
    await expect(environment.execute('createSetRule', rule)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })

  test('conflicts with a rule that another commit creates between two steps of the move, and the retry of the move is refused', async () => {
    const environment = await prepared()
    const parent = { params: { condition_set_id: 'other' }, body: { parent_id: 'any' } }
    await environment.execute('updateConditionSet', parent)
    const { work, commit } = environment.attempt(context => updateConditionSet(context, move))
    // The command has checked the rules after two yields for child sets, and one for the write of a child.
    for (let stop = 0; stop < 3; stop += 1) expect(work.next().done).toBe(false)
    await environment.execute('createSetRule', rule)
    while (!work.next().done);
    expect(await commit()).toBe(false)
    await expect(environment.execute('updateConditionSet', move)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    })
  })
})
