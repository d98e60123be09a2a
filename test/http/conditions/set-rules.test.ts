/** Rules on condition sets over HTTP: references, validation, deletion (conditions.md 1.4, 1.5 and 2). */
import { describe, expect, test } from 'vitest'
import type { SetRule } from '#entities/set-rule.ts'
import {
  type Envelope,
  FACTS,
  fresh,
  RESOURCES,
  revisionOf,
  SCHEMA,
  sharedService,
} from '#testing/processes/running-service.ts'
import {
  IMPOSSIBLE,
  INVALID,
  NOT_FOUND,
  NO_PERMISSION,
  type Refusal,
  type Problem,
  refusal,
} from '../../support/calls/refusals.ts'

const verdict = await sharedService()
const SETS = `${SCHEMA}/condition_sets`
const RULES = `${FACTS}/set_rules`
const IN_TENANT = { 'user.tenants': { array_contains: { ref: 'tenant.key' } } }

interface World {
  readonly users: string
  readonly docs: string
  readonly page: string
  readonly role: string
  /** The only member of `users`. */
  readonly user: string
}

/** A user set with one user, a resource set, a resource with two actions, and a tenant role. */
async function newWorld(): Promise<World> {
  const [users, docs, page, role, user] = fresh('users', 'docs', 'page', 'role', 'user')
  await verdict.resource({ key: page, actions: { read: {}, write: {} } })
  await verdict.post(`${SCHEMA}/roles`, { key: role, name: 'Role' })
  await verdict.conditionSet({ key: users, conditions: { 'user.name': { equals: user } } })
  await verdict.conditionSet({ key: docs, type: 'resourceset', resource_id: page })
  await verdict.post(`${FACTS}/users`, { key: user, attributes: { name: user } })
  return { users, docs, page, role, user }
}

async function newRule(body: object): Promise<SetRule> {
  return (await verdict.done<SetRule[]>('POST', RULES, body))[0]!
}

async function rulesBy(query: Record<string, string>): Promise<string[]> {
  const found = await verdict.done<SetRule[]>('GET', `${RULES}?${new URLSearchParams(query).toString()}`)
  return found.map(rule => `${rule.user_set} ${rule.permission} ${rule.resource_set}`)
}

async function idOf(path: string): Promise<string> {
  return (await verdict.get<{ readonly id: string }>(path)).body.id
}

