/** Deleting a group that is larger than one commit: gone at once for everybody, its rows a little later (C.5). */
import { describe, expect, test } from 'vitest'
import { deleteGroup } from '#management/groups/groups.ts'
import type { ListedGroup } from '#model/wire/group.ts'
import { FACTS, startedService, storeDirectory } from '#testing/processes/running-service.ts'
import { RunningEnvironment } from '../support/running-environment.ts'

/** More than two pieces of the purge. */
const MEMBERS = 1_200
const users = Array.from({ length: MEMBERS }, (_, number) => `u${number}`)
const tenant = 'default'

/** `big` with all members and an editor's grant on `d1`; `small` with one member, nested in it, a viewer of `d1`. */
async function fill(environment: RunningEnvironment): Promise<void> {
  await environment.execute('createResource', {
    body: {
      key: 'document',
      name: 'Document',
      actions: { read: {}, update: {} },
      roles: {
        viewer: { name: 'Viewer', permissions: ['read'] },
        editor: { name: 'Editor', permissions: ['read', 'update'] },
      },
    },
  })
  for (const key of ['big', 'small', 'other']) {
    await environment.execute('createGroup', { body: { group_instance_key: key, group_tenant: tenant } })
  }
  const role_assignments = [{ role: 'member', resource_instance: 'group:big' }]
  await Promise.all(users.map(key => environment.execute('createUser', { body: { key, role_assignments } })))
  await join(environment, 'small', 'u0')
  await join(environment, 'other', 'u1')
  const nest = { params: { group_instance_key: 'big' }, body: { group_instance_key: 'small' } }
  await environment.execute('assignGroup', nest)
  await grant(environment, 'big', 'editor')
  await grant(environment, 'small', 'viewer')
}

/** As `join`, but the answer does not list all the members there are. */
function enrol(environment: RunningEnvironment, group: string, user: string) {
  const body = { user, role: 'member', resource_instance: `group:${group}` }
  return environment.execute('createRoleAssignment', { body })
}

function join(environment: RunningEnvironment, group: string, user: string) {
  const params = { group_instance_key: group, user_id: user }
  return environment.execute('addGroupMember', { params, body: { tenant } })
}

function grant(environment: RunningEnvironment, group: string, role: string) {
  const body = { role, resource: 'document', resource_instance: 'd1', tenant }
  return environment.execute('addGroupRole', { params: { group_instance_key: group }, body })
}

function remove(environment: RunningEnvironment, group: string) {
  return environment.execute('deleteGroup', { params: { group_instance_key: group } })
}

function may(environment: RunningEnvironment, user: string, action: string): boolean {
  return environment.decide({ user, action, type: 'document', key: 'd1', tenant: null })
}

function whole(environment: RunningEnvironment, group: string) {
  return environment.execute('getGroup', { params: { group_instance_key: group } })
}

