/** Many callers at once: whatever races, the outcome is one that some order of the calls could have had. */
import { COMMIT_ATTEMPTS_MAX } from '#model/limits.ts'
import { describe, expect, test } from 'vitest'
import type { GroupRead } from '#model/wire/group.ts'
import type { Resource } from '#model/wire/resource.ts'
import {
  type Answer,
  type Client,
  FACTS,
  fresh,
  grantBody,
  groupPath,
  GROUPS,
  RESOURCES,
  SCHEMA,
  sharedService,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'

const verdict = await sharedService({ httpThreads: 2, storeUrl: 'memory:' })
await verdict.createDocumentModel()
await verdict.tenantRole('auditor', ['document:read'])

const CLIENTS = 32

function atOnce<Result>(count: number, call: (index: number) => Promise<Result>): Promise<Result[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => call(index)))
}

function statuses(answers: readonly Answer[]): number[] {
  return answers.map(({ status }) => status).toSorted((a, b) => a - b)
}

const ONE_WINS = [200, ...Array.from({ length: CLIENTS - 1 }, () => 409)]

describe('32 callers who create the same thing at once', () => {
  const [alice, held, granted, related] = fresh('alice', 'document:held', 'document:granted', 'document:of')
  const [team] = fresh('team')

  test.each([
    ['user', `${FACTS}/users`, { key: 'racer', role_assignments: [{ role: 'auditor', tenant: 'default' }] }],
    ['tenant', `${FACTS}/tenants`, { key: 'racer', name: 'Racer' }],
    ['resource', RESOURCES, { key: 'racer', name: 'R', actions: { go: {} }, roles: { r: { name: 'R' } } }],
    ['resource role', `${RESOURCES}/document/roles`, { key: 'racer', name: 'R', permissions: ['read'] }],
    ['tenant role', `${SCHEMA}/roles`, { key: 'racer', name: 'R', permissions: ['document:read'] }],
    ['relation', `${RESOURCES}/document/relations`, { key: 'of', name: 'Of', subject_resource: 'document' }],
    ['instance', `${FACTS}/resource_instances`, { resource: 'document', key: 'racer', tenant: 'default' }],
    [
      'group of a type that is not there yet',
      GROUPS,
      { group_instance_key: 'crew:r', group_tenant: 'default' },
    ],
  ])('make one %s, and the others hear that it is there', async (_what, path, body) => {
    const answers = await atOnce(CLIENTS, () => verdict.post(path, body))
    expect(statuses(answers)).toEqual(ONE_WINS)
  })

  test('make one assignment, and one instance on the way', async () => {
    await verdict.user(alice)
    const body = { user: alice, role: 'viewer', resource_instance: held, tenant: 'default' }
    const answers = await atOnce(CLIENTS, () => verdict.post(`${FACTS}/role_assignments`, body))
    expect(statuses(answers)).toEqual(ONE_WINS)
    expect(await verdict.allows(alice, 'read', held)).toBe(true)
  })

  test('make one tuple, and its two sides once', async () => {
    const body = { subject: `${related}-from`, relation: 'of', object: related, tenant: 'default' }
    const answers = await atOnce(CLIENTS, () => verdict.post(`${FACTS}/relationship_tuples`, body))
    expect(statuses(answers)).toEqual(ONE_WINS)
  })

  test('make one grant, and one relation and one entry for it', async () => {
    await verdict.group(team)
    const answers = await atOnce(CLIENTS, () =>
      verdict.post(`${groupPath(team)}/roles`, grantBody('editor', granted)),
    )
    expect(statuses(answers)).toEqual(ONE_WINS)
    const group = await verdict.get<GroupRead>(groupPath(team))
    expect(group.body).toMatchObject({
      assigned_roles: [`group:${team}#member`, `${granted}#editor`],
      assigned_roles_count: 1,
    })
    const { body } = await verdict.get<Resource>(`${RESOURCES}/document`)
    expect(Object.keys(body.relations).filter(key => key.startsWith('group_'))).toEqual([
      'group_group_editor',
    ])
    expect(body.roles['editor']!.granted_to.users_with_role.length).toBe(1)
  })

  test('make one membership, which is no error for any of them', async () => {
    const [crew, bob] = fresh('crew', 'bob')
    await verdict.user(bob)
    await verdict.group(crew)
    const joined = await atOnce(CLIENTS, () => verdict.join(crew, bob))
    expect(new Set(joined.map(({ users_count }) => users_count))).toEqual(new Set([1]))
  })
})