describe('a set rule', () => {
  test('takes effect before the response to its creation, and ends before the response to its deletion', async () => {
    const { users, docs, page, user } = await newWorld()
    const body = { user_set: users, permission: `${page}:read`, resource_set: docs }
    expect(await verdict.allows(user, 'read', page)).toBe(false)
    const made = await verdict.post<SetRule[]>(RULES, body)
    expect([made.status, made.body]).toEqual([
      200,
      [
        {
          id: expect.any(String),
          key: `${users}-${page}-read-${docs}`,
          ...body,
          organization_id: expect.any(String),
          project_id: expect.any(String),
          environment_id: expect.any(String),
          created_at: expect.any(String),
          updated_at: made.body[0]?.created_at,
        },
      ],
    ])
    expect(await verdict.allows(user, 'read', page)).toBe(true)
    expect(await verdict.allows(user, 'write', page)).toBe(false)
    expect(await verdict.allows('unknown', 'read', page)).toBe(false)
    const removed = await verdict.delete(RULES, body)
    expect([removed.status, revisionOf(removed)]).toEqual([204, expect.stringMatching(/^[\w-]+\.\d+$/u)])
    expect(await verdict.allows(user, 'read', page)).toBe(false)
    expect(refusal(await verdict.delete(RULES, body))).toEqual(NOT_FOUND)
  })

  test('can name sets, roles, resources and actions by key or id, and is returned with their keys', async () => {
    const { users, docs, page, role } = await newWorld()
    const ofRole = `__autogen_${role}`
    const ofPage = `__autogen_${page}`
    const actionId = await idOf(`${RESOURCES}/${page}/actions/read`)
    for (const [user_set, key] of [
      [users, users],
      [await idOf(`${SETS}/${users}`), users],
      [role, ofRole],
      [await idOf(`${SCHEMA}/roles/${role}`), ofRole],
      [ofRole, ofRole],
      [await idOf(`${SETS}/${ofRole}`), ofRole],
    ] as const) {
      for (const [resource_set, resourceKey] of [
        [docs, docs],
        [await idOf(`${SETS}/${docs}`), docs],
        [page, ofPage],
        [await idOf(`${RESOURCES}/${page}`), ofPage],
        [ofPage, ofPage],
        [await idOf(`${SETS}/${ofPage}?type=resourceset`), ofPage],
      ] as const) {
        for (const permission of [`${page}:read`, actionId]) {
          const body = { user_set, permission, resource_set }
          expect(await newRule(body)).toMatchObject({
            user_set: key,
            permission: `${page}:read`,
            resource_set: resourceKey,
          })
          expect((await verdict.delete(RULES, body)).status).toBe(204)
        }
      }
    }
  })

  test('names the set if a role or resource has the same key, unless a flag selects the role or resource', async () => {
    const [key, docs] = fresh('same', 'docs')
    await verdict.resource({ key, actions: { read: {} } })
    await verdict.post(`${SCHEMA}/roles`, { key, name: 'Role' })
    await verdict.conditionSet({ key: key })
    await verdict.conditionSet({ key: docs, type: 'resourceset' })
    const body = { user_set: key, permission: `${key}:read`, resource_set: docs }
    expect(await newRule(body)).toMatchObject({ user_set: key })
    expect(await newRule({ ...body, is_role: true })).toMatchObject({ user_set: `__autogen_${key}` })
    // As a resource set, the key still refers to the user set, which has the wrong type.
    expect(refusal(await verdict.post(RULES, { ...body, resource_set: key }))).toEqual(IMPOSSIBLE)
    expect(await newRule({ ...body, resource_set: key, is_resource: true })).toMatchObject({
      resource_set: `__autogen_${key}`,
    })
    for (const flags of [{ is_role: true, user_set: 'nowhere' }, { is_resource: true }]) {
      expect(refusal(await verdict.post(RULES, { ...body, ...flags }))).toEqual(NOT_FOUND)
    }
  })

  test('has a key of at most 255 characters, and the keys of rules with long names differ', async () => {
    const [page, docs] = fresh('page', 'docs')
    const users = 'u'.repeat(250)
    await verdict.resource({ key: page, actions: { read: {}, write: {} } })
    await verdict.conditionSet({ key: users })
    await verdict.conditionSet({ key: docs, type: 'resourceset' })
    const body = { user_set: users, resource_set: docs }
    const read = await newRule({ ...body, permission: `${page}:read` })
    const write = await newRule({ ...body, permission: `${page}:write` })
    expect([read.key.length, write.key.length]).toEqual([255, 255])
    expect(read.key).not.toBe(write.key)
  })
})

describe('the creation of a set rule', () => {
  test('is rejected if it names an entity that does not exist, or an entity of another type or resource', async () => {
    const { users, docs, page, role } = await newWorld()
    const other = (await newWorld()).page
    const body = { user_set: users, permission: `${page}:read`, resource_set: docs }
    await newRule(body)
    const rejected: readonly [change: object, expected: Refusal][] = [
      [{ user_set: 'nowhere' }, NOT_FOUND],
      [{ user_set: '__autogen_nowhere' }, NOT_FOUND],
      [{ permission: `${page}:fly` }, NOT_FOUND],
      [{ permission: 'nowhere:read' }, NOT_FOUND],
      [{ permission: '4a5b6c7d-0000-4000-8000-000000000000' }, NOT_FOUND],
      [{ resource_set: 'nowhere' }, NOT_FOUND],
      [{ resource_set: '__user' }, NOT_FOUND],
      [{ permission: 'read' }, NO_PERMISSION],
      [{ permission: undefined, permissions: [`${page}:read`] }, INVALID],
      [{ user_set: docs }, IMPOSSIBLE],
      [{ user_set: `__autogen_${page}` }, IMPOSSIBLE],
      [{ resource_set: users }, IMPOSSIBLE],
      [{ resource_set: `__autogen_${role}` }, IMPOSSIBLE],
      [{ permission: `${other}:read` }, IMPOSSIBLE],
      [{ permission: `${other}:read`, resource_set: page }, IMPOSSIBLE],
      // Existence is checked before types.
      [{ permission: `${other}:read`, user_set: 'nowhere' }, NOT_FOUND],
    ]
    for (const [change, expected] of rejected) {
      const answer = await verdict.post<Problem>(RULES, { ...body, ...change })
      expect(refusal(answer), JSON.stringify(change)).toEqual(expected)
    }
    expect(await rulesBy({ user_set: users })).toEqual([`${users} ${page}:read ${docs}`])
  })

  test('returns the existing rule and changes nothing if the rule exists', async () => {
    const { users, docs, page } = await newWorld()
    const body = { user_set: users, permission: `${page}:read`, resource_set: docs }
    const first = await verdict.post(RULES, body)
    const revision = await verdict.revision()
    const second = await verdict.post(RULES, body)
    expect([second.status, second.body]).toEqual([200, first.body])
    expect(await verdict.revision()).toBe(revision)
  })
})

