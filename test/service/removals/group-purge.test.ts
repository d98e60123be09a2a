/** Deletion of a group that is larger than one commit (C.5). */
import { describe, expect, test } from 'vitest'
import { deleteGroup } from '#management/groups/groups.ts'
import type { ListedGroup } from '#entities/group.ts'
import { RunningEnvironment } from '../../support/running-environment.ts'

/** Number of members for which a purge needs more than two batches. */
const MEMBERS = 200
const users = Array.from({ length: MEMBERS }, (_, number) => `u${number}`)
const tenant = 'default'

/** `big` has all users and a grant on `d1`. `small` has one user and a grant, and is nested in `big`. */
async function fill(environment: RunningEnvironment): Promise<void> {
  const roles = { viewer: ['read'], editor: ['read', 'update'] }
  await environment.resource('document', ['read', 'update'], roles)
  for (const key of ['big', 'small', 'other']) await environment.group(key)
  await environment.users(...users)
  const members = users.map(user => ({ user, role: 'member', resource_instance: 'group:big', tenant }))
  await environment.execute('assignRoles', { query: {}, body: members })
  await environment.join('small', 'u0')
  await environment.join('other', 'u1')
  const nest = { params: { group_instance_key: 'big' }, body: { group_instance_key: 'small' } }
  await environment.execute('assignGroup', nest)
  await environment.grant('big', 'editor', 'document:d1')
  await environment.grant('small', 'viewer', 'document:d1')
}

function remove(environment: RunningEnvironment, group: string) {
  return environment.execute('deleteGroup', { params: { group_instance_key: group } })
}

const check = (user: string, action: string) => ({ user, action, type: 'document', key: 'd1', tenant: null })

function may(environment: RunningEnvironment, user: string, action: string): boolean {
  return environment.decide(check(user, action))
}

function whole(environment: RunningEnvironment, group: string) {
  return environment.execute('getGroup', { params: { group_instance_key: group } })
}

describe('a deleted group of 200 members', () => {
  test('no longer hides its subgroups from the list of top-level groups, even before its purge', async () => {
    const environment = await RunningEnvironment.open()
    await fill(environment)
    const top = async () => {
      const query = { top_level: true, include_total_count: false }
      const data = (await environment.execute('listGroupRecords', { query })) as readonly ListedGroup[]
      return data.map(({ group_instance_key: key }) => key)
    }
    expect(await top()).toEqual(['big', 'other'])
    // This call commits without starting a purge.
    await environment.onOneState(context => deleteGroup(context, { params: { group_instance_key: 'big' } }))
    expect(environment.count('purge')).toBe(1)
    expect(await top()).toEqual(['small', 'other'])
  })

  test('is absent from decisions when the response is sent, and its purge keeps all rows of other groups', async () => {
    const environment = await RunningEnvironment.open()
    await fill(environment)
    expect(may(environment, 'u199', 'update')).toBe(true)
    const before = { small: await whole(environment, 'small'), other: await whole(environment, 'other') }

    await remove(environment, 'big')
    expect(environment.count('purge'), 'too many rows for one commit').toBe(1)
    expect(may(environment, 'u199', 'update')).toBe(false)
    expect(may(environment, 'u0', 'update')).toBe(false)
    expect(may(environment, 'u0', 'read'), 'through the nested group').toBe(true)

    await environment.purged()
    expect(environment.count('assignment'), 'the memberships in small and other').toBe(2)
    expect(environment.count('tuple'), 'the grant to small').toBe(1)
    expect(environment.count('user')).toBe(MEMBERS)
    expect(environment.count('instance')).toBe(3)
    // Unused relations and derivations are removed in another commit after the purge.
    await environment.until(() => environment.count('relation') === 1)
    expect({ small: await whole(environment, 'small'), other: await whole(environment, 'other') }).toEqual(
      before,
    )
    const parents = await environment.execute('listGroupParents', {
      params: { group_instance_key: 'small' },
      query: {},
    })
    expect(parents).toEqual({ data: [], total_count: 0, page_count: 0 })
  })

  test('is empty if it is re-created during the purge, and keeps its new members and grants', async () => {
    const environment = await RunningEnvironment.open()
    await fill(environment)
    await remove(environment, 'big')
    const created = await environment.group('big')
    const empty = { users: [], users_count: 0, assigned_roles: ['group:big#member'], assigned_roles_count: 0 }
    expect(created).toMatchObject(empty)
    expect(may(environment, 'u199', 'update')).toBe(false)

    await environment.join('big', 'u7')
    await environment.grant('big', 'editor', 'document:d1')
    expect(may(environment, 'u7', 'update')).toBe(true)
    await environment.purged()
    expect(may(environment, 'u7', 'update')).toBe(true)
    expect(may(environment, 'u8', 'update')).toBe(false)
    expect(await whole(environment, 'big')).toMatchObject({
      users_count: 1,
      assigned_roles: ['group:big#member', 'document:d1#editor'],
    })
    const oracle = environment.oracle()
    expect(oracle.evaluate(check('u7', 'update'))).toBe(true)
    expect(oracle.evaluate(check('u8', 'update'))).toBe(false)
  })
})