describe('different things at once', () => {
  test('all come about: 32 groups of a new type, 32 grants of one role, 32 members', async () => {
    const [squad] = fresh('squad')
    const groups = await atOnce(CLIENTS, index => verdict.group(`${squad}:g${index}`))
    expect(new Set(groups.map(({ id }) => id)).size).toBe(CLIENTS)
    await atOnce(CLIENTS, index =>
      verdict.grant(`${squad}:g${index}`, 'viewer', `document:${squad}-${index}`),
    )
    await atOnce(CLIENTS, index => verdict.user(`${squad}-u${index}`))
    await atOnce(CLIENTS, index => verdict.join(`${squad}:g${index}`, `${squad}-u${index}`))
    for (const index of [0, 13, CLIENTS - 1]) {
      expect(await verdict.allows(`${squad}-u${index}`, 'read', `document:${squad}-${index}`)).toBe(true)
      expect(await verdict.allows(`${squad}-u${index}`, 'read', `document:${squad}-1${index}`)).toBe(false)
    }
  })

  test('more nestings into one group than a command may lose all come about', async () => {
    const count = 3 * COMMIT_ATTEMPTS_MAX
    const [outer] = fresh('outer')
    await verdict.group(outer)
    await atOnce(count, index => verdict.group(`${outer}-${index}`))
    await atOnce(count, index => verdict.nest(`${outer}-${index}`, { into: outer }))
    const { body } = await verdict.get(`${groupPath(outer)}/children?per_page=100`)
    expect(body).toMatchObject({ total_count: count })
  })
})

describe('rules that two calls could break together', () => {
  test('two nestings that would close a cycle: never both', async () => {
    for (let round = 0; round < 30; round += 1) {
      const [a, b] = fresh('a', 'b')
      await verdict.group(a)
      await verdict.group(b)
      const answers = await Promise.all([nest(verdict, a, b), nest(verdict, b, a)])
      expect(statuses(answers)).toEqual([200, 400])
    }
  })

  test('a ring of nestings closed from all sides: one is refused', async () => {
    for (let round = 0; round < 10; round += 1) {
      const ring = fresh('r0', 'r1', 'r2', 'r3', 'r4')
      for (const group of ring) await verdict.group(group)
      const answers = await atOnce(ring.length, index =>
        nest(verdict, ring[index]!, ring[(index + 1) % ring.length]!),
      )
      expect(statuses(answers)).toEqual([200, 200, 200, 200, 400])
    }
  })

  test('two roles that would extend each other: never both', async () => {
    for (let round = 0; round < 20; round += 1) {
      const [a, b] = fresh('role-a', 'role-b')
      for (const key of [a, b]) await verdict.post(`${RESOURCES}/document/roles`, { key, name: key })
      const answers = await Promise.all([extend(a, b), extend(b, a)])
      expect(statuses(answers)).toEqual([200, 400])
    }
  })

  test('an instance created in two tenants lives in one of them', async () => {
    await verdict.tenant('elsewhere')
    for (let round = 0; round < 20; round += 1) {
      const [alice, d1] = fresh('alice', 'document:d1')
      await verdict.user(alice)
      const assign = (role: string, tenant: string) =>
        verdict.post(`${FACTS}/role_assignments`, { user: alice, role, resource_instance: d1, tenant })
      const answers = await Promise.all([assign('viewer', 'default'), assign('editor', 'elsewhere')])
      expect(statuses(answers)).toEqual([200, 400])
    }
  })

  function extend(role: string, other: string): Promise<Answer> {
    return verdict.patch(`${RESOURCES}/document/roles/${role}`, { extends: [other] })
  }
})

function nest(service: Client, inner: string, outer: string): Promise<Answer> {
  return service.put(`${groupPath(outer)}/assign_group`, { group_instance_key: inner })
}