test('creating a rule whose conditions ignore the tenant returns a warning that names the remedy', async () => {
  const { users, docs, page, role } = await newWorld()
  const [below, aware] = fresh('below', 'aware')
  await verdict.conditionSet({ key: aware, conditions: { allOf: [IN_TENANT] } })
  await verdict.conditionSet({ key: below, parent_id: aware })
  const warningOf = async (body: object): Promise<string | null> => {
    const answer = await verdict.post(RULES, { permission: `${page}:read`, resource_set: docs, ...body })
    expect(answer.status).toBe(200)
    return answer.headers.get('warning')
  }
  expect(await warningOf({ user_set: users })).toMatch(/^299 - ".*every tenant.*user\.tenants.*"$/u)
  expect(await warningOf({ user_set: users, resource_set: page })).toMatch(/^299 /u)
  for (const user_set of [role, aware, below]) expect(await warningOf({ user_set })).toBeNull()
  const [byRoles, byTenant] = fresh('by-roles', 'by-tenant')
  await verdict.conditionSet({ key: byRoles, conditions: { 'user.roles': { array_contains: 'admin' } } })
  await verdict.conditionSet({
    key: byTenant,
    type: 'resourceset',
    conditions: { 'resource.a': { equals: { ref: 'tenant.a' } } },
  })
  expect(await warningOf({ user_set: byRoles })).toBeNull()
  expect(await warningOf({ user_set: users, resource_set: byTenant })).toBeNull()
})

test('set rules are listed in creation order, can be filtered, and empty filters are ignored', async () => {
  const { users, docs, page, role } = await newWorld()
  const other = await newWorld()
  await newRule({ user_set: users, permission: `${page}:read`, resource_set: docs })
  await newRule({ user_set: users, permission: `${page}:write`, resource_set: page })
  await newRule({ user_set: role, permission: `${page}:read`, resource_set: docs })
  await newRule({ user_set: users, permission: `${other.page}:read`, resource_set: other.docs })
  const [first, second, third, fourth] = [
    `${users} ${page}:read ${docs}`,
    `${users} ${page}:write __autogen_${page}`,
    `__autogen_${role} ${page}:read ${docs}`,
    `${users} ${other.page}:read ${other.docs}`,
  ]
  const all = [first, second, fourth]
  expect(await rulesBy({ user_set: users })).toEqual(all)
  const user_set = await idOf(`${SETS}/${users}`)
  expect(await rulesBy({ user_set, permission: '', resource_set: '' })).toEqual(all)
  for (const key of [role, `__autogen_${role}`]) expect(await rulesBy({ user_set: key })).toEqual([third])
  expect(await rulesBy({ user_set: users, permission: 'read' })).toEqual([first, fourth])
  expect(await rulesBy({ permission: `${page}:read` })).toEqual([first, third])
  const actionId = await idOf(`${RESOURCES}/${page}/actions/read`)
  expect(await rulesBy({ permission: actionId })).toEqual([first, third])
  expect(await rulesBy({ resource_set: docs, user_set: role })).toEqual([third])
  for (const resource_set of [page, `__autogen_${page}`])
    expect(await rulesBy({ resource_set })).toEqual([second])
  for (const filter of [
    { user_set: 'nowhere' },
    { permission: 'nowhere:read' },
    { permission: `${page}:fly` },
    { permission: 'fly' },
    { resource_set: 'nowhere' },
    { user_set: docs },
  ]) {
    expect(await rulesBy(filter as Record<string, string>), JSON.stringify(filter)).toEqual([])
  }
  expect(await rulesBy({ user_set: users, page: '2', per_page: '2' })).toEqual([fourth])
  const counted = await verdict.get<Envelope<SetRule>>(
    `${RULES}?user_set=${users}&include_total_count=true&per_page=2`,
  )
  expect([counted.body.total_count, counted.body.page_count, counted.body.data.length]).toEqual([3, 2, 2])
  const listed = await rulesBy({ per_page: '100' })
  expect(listed).toEqual(expect.arrayContaining([first, second, third, fourth]))
})

