/**
 * The removal of a part of the schema meets whoever is about to mention it, both begun on the same state: whichever comes
 * first, no mention of what is gone is left, and what is decided is what is stored (native.md C.7).
 *
 * On lmdb, for a store in memory commits at once, and the two would never meet.
 */
import { describe, expect, test } from 'vitest'
import { updateConditionSet } from '#management/schema/condition-sets/condition-sets.ts'
import { deleteResource } from '#management/schema/resources.ts'
import { createSetRule } from '#management/schema/set-rules/set-rules.ts'
import { call, type Call, RunningEnvironment } from '../support/running-environment.ts'
import { storeDirectory } from '#testing/processes/running-service.ts'
import { strayMentions } from './stray-mentions.ts'
import { settled } from '../support/settled.ts'

const tenant = 'default'
const users = { alice: 'holds a role', bob: 'is in a group' }

/** More turns of the microtask queue than it takes to hand over a commit; on lmdb none of them is done by then. */
const HEAD_START = 40

const onFolder = { resource_id: 'folder' }
const onDocument = { resource_id: 'document' }
const onViewer = { ...onDocument, role_id: 'viewer' }
const entry = { role: 'keeper', on_resource: 'folder', linked_by_relation: 'parent' }
const grant = { role: 'viewer', resource: 'document', resource_instance: 'd1', tenant }

/** A folder holds a document, and a group holds bob. */
async function prepared(): Promise<RunningEnvironment> {
  const environment = await RunningEnvironment.open(`lmdb:${storeDirectory()}`)
  await environment.execute('createResource', {
    body: { key: 'folder', name: 'F', actions: {}, roles: { keeper: { name: 'K' }, porter: { name: 'P' } } },
  })
  await environment.execute('createResource', {
    body: {
      key: 'document',
      name: 'D',
      actions: { read: {}, update: {} },
      roles: { viewer: { name: 'V' }, editor: { name: 'E', permissions: ['update'] } },
      relations: { parent: 'folder' },
    },
  })
  await environment.execute('createTenantRole', { body: { key: 'auditor', name: 'A' } })
  for (const body of [
    { key: 'staff', name: 'S' },
    { key: 'any', name: 'A', type: 'resourceset' },
    { key: 'other', name: 'O', type: 'resourceset' },
    { key: 'docs', name: 'D', type: 'resourceset', resource_id: 'document' },
    { key: 'folders', name: 'F', type: 'resourceset', resource_id: 'folder' },
  ] as const) {
    await environment.execute('createConditionSet', { body })
  }
  for (const key of Object.keys(users)) await environment.execute('createUser', { body: { key } })
  await environment.execute('createGroup', { body: { group_instance_key: 'team', group_tenant: tenant } })
  await environment.execute('addGroupMember', {
    params: { group_instance_key: 'team', user_id: 'bob' },
    body: { tenant },
  })
  const body = { user: 'alice', role: 'keeper', resource_instance: 'folder:f1', tenant }
  await environment.execute('createRoleAssignment', { body })
  await environment.execute('createRelationshipTuple', {
    body: { subject: 'folder:f1', relation: 'parent', object: 'document:d1' },
  })
  return environment
}

/** Runs both on the state as it is now; the commit of the first comes first, however long its answer takes to make. */
async function meet(environment: RunningEnvironment, [first, second]: readonly Call[]) {
  const began = settled(first!(environment))
  for (let turn = 0; turn < HEAD_START; turn += 1) await undefined
  return Promise.all([began, settled(second!(environment))])
}