describe('granting and revoking the last tuple of a relation at once', () => {
  test('ends as the acknowledged operations say, 200 rounds long', async () => {
    const service = await startedService({ httpThreads: 2 })
    await service.createDocumentModel()
    await service.user('alice')
    for (const group of ['one', 'two']) {
      await service.group(group)
      await service.join(group, 'alice')
    }
    const grant = (group: string, on: string) =>
      service.post(`${groupPath(group)}/roles`, grantBody('editor', on))
    const revoke = (group: string, on: string) =>
      service.delete(`${groupPath(group)}/roles`, grantBody('editor', on))
    const relations = async () =>
      Object.keys((await service.get<Resource>(`${RESOURCES}/document`)).body.relations)

    await service.grant('one', 'editor', 'document:d1')
    for (let round = 0; round < 200; round += 1) {
      // One loses its grant, the relation's last, while two gets one.
      const [revoked, granted] = await Promise.all(
        round % 2 === 0
          ? [revoke('one', 'document:d1'), grant('two', 'document:d2')]
          : [revoke('two', 'document:d2'), grant('one', 'document:d1')],
      )
      expect([revoked!.status, granted!.status]).toEqual([204, 200])
      const [onD1, onD2] = [
        await service.allows('alice', 'update', 'document:d1'),
        await service.allows('alice', 'update', 'document:d2'),
      ]
      expect([round, onD1, onD2]).toEqual([round, round % 2 === 1, round % 2 === 0])
      expect(await relations()).toEqual(['group_group_editor'])
    }
    await service.revoke('one', 'editor', 'document:d1')
    expect(await relations()).toEqual([])
  })

  test('of the same grant: decisions agree with the list, and with themselves after a restart', async () => {
    const service = await startedService({ storeUrl: `lmdb:${storeDirectory()}`, httpThreads: 2 })
    await service.createDocumentModel()
    await service.user('alice')
    await service.group('team')
    await service.join('team', 'alice')
    const path = `${groupPath('team')}/roles`
    const body = grantBody('editor', 'document:d1')
    let isGranted = false
    for (let round = 0; round < 60; round += 1) {
      const answers = await Promise.all([
        service.post(path, body),
        service.delete(path, body),
        service.post(path, body),
      ])
      const change = answers.map(({ status }) => ({ 200: 1, 204: -1, 409: 0, 404: 0 })[status])
      const sum = change.reduce<number>((total, each) => total + (each ?? Number.NaN), isGranted ? 1 : 0)
      isGranted = await service.allows('alice', 'update', 'document:d1')
      expect(sum, statuses(answers).join()).toBe(isGranted ? 1 : 0)
      const { body: group } = await service.get<GroupRead>(groupPath('team'))
      const granted = isGranted ? ['document:d1#editor'] : []
      expect(group.assigned_roles).toEqual(['group:team#member', ...granted])
    }
    const next = await service.restart()
    expect(await next.allows('alice', 'update', 'document:d1')).toBe(isGranted)
  })

  test('while a role takes the relation into an entry of its own: no entry outlives its relation', async () => {
    const service = await startedService()
    await service.createDocumentModel()
    await service.group('team')
    const entry = { role: 'member', on_resource: 'group', linked_by_relation: 'group_group_editor' }
    for (let round = 0; round < 60; round += 1) {
      await service.grant('team', 'editor', 'document:d1')
      const [revoked, changed] = await Promise.all([
        service.delete(`${groupPath('team')}/roles`, grantBody('editor', 'document:d1')),
        service.patch(`${RESOURCES}/document/roles/viewer`, { granted_to: { users_with_role: [entry] } }),
      ])
      expect(revoked.status).toBe(204)
      expect([200, 404]).toContain(changed.status)
      const { status, body } = await service.get<Resource>(`${RESOURCES}/document`)
      expect(status).toBe(200)
      const relations = Object.keys(body.relations)
      for (const role of Object.values(body.roles)) {
        for (const { linked_by_relation } of role.granted_to.users_with_role) {
          expect(relations).toContain(linked_by_relation)
        }
      }
      await service.patch(`${RESOURCES}/document/roles/viewer`, { granted_to: {} })
    }
  })
})

describe('members and grants of a group that is deleted at once', () => {
  test('an acknowledged deletion leaves nobody with its rights', async () => {
    for (let round = 0; round < 30; round += 1) {
      const [team, alice, d1] = fresh('team', 'alice', 'document:d1')
      await verdict.user(alice)
      await verdict.group(team)
      const [deleted, joined, granted] = await Promise.all([
        verdict.delete(groupPath(team)),
        verdict.put(`${groupPath(team)}/users/${alice}`, { tenant: 'default' }),
        verdict.post(`${groupPath(team)}/roles`, grantBody('viewer', d1)),
      ])
      expect(deleted.status).toBe(204)
      for (const { status } of [joined, granted]) expect([200, 404]).toContain(status)
      expect(await verdict.allows(alice, 'read', d1)).toBe(false)
      const again = await verdict.group(team)
      expect(again).toMatchObject({ users_count: 0, assigned_roles_count: 0 })
      expect(await verdict.allows(alice, 'read', d1)).toBe(false)
    }
  })
})

describe('closing with requests under way', () => {
  test.each([1, 2])(
    'keeps what it answered, and waits for nobody, with %i HTTP threads',
    async httpThreads => {
      const service = await startedService({ storeUrl: `lmdb:${storeDirectory()}`, httpThreads })
      // Connections that are there already, so that no request is late for want of one.
      await atOnce(16, () => service.get('/healthy'))
      const underWay = atOnce(16, index =>
        service.post(`${FACTS}/users`, { key: `u${index}` }).catch(() => null),
      )
      await service.get('/healthy')
      const next = await service.restart()
      for (const [index, answer] of (await underWay).entries()) {
        // The others were still on their way when their connection ended.
        if (answer === null) continue
        expect(answer.status).toBe(200)
        expect((await next.post(`${FACTS}/users`, { key: `u${index}` })).status).toBe(409)
      }
    },
  )
})