describe('deletions', () => {
  async function ruledWorld() {
    const world = await newWorld()
    const { users, docs, page, role } = world
    const [any, below] = fresh('any', 'below')
    await verdict.conditionSet({ key: any, type: 'resourceset' })
    await verdict.conditionSet({ key: below, type: 'resourceset', parent_id: docs })
    await newRule({ user_set: users, permission: `${page}:read`, resource_set: docs })
    await newRule({ user_set: users, permission: `${page}:write`, resource_set: page })
    await newRule({ user_set: role, permission: `${page}:read`, resource_set: any })
    await newRule({ user_set: role, permission: `${page}:read`, resource_set: below })
    return {
      ...world,
      any,
      below,
      rules: () => rulesOf(page),
      byDocs: `${users} ${page}:read ${docs}`,
      byPage: `${users} ${page}:write __autogen_${page}`,
      byAny: `__autogen_${role} ${page}:read ${any}`,
      byBelow: `__autogen_${role} ${page}:read ${below}`,
    }
  }

  async function rulesOf(page: string): Promise<string[]> {
    return (await rulesBy({ per_page: '100' })).filter(rule => rule.includes(` ${page}:`))
  }

  test('include the rules on a deleted condition set', async () => {
    const { users, page, user, rules, byAny, byBelow } = await ruledWorld()
    expect(await verdict.allows(user, 'read', page)).toBe(true)
    expect((await verdict.delete(`${SETS}/${users}`)).status).toBe(204)
    expect(await rules()).toEqual([byAny, byBelow])
    expect(await verdict.allows(user, 'read', page)).toBe(false)
    // A new set with the same key does not get these rules.
    await verdict.conditionSet({ key: users, conditions: { 'user.name': { equals: user } } })
    expect(await rules()).toEqual([byAny, byBelow])
    expect(await verdict.allows(user, 'read', page)).toBe(false)
  })

  test.each([
    ['by itself', (page: string) => verdict.delete(`${RESOURCES}/${page}/actions/read`)],
    [
      'by a replacement of its resource',
      (page: string) => verdict.put(`${RESOURCES}/${page}`, { name: 'X', actions: { write: {} } }),
    ],
    [
      'by a change of its resource',
      (page: string) => verdict.patch(`${RESOURCES}/${page}`, { actions: { write: {} } }),
    ],
  ])('include the rules on an action that is deleted %s', async (_, remove) => {
    const { page, user, rules, byPage } = await ruledWorld()
    expect((await remove(page)).status).toBeLessThan(300)
    expect(await rules()).toEqual([byPage])
    await verdict.post(`${RESOURCES}/${page}/actions`, { key: 'read', name: 'Read' })
    expect(await rules()).toEqual([byPage])
    expect(await verdict.allows(user, 'read', page)).toBe(false)
    expect(await verdict.allows(user, 'write', page)).toBe(true)
  })

  test('include the sets of a deleted resource, the descendants of these sets, and the rules on all these sets', async () => {
    const { users, docs, page, user, any, below, rules } = await ruledWorld()
    const id = await idOf(`${SETS}/${docs}`)
    expect((await verdict.delete(`${RESOURCES}/${page}`)).status).toBe(204)
    expect(await rules()).toEqual([])
    for (const key of [docs, below, id]) {
      expect(refusal(await verdict.get(`${SETS}/${key}`))).toEqual(NOT_FOUND)
    }
    for (const key of [users, any]) expect((await verdict.get(`${SETS}/${key}`)).status).toBe(200)
    await verdict.resource({ key: page, actions: { read: {}, write: {} } })
    await verdict.conditionSet({ key: docs, type: 'resourceset', resource_id: page })
    expect(await rules()).toEqual([])
    expect(await verdict.allows(user, 'read', page)).toBe(false)
  })
})

