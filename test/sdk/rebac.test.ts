/** Derived roles with the official client: a studio has albums, and albums have songs. */
import type { Permit } from 'permitio'
import { describe, expect, test } from 'vitest'
import { MODES, permitOfNewService } from '../support/calls/permit-client.ts'

/** studio → album → song. One album role has a guard on all its derivations, another on one derivation. */
async function createModel({ api }: Permit): Promise<void> {
  await api.resources.create({
    key: 'studio',
    name: 'Studio',
    actions: { close: {} },
    roles: {
      boss: { name: 'Boss', permissions: ['close'] },
      guest: { name: 'Guest', permissions: [] },
    },
  })
  await api.resources.create({
    key: 'album',
    name: 'Album',
    actions: { hear: {}, mix: {}, drop: {} },
    roles: {
      producer: { name: 'Producer', permissions: ['hear', 'mix', 'drop'] },
      critic: { name: 'Critic', permissions: ['hear'] },
      listener: { name: 'Listener', permissions: ['hear'] },
    },
    relations: { home: 'studio' },
  })
  await api.resources.create({ key: 'song', name: 'Song', actions: { hear: {}, mix: {}, drop: {} } })
  await api.resourceRelations.create('song', { key: 'on', name: 'On', subject_resource: 'album' })
  const [producer, critic, listener] = await Promise.all([
    api.resourceRoles.create('song', {
      key: 'producer',
      name: 'Producer',
      permissions: ['hear', 'mix', 'drop'],
      granted_to: {
        users_with_role: [{ role: 'producer', on_resource: 'album', linked_by_relation: 'on' }],
      },
    }),
    api.resourceRoles.create('song', { key: 'critic', name: 'Critic', permissions: ['hear'] }),
    api.resourceRoles.create('song', { key: 'listener', name: 'Listener', permissions: ['hear'] }),
  ])
  expect(producer.granted_to).toMatchObject({
    users_with_role: [{ role: 'producer', on_resource: 'album', linked_by_relation: 'on' }],
  })
  expect([critic.permissions, listener.permissions]).toEqual([['hear'], ['hear']])
  await Promise.all([
    api.resourceRoles.createRoleDerivation('song', 'critic', {
      role: 'critic',
      on_resource: 'album',
      linked_by_relation: 'on',
    }),
    api.resourceRoles.createRoleDerivation('song', 'listener', {
      role: 'listener',
      on_resource: 'album',
      linked_by_relation: 'on',
    }),
    api.resourceRoles.createRoleDerivation('album', 'producer', {
      role: 'boss',
      on_resource: 'studio',
      linked_by_relation: 'home',
    }),
    api.resourceRoles.createRoleDerivation('album', 'critic', {
      role: 'guest',
      on_resource: 'studio',
      linked_by_relation: 'home',
      when: { no_direct_roles_on_object: true },
    }),
  ])
  const guard = await api.resourceRoles.updateRoleDerivationConditions('album', 'producer', {
    no_direct_roles_on_object: true,
  })
  expect(guard).toEqual({ no_direct_roles_on_object: true })
}

const TENANT = 'records'
const TUPLES = [
  { subject: 'studio:north', relation: 'home', object: 'album:debut' },
  { subject: 'studio:north', relation: 'home', object: 'album:second' },
  { subject: 'album:debut', relation: 'on', object: 'song:hello' },
  { subject: 'album:second', relation: 'on', object: 'song:bye' },
]