describe('a group of 1,200 members', () => {
  test('leaves the groups in it at the top with the answer, before its rows are purged', async () => {
    const environment = await RunningEnvironment.open()
    await fill(environment)
    const top = async () => {
      const query = { top_level: true, include_total_count: false }
      const data = (await environment.execute('listGroupRecords', { query })) as readonly ListedGroup[]
      return data.map(({ group_instance_key: key }) => key)
    }
    expect(await top()).toEqual(['big', 'other'])
    // Nothing purges behind this commit.
    await environment.onOneState(context => deleteGroup(context, { params: { group_instance_key: 'big' } }))
    expect(environment.count('purge')).toBe(1)
    expect(await top()).toEqual(['small', 'other'])
  })

  test('is gone from decisions with the answer, and the purge leaves exactly what is not its own', async () => {
    const environment = await RunningEnvironment.open()
    await fill(environment)
    expect(may(environment, 'u1199', 'update')).toBe(true)
    const before = { small: await whole(environment, 'small'), other: await whole(environment, 'other') }

    await remove(environment, 'big')
    expect(environment.count('purge'), 'too much for one commit').toBe(1)
    expect(may(environment, 'u1199', 'update')).toBe(false)
    expect(may(environment, 'u0', 'update')).toBe(false)
    expect(may(environment, 'u0', 'read'), 'through the group that was in it').toBe(true)

    await environment.purged()
    expect(environment.count('assignment'), 'the memberships in small and other').toBe(2)
    expect(environment.count('tuple'), 'the grant to small').toBe(1)
    expect(environment.count('user')).toBe(MEMBERS)
    expect(environment.count('instance')).toBe(3)
    // What nothing uses any more goes with a commit of its own, behind the purge.
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

  test('created anew at once starts empty, and keeps what it is given while the old one is purged', async () => {
    const environment = await RunningEnvironment.open()
    await fill(environment)
    await remove(environment, 'big')
    const body = { group_instance_key: 'big', group_tenant: tenant }
    const created = await environment.execute('createGroup', { body })
    const empty = { users: [], users_count: 0, assigned_roles: ['group:big#member'], assigned_roles_count: 0 }
    expect(created).toMatchObject(empty)
    expect(may(environment, 'u1199', 'update')).toBe(false)

    await join(environment, 'big', 'u7')
    await grant(environment, 'big', 'editor')
    expect(may(environment, 'u7', 'update')).toBe(true)
    await environment.purged()
    expect(may(environment, 'u7', 'update')).toBe(true)
    expect(may(environment, 'u8', 'update')).toBe(false)
    expect(await whole(environment, 'big')).toMatchObject({
      users_count: 1,
      assigned_roles: ['group:big#member', 'document:d1#editor'],
    })
    const reopened = await environment.oracle()
    expect(reopened.evaluate(questionOf('u7'))).toBe(true)
    expect(reopened.evaluate(questionOf('u8'))).toBe(false)
  })

  test('deleted while another one is being purged, is purged too', async () => {
    const environment = await RunningEnvironment.open()
    await fill(environment)
    await Promise.all(users.slice(2).map(key => enrol(environment, 'other', key)))
    await Promise.all([remove(environment, 'big'), remove(environment, 'other')])
    await environment.purged()
    expect(environment.count('assignment')).toBe(1)
  })

  test('whose purge was cut short by a stop is purged after the next start', async () => {
    const environment = await RunningEnvironment.open(`lmdb:${storeDirectory()}`)
    await fill(environment)
    await remove(environment, 'big')
    await environment.close()
    const next = await environment.reopen()
    expect(may(next, 'u1199', 'update')).toBe(false)
    await next.purged()
    expect(next.count('assignment')).toBe(2)
    expect(may(next, 'u0', 'read')).toBe(true)
  })

  function questionOf(user: string) {
    return { user, action: 'update', type: 'document', key: 'd1', tenant: null }
  }
})

describe('a service that is closed in the middle of a purge', () => {
  test.each([1, 2])('closes without waiting for the rest, with %i HTTP threads', async httpThreads => {
    // One thread may get all of the calls, and one environment has half of the places.
    const managementQueueMax = 4 * 600
    const settings = { storeUrl: `lmdb:${storeDirectory()}`, httpThreads, managementQueueMax }
    const service = await startedService(settings)
    await service.createDocumentModel()
    await service.group('big')
    const role_assignments = [{ role: 'member', resource_instance: 'group:big' }]
    const created = await Promise.all(
      users.slice(-600).map(key => service.post(`${FACTS}/users`, { key, role_assignments })),
    )
    expect(created.every(({ status }) => status === 200)).toBe(true)
    await service.grant('big', 'editor', 'document:d1')
    expect(await service.allows('u1199', 'update', 'document:d1')).toBe(true)
    await service.deleteGroup('big')
    const next = await service.restart()
    expect(await next.allows('u1199', 'update', 'document:d1')).toBe(false)
    expect(await next.group('big')).toMatchObject({ users: [], assigned_roles: ['group:big#member'] })
    expect((await next.get('/v2/schema/default/default/resources/document')).body).toMatchObject({
      relations: {},
    })
  })
})