async function expectWhole(environment: RunningEnvironment): Promise<void> {
  expect(await strayMentions(environment)).toEqual([])
  const fresh = environment.freshEngine()
  const oracle = environment.oracle()
  for (const user of Object.keys(users)) {
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
  // No removal, but what rules on other resources must not be left behind by.
  'a set going below one that is limited': call('updateConditionSet', {
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
  'an action group that names it': call('createActionGroup', {
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
  'a set made below it': call('createConditionSet', {
    body: { key: 'new', name: 'N', type: 'resourceset', parent_id: 'any' },
  }),
  'a user set made below it': call('createConditionSet', {
    body: { key: 'new', name: 'N', parent_id: 'staff' },
  }),
  'a set put below it': call('updateConditionSet', {
    params: { condition_set_id: 'other' },
    body: { parent_id: 'any' },
  }),
  'a set put below one of the resource': call('updateConditionSet', {
    params: { condition_set_id: 'other' },
    body: { parent_id: 'docs' },
  }),
  'the set above it put below it': call('updateConditionSet', {
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

/** Which mentions are of what a removal takes away, or are made of its parts. */
const MEETINGS: Record<string, readonly string[]> = {
  'an action': [...PERMISSIONS, ...RULES, 'an action group that names it'],
  'an action, by PATCH': [...PERMISSIONS, ...RULES, 'an action group that names it'],
  'a resource role': ['a role created with a permission', 'a role that extends it'],
  'a source role': ENTRIES,
  'a tenant role': [
    'a permission given to a tenant role',
    'a tenant role created with a permission',
    'roles in bulk',
    'a rule on a role',
  ],
  'a user set': ['a rule', 'a user set made below it'],
  'a resource set': ['a rule', 'a set made below it', 'a set put below it'],
  'a set going below one that is limited': [
    'a rule',
    'a set made below it',
    'a set put below it',
    'the set above it put below it',
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
    'a set put below one of the resource',
  ],
  'the group type': ['a grant to a group', 'a new group'],
  'the role of members': ['a grant to a group', 'a new group'],
}

describe.each(Object.entries(MEETINGS))('the removal of %s', (what, mentions) => {
  test.each([...new Set(mentions)])('meets %s', async mention => {
    const operations = [REMOVALS[what]!, MENTIONS[mention]!]
    for (const inOrder of [operations, operations.toReversed()]) {
      const environment = await prepared()
      const outcomes = await meet(environment, inOrder)
      // A set with others below it stays, and what would be above itself or of another resource is refused.
      for (const outcome of outcomes) {
        expect([null, 'NOT_FOUND', 'STILL_NEEDED', 'INVALID_INPUT']).toContain(outcome)
      }
      await expectWhole(environment)
      await environment.close()
    }
  })
})

test('the object type of a relation goes while the removal of its subject type stops: that is tried again', async () => {
  const environment = await prepared()
  const { work, commit } = environment.attempt(context => deleteResource(context, { params: onFolder }))
  expect(work.next().done).toBe(false)
  await environment.execute('deleteResource', { params: onDocument })
  while (!work.next().done);
  expect(await commit()).toBe(false)
  await environment.execute('deleteResource', { params: onFolder })
  await expectWhole(environment)
})

describe('a set goes below one of another resource than a rule on it', () => {
  const rule = { body: { user_set: 'staff', permission: 'document:update', resource_set: 'any' } } as const
  const move = {
    params: { condition_set_id: 'any' },
    body: { parent_id: 'folders' },
  } as const

  test('while the rule is made: that is tried again', async () => {
    const environment = await prepared()
    const { work, commit } = environment.attempt(context => createSetRule(context, rule))
    while (!work.next().done);
    await environment.execute('updateConditionSet', move)
    expect(await commit()).toBe(false)
    await expect(environment.execute('createSetRule', rule)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })

  test('and stops on the way while the rule is made: that is tried again', async () => {
    const environment = await prepared()
    await environment.execute('updateConditionSet', {
      params: { condition_set_id: 'other' },
      body: { parent_id: 'any' },
    })
    const { work, commit } = environment.attempt(context => updateConditionSet(context, move))
    // Behind the look at the rules: at the end of each set whose sets below are looked for, then where the one below is written.
    for (let stop = 0; stop < 3; stop += 1) expect(work.next().done).toBe(false)
    await environment.execute('createSetRule', rule)
    while (!work.next().done);
    expect(await commit()).toBe(false)
    await expect(environment.execute('updateConditionSet', move)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    })
  })
})
