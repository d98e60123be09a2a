/** Concurrent requests: their outcome is always that of some sequential order of the requests. */
import { describe, expect, test } from 'vitest'
import { COMMIT_ATTEMPTS_MAX } from '#model/limits.ts'
import type { GroupRead } from '#entities/group.ts'
import type { Resource } from '#entities/resource.ts'
import {
  type Answer,
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

describe('32 concurrent requests to create the same entity', () => {
  const [team, granted] = fresh('team', 'document:granted')
  const held = { resource_instance: 'document:held', tenant: 'default' }

  test.each([
    ['user', `${FACTS}/users`, { key: 'racer', role_assignments: [{ role: 'auditor', tenant: 'default' }] }],
    ['tenant', `${FACTS}/tenants`, { key: 'racer', name: 'Racer' }],
    ['resource', RESOURCES, { key: 'racer', name: 'R', actions: { go: {} }, roles: { r: { name: 'R' } } }],
    ['resource role', `${RESOURCES}/document/roles`, { key: 'racer', name: 'R', permissions: ['read'] }],
    ['tenant role', `${SCHEMA}/roles`, { key: 'racer', name: 'R', permissions: ['document:read'] }],
    ['relation', `${RESOURCES}/document/relations`, { key: 'of', name: 'Of', subject_resource: 'document' }],
    ['assignment with its instance', `${FACTS}/role_assignments`, { user: 'racer', role: 'viewer', ...held }],
    [
      'tuple with its two instances',
      `${FACTS}/relationship_tuples`,
      { subject: 'document:from', relation: 'of', object: 'document:to', tenant: 'default' },
    ],
    ['instance', `${FACTS}/resource_instances`, { resource: 'document', key: 'racer', tenant: 'default' }],
    ['group of a new type', GROUPS, { group_instance_key: 'crew:r', group_tenant: 'default' }],
  ])('create one %s, and all other requests receive 409', async (_what, path, body) => {
    const answers = await atOnce(CLIENTS, () => verdict.post(path, body))
    expect(statuses(answers)).toEqual(ONE_WINS)
  })

  test('create one grant with one relation and one derivation', async () => {
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

  test('create one membership, and all requests succeed', async () => {
    const [crew, bob] = fresh('crew', 'bob')
    await verdict.user(bob)
    await verdict.group(crew)
    const joined = await atOnce(CLIENTS, () => verdict.join(crew, bob))
    expect(new Set(joined.map(({ users_count }) => users_count))).toEqual(new Set([1]))
  })
})

describe('concurrent requests for different entities', () => {
  test('all succeed: 32 groups of a new type, 32 grants of one role, 32 members', async () => {
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

  test('all succeed: more nestings into one group than the limit of attempts per command', async () => {
    const count = 3 * COMMIT_ATTEMPTS_MAX
    const [outer] = fresh('outer')
    await verdict.group(outer)
    await atOnce(count, index => verdict.group(`${outer}-${index}`))
    await atOnce(count, index => verdict.nest(`${outer}-${index}`, { into: outer }))
    const { body } = await verdict.get(`${groupPath(outer)}/children?per_page=100`)
    expect(body).toMatchObject({ total_count: count })
  })
})

describe('constraints that two concurrent requests could violate together', () => {
  const nest = (inner: string, outer: string) =>
    verdict.put(`${groupPath(outer)}/assign_group`, { group_instance_key: inner })
  const extend = (role: string, other: string) =>
    verdict.patch(`${RESOURCES}/document/roles/${role}`, { extends: [other] })
  const makeGroup = (key: string) => verdict.group(key)
  const makeRole = (key: string) => verdict.post(`${RESOURCES}/document/roles`, { key, name: key })

  test.each([
    ['two nestings that would form a cycle', 2, makeGroup, nest],
    ['five nestings that would form a cycle', 5, makeGroup, nest],
    ['two roles that would extend each other', 2, makeRole, extend],
  ] as const)('are kept, because exactly one request is refused: %s', async (_, length, make, link) => {
    for (let round = 0; round < 10; round += 1) {
      const ring = Array.from({ length }, () => fresh('link')[0])
      for (const key of ring) await make(key)
      const answers = await atOnce(length, index => link(ring[index]!, ring[(index + 1) % length]!))
      expect(statuses(answers)).toEqual([...Array.from({ length: length - 1 }, () => 200), 400])
    }
  })

  test('are kept: an instance that two requests create in different tenants exists in only one of them', async () => {
    await verdict.tenant('elsewhere')
    for (let round = 0; round < 10; round += 1) {
      const [alice, d1] = fresh('alice', 'document:d1')
      await verdict.user(alice)
      const assign = (role: string, tenant: string) =>
        verdict.post(`${FACTS}/role_assignments`, { user: alice, role, resource_instance: d1, tenant })
      const answers = await Promise.all([assign('viewer', 'default'), assign('editor', 'elsewhere')])
      expect(statuses(answers)).toEqual([200, 400])
    }
  })
})

describe('a shutdown with requests in flight', () => {
  test.each([1, 2])('keeps all confirmed changes, with %i HTTP threads', async httpThreads => {
    const service = await startedService({ storeUrl: `lmdb:${storeDirectory()}`, httpThreads })
    // Opens the connections first, so that no request waits for a connection.
    await atOnce(16, () => service.get('/healthy'))
    const underWay = atOnce(16, index =>
      service.post(`${FACTS}/users`, { key: `u${index}` }).catch(() => null),
    )
    await service.get('/healthy')
    const next = await service.restart()
    for (const [index, answer] of (await underWay).entries()) {
      // The connection of this request ended while the request was in flight.
      if (answer === null) continue
      expect(answer.status).toBe(200)
      expect((await next.post(`${FACTS}/users`, { key: `u${index}` })).status).toBe(409)
    }
  })
})