describe('a bulk of set rules', () => {
  const BULK = `${RULES}/bulk`

  /** A resource with two actions, a set of all members of a tenant, and a set of one user. */
  async function newBulk() {
    const [page, everyone, one, user] = fresh('page', 'everyone', 'one', 'user')
    await verdict.resource({ key: page, actions: { read: {}, write: {} } })
    await verdict.conditionSet({ key: everyone, conditions: { 'user.tenants': { array_contains: 'acme' } } })
    await verdict.conditionSet({ key: one, conditions: { 'user.key': { equals: user } } })
    const rule = (set: string, action: string) => {
      return { user_set: set, permission: `${page}:${action}`, resource_set: page }
    }
    return { page, everyone, one, user, rule }
  }

  async function permissionsOf(set: string): Promise<string[]> {
    const { body } = await verdict.get<SetRule[]>(`${RULES}?user_set=${set}`)
    return body.map(({ permission }) => permission).toSorted()
  }

  test('creates missing rules and deletes existing ones, and takes effect before its response', async () => {
    const { page, everyone, one, user, rule } = await newBulk()
    expect((await verdict.post(RULES, rule(everyone, 'read'))).status).toBe(200)
    const operations = [rule(everyone, 'read'), rule(one, 'read'), rule(one, 'write'), rule(one, 'write')]
    const made = await verdict.post(BULK, { operations })
    expect([made.status, made.body]).toEqual([200, { rules_created: 2, in_every_tenant: [1, 2] }])
    expect(made.headers.get('warning')).toMatch(/neither set has a condition on tenants/)
    expect(await verdict.allows(user, 'write', page)).toBe(true)
    const again = await verdict.post(BULK, { operations })
    expect([again.body, again.headers.get('warning')]).toEqual([
      { rules_created: 0, in_every_tenant: [] },
      null,
    ])
    const removed = await verdict.delete(BULK, { idents: operations.slice(1) })
    expect([removed.status, removed.body]).toEqual([200, { rules_removed: 2 }])
    expect(await verdict.allows(user, 'write', page)).toBe(false)
    expect(await permissionsOf(everyone)).toEqual([`${page}:read`])
    expect((await verdict.delete(BULK, { idents: operations })).body).toEqual({ rules_removed: 1 })
  })

  test('accepts ids of permissions', async () => {
    const { page, one, rule } = await newBulk()
    const actionId = await idOf(`${RESOURCES}/${page}/actions/read`)
    const byId = { ...rule(one, 'read'), permission: actionId.toUpperCase() }
    expect((await verdict.post(BULK, { operations: [byId, rule(one, 'read')] })).body).toMatchObject({
      rules_created: 1,
    })
    expect((await verdict.delete(BULK, { idents: [byId] })).body).toEqual({ rules_removed: 1 })
  })

  test.each([
    ['an unknown set', { user_set: 'nowhere' }, NOT_FOUND],
    ['an unknown action', { permission: 'page:nothing' }, NOT_FOUND],
    ['an unknown action id', { permission: '00000000-0000-4000-8000-000000000000' }, NOT_FOUND],
    ['an invalid permission', { permission: 'read' }, NO_PERMISSION],
  ])('changes nothing if one element names %s', async (_, wrong, expected) => {
    const { page, one, rule } = await newBulk()
    await verdict.post(RULES, rule(one, 'write'))
    const bodies = [rule(one, 'read'), rule(one, 'write'), { ...rule(one, 'read'), ...wrong }]
    for (const rejected of [
      await verdict.post<Problem>(BULK, { operations: bodies }),
      await verdict.delete<Problem>(BULK, { idents: bodies.slice(1) }),
    ]) {
      expect([rejected.status, rejected.body.error_code]).toEqual(expected)
      expect(rejected.body.message).toMatch(/(operations|idents)\[\d\]: /)
    }
    expect(await permissionsOf(one)).toEqual([`${page}:write`])
  })
})