describe.each(MODES)('a studio with the client, $mode', ({ options }) => {
  test('has roles derived through two relations, and a direct role blocks both kinds of guarded derivations', async () => {
    const { permit } = await permitOfNewService(options)
    const { api } = permit
    await createModel(permit)
    await api.tenants.create({ key: TENANT, name: 'Records' })
    for (const key of ['ada', 'gus']) await api.users.create({ key })
    // The tuples create the instances.
    for (const tuple of TUPLES.slice(0, 2)) await api.relationshipTuples.create({ ...tuple, tenant: TENANT })
    await api.relationshipTuples.bulkRelationshipTuples(
      TUPLES.slice(2).map(tuple => ({ ...tuple, tenant: TENANT })),
    )
    const tuples = await api.relationshipTuples.list({ tenant: TENANT })
    expect(tuples.map(({ subject, relation, object }) => ({ subject, relation, object }))).toEqual(TUPLES)

    const may = (user: string, action: string, type: string, key: string) =>
      permit.check(user, action, { type, key, tenant: TENANT })
    const boss = { user: 'ada', role: 'boss', resource_instance: 'studio:north', tenant: TENANT }
    const guest = { user: 'gus', role: 'guest', resource_instance: 'studio:north', tenant: TENANT }
    expect(await may('ada', 'drop', 'song', 'hello')).toBe(false)
    expect(await api.roleAssignments.assign(boss)).toMatchObject(boss)
    expect(await api.roleAssignments.assign(guest)).toMatchObject(guest)

    expect(await may('ada', 'close', 'studio', 'north')).toBe(true)
    expect(await may('ada', 'mix', 'album', 'debut')).toBe(true)
    expect(await may('ada', 'drop', 'song', 'hello'), 'two relations away').toBe(true)
    expect(await may('gus', 'hear', 'song', 'hello')).toBe(true)
    expect(await may('gus', 'mix', 'song', 'hello')).toBe(false)
    expect(await may('ada', 'drop', 'song', 'never-recorded')).toBe(false)
    expect(await may('ada', 'whistle', 'song', 'hello')).toBe(false)
    expect(await permit.check('ada', 'mix', 'song:hello'), 'in the default tenant').toBe(false)

    const direct = { role: 'listener', resource_instance: 'album:debut', tenant: TENANT }
    for (const user of ['ada', 'gus']) await api.roleAssignments.assign({ user, ...direct })
    expect(await may('ada', 'mix', 'album', 'debut'), 'guarded for the whole role').toBe(false)
    expect(await may('ada', 'hear', 'album', 'debut'), 'her direct role').toBe(true)
    expect(await may('ada', 'drop', 'song', 'hello'), 'and derived roles end').toBe(false)
    expect(await may('ada', 'hear', 'song', 'hello'), 'derived from the direct role').toBe(true)
    expect(await may('ada', 'drop', 'song', 'bye'), 'the other album is not affected').toBe(true)
    expect(await permit.getUserPermissions('gus', [TENANT], undefined, ['album', 'song'])).toEqual({
      'album:debut': instance('album', 'debut', ['listener']),
      'album:second': instance('album', 'second', ['critic']),
      'song:bye': instance('song', 'bye', ['critic']),
      'song:hello': instance('song', 'hello', ['listener']),
    })

    await api.roleAssignments.unassign({ user: 'ada', ...direct })
    expect(await may('ada', 'drop', 'song', 'hello')).toBe(true)
    await api.relationshipTuples.delete(TUPLES[2]!)
    expect(await may('ada', 'drop', 'song', 'hello')).toBe(false)
    await api.relationshipTuples.bulkUnRelationshipTuples([TUPLES[3]!])
    expect(await may('ada', 'drop', 'song', 'bye')).toBe(false)

    // When the first two types are deleted, the next type still references them.
    await api.tenants.delete(TENANT)
    for (const type of ['studio', 'album', 'song']) await api.resources.delete(type)
    for (const user of ['ada', 'gus']) await api.users.delete(user)
    expect(await api.resources.list()).toEqual([])
    expect(await api.relationshipTuples.list({})).toEqual([])
    expect(await api.resourceInstances.list()).toEqual([])
    expect(await may('ada', 'mix', 'album', 'second')).toBe(false)
  })
})

/** The entry of an instance in the permissions of a user who has only the permission `hear`. */
function instance(type: string, key: string, roles: readonly string[]) {
  return { resource: { type, key, attributes: {} }, permissions: [`hear:${type}`], roles }
}
