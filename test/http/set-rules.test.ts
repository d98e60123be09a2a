/** Rules on condition sets over HTTP: what they name, what is refused, what goes with what, and that they decide (conditions, 1.4, 1.5, 2). */
import { describe, expect, test } from 'vitest'
import type { Action } from '#model/wire/action.ts'
import type { ConditionSet } from '#model/wire/condition-set.ts'
import type { TenantRole } from '#model/wire/role.ts'
import type { SetRule } from '#model/wire/set-rule.ts'
import {
  type Client,
  type Envelope,
  FACTS,
  fresh,
  type Problem,
  refusal,
  RESOURCES,
  revisionOf,
  SCHEMA,
  sharedService,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'

const verdict = await sharedService()
const SETS = `${SCHEMA}/condition_sets`
const RULES = `${FACTS}/set_rules`
const IN_TENANT = { 'user.tenants': { array_contains: { ref: 'tenant.key' } } }

interface World {
  readonly users: string
  readonly docs: string
  readonly page: string
  readonly role: string
  /** Who matches `users`. */
  readonly user: string
}

/** A user set with one user in it, a resource set, a resource that can be read and written, and a tenant role. */
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
  const answer = await verdict.post<SetRule[]>(RULES, body)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body[0]!
}

async function rulesBy(query: Record<string, string>): Promise<string[]> {
  const answer = await verdict.get<SetRule[]>(`${RULES}?${new URLSearchParams(query).toString()}`)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body.map(rule => `${rule.user_set} ${rule.permission} ${rule.resource_set}`)
}

describe('a rule', () => {
  test('allows from its answer on, and denies from the answer of its removal on', async () => {
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
    expect(await verdict.allows('nobody', 'read', page)).toBe(false)
    const removed = await verdict.delete(RULES, body)
    expect([removed.status, revisionOf(removed)]).toEqual([204, expect.stringMatching(/^[\w-]+\.\d+$/u)])
    expect(await verdict.allows(user, 'read', page)).toBe(false)
    expect(refusal(await verdict.delete(RULES, body))).toEqual([404, 'NOT_FOUND'])
  })

  test('names sets, roles, resources and actions by key or id, and reads the same', async () => {
    const { users, docs, page, role } = await newWorld()
    const set = (await verdict.get<ConditionSet>(`${SETS}/${users}`)).body
    const resources = (await verdict.get<ConditionSet>(`${SETS}/${docs}`)).body
    const action = (await verdict.get<Action>(`${RESOURCES}/${page}/actions/read`)).body
    const ofRole = (await verdict.get<TenantRole>(`${SCHEMA}/roles/${role}`)).body
    const computedRole = (await verdict.get<ConditionSet>(`${SETS}/__autogen_${role}`)).body
    const computed = (await verdict.get<ConditionSet>(`${SETS}/__autogen_${page}?type=resourceset`)).body
    const type = (await verdict.get<{ readonly id: string }>(`${RESOURCES}/${page}`)).body
    for (const [user_set, key] of [
      [users, users],
      [set.id, users],
      [role, computedRole.key],
      [ofRole.id, computedRole.key],
      [computedRole.key, computedRole.key],
      [computedRole.id, computedRole.key],
    ] as const) {
      for (const [resource_set, resourceKey] of [
        [docs, docs],
        [resources.id, docs],
        [page, computed.key],
        [type.id, computed.key],
        [computed.key, computed.key],
        [computed.id, computed.key],
      ] as const) {
        for (const permission of [`${page}:read`, action.id]) {
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

  test('names a set before a role or a resource of the same key; the flags mean those and nothing else', async () => {
    const [key, docs] = fresh('same', 'docs')
    await verdict.resource({ key, actions: { read: {} } })
    await verdict.post(`${SCHEMA}/roles`, { key, name: 'Role' })
    await verdict.conditionSet({ key: key })
    await verdict.conditionSet({ key: docs, type: 'resourceset' })
    const body = { user_set: key, permission: `${key}:read`, resource_set: docs }
    expect(await newRule(body)).toMatchObject({ user_set: key })
    expect(await newRule({ ...body, is_role: true })).toMatchObject({ user_set: `__autogen_${key}` })
    // As a resource set it names the user set of that key.
    expect(refusal(await verdict.post(RULES, { ...body, resource_set: key }))).toEqual([400, 'INVALID_INPUT'])
    expect(await newRule({ ...body, resource_set: key, is_resource: true })).toMatchObject({
      resource_set: `__autogen_${key}`,
    })
    for (const flags of [{ is_role: true, user_set: 'nowhere' }, { is_resource: true }]) {
      expect(refusal(await verdict.post(RULES, { ...body, ...flags }))).toEqual([404, 'NOT_FOUND'])
    }
  })

  test('of a role and a resource allows what the role would', async () => {
    const { page, role, user } = await newWorld()
    await newRule({ user_set: role, permission: `${page}:read`, resource_set: page })
    expect(await verdict.allows(user, 'read', page)).toBe(false)
    await verdict.post(`${FACTS}/role_assignments`, { user, role, tenant: 'default' })
    expect(await verdict.allows(user, 'read', page)).toBe(true)
  })

  test('has a key of 255 signs at most, which tells long ones apart', async () => {
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

describe('a rule is refused', () => {
  test('where one of what it names is not there, or of the other side, or of another resource', async () => {
    const { users, docs, page, role } = await newWorld()
    const other = (await newWorld()).page
    const body = { user_set: users, permission: `${page}:read`, resource_set: docs }
    await newRule(body)
    const refused: readonly [change: object, status: number, code: string][] = [
      [{ user_set: 'nowhere' }, 404, 'NOT_FOUND'],
      [{ user_set: '__autogen_nowhere' }, 404, 'NOT_FOUND'],
      [{ permission: `${page}:fly` }, 404, 'NOT_FOUND'],
      [{ permission: 'nowhere:read' }, 404, 'NOT_FOUND'],
      [{ permission: '4a5b6c7d-0000-4000-8000-000000000000' }, 404, 'NOT_FOUND'],
      [{ resource_set: 'nowhere' }, 404, 'NOT_FOUND'],
      [{ resource_set: '__user' }, 404, 'NOT_FOUND'],
      [{ permission: 'read' }, 422, 'INVALID_PERMISSION_FORMAT'],
      [{ permission: undefined, permissions: [`${page}:read`] }, 422, 'INVALID_INPUT'],
      [{ user_set: docs }, 400, 'INVALID_INPUT'],
      [{ user_set: `__autogen_${page}` }, 400, 'INVALID_INPUT'],
      [{ resource_set: users }, 400, 'INVALID_INPUT'],
      [{ resource_set: `__autogen_${role}` }, 400, 'INVALID_INPUT'],
      [{ permission: `${other}:read` }, 400, 'INVALID_INPUT'],
      [{ permission: `${other}:read`, resource_set: page }, 400, 'INVALID_INPUT'],
      // What is not there comes before what does not fit.
      [{ permission: `${other}:read`, user_set: 'nowhere' }, 404, 'NOT_FOUND'],
    ]
    for (const [change, ...expected] of refused) {
      const answer = await verdict.post<Problem>(RULES, { ...body, ...change })
      expect(refusal(answer), JSON.stringify(change)).toEqual(expected)
    }
    expect(await rulesBy({ user_set: users })).toEqual([`${users} ${page}:read ${docs}`])
  })

  test('is not refused if the rule exists: the second request returns that rule and changes nothing', async () => {
    const { users, docs, page } = await newWorld()
    const body = { user_set: users, permission: `${page}:read`, resource_set: docs }
    const first = await verdict.post(RULES, body)
    const revision = await verdict.revision()
    const second = await verdict.post(RULES, body)
    expect([second.status, second.body]).toEqual([200, first.body])
    expect(await verdict.revision()).toBe(revision)
  })
})

describe('a warning', () => {
  test('comes with a rule of which nothing asks about tenants, and names the remedy', async () => {
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
})

describe('rules are listed', () => {
  test('in their order, whole or by what they are on; a filter that is empty is none', async () => {
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
    const set = (await verdict.get<ConditionSet>(`${SETS}/${users}`)).body
    const action = (await verdict.get<Action>(`${RESOURCES}/${page}/actions/read`)).body
    expect(await rulesBy({ user_set: users })).toEqual([first, second, fourth])
    expect(await rulesBy({ user_set: set.id, permission: '', resource_set: '' })).toEqual([
      first,
      second,
      fourth,
    ])
    for (const user_set of [role, `__autogen_${role}`]) expect(await rulesBy({ user_set })).toEqual([third])
    expect(await rulesBy({ user_set: users, permission: 'read' })).toEqual([first, fourth])
    expect(await rulesBy({ permission: `${page}:read` })).toEqual([first, third])
    expect(await rulesBy({ permission: action.id })).toEqual([first, third])
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
    const all = await rulesBy({ per_page: '100' })
    expect(all).toEqual(expect.arrayContaining([first, second, third, fourth]))
  })
})

describe('with what is removed go', () => {
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

  test('a set: the rules on it', async () => {
    const { users, page, user, rules, byAny, byBelow } = await ruledWorld()
    expect(await verdict.allows(user, 'read', page)).toBe(true)
    expect((await verdict.delete(`${SETS}/${users}`)).status).toBe(204)
    expect(await rules()).toEqual([byAny, byBelow])
    expect(await verdict.allows(user, 'read', page)).toBe(false)
    // Another of that key has none of them.
    await verdict.conditionSet({ key: users, conditions: { 'user.name': { equals: user } } })
    expect(await rules()).toEqual([byAny, byBelow])
    expect(await verdict.allows(user, 'read', page)).toBe(false)
  })

  test('a tenant role: the rules on it', async () => {
    const { role, rules, byDocs, byPage } = await ruledWorld()
    expect((await verdict.delete(`${SCHEMA}/roles/${role}`)).status).toBe(204)
    expect(await rules()).toEqual([byDocs, byPage])
    expect(await rulesBy({ user_set: role })).toEqual([])
  })

  test.each([
    ['by itself', (page: string) => verdict.delete(`${RESOURCES}/${page}/actions/read`)],
    [
      'with what a resource is replaced by',
      (page: string) => verdict.put(`${RESOURCES}/${page}`, { name: 'X', actions: { write: {} } }),
    ],
    [
      'with a change of a resource',
      (page: string) => verdict.patch(`${RESOURCES}/${page}`, { actions: { write: {} } }),
    ],
  ])('an action, %s: the rules on it', async (_, remove) => {
    const { page, user, rules, byPage } = await ruledWorld()
    expect((await remove(page)).status).toBeLessThan(300)
    expect(await rules()).toEqual([byPage])
    await verdict.post(`${RESOURCES}/${page}/actions`, { key: 'read', name: 'Read' })
    expect(await rules()).toEqual([byPage])
    expect(await verdict.allows(user, 'read', page)).toBe(false)
    expect(await verdict.allows(user, 'write', page)).toBe(true)
  })

  test('a resource: its sets, with those below them, and all rules on any of them, on it and on its actions', async () => {
    const { users, docs, page, user, any, below, rules } = await ruledWorld()
    const { body: set } = await verdict.get<ConditionSet>(`${SETS}/${docs}`)
    expect((await verdict.delete(`${RESOURCES}/${page}`)).status).toBe(204)
    expect(await rules()).toEqual([])
    for (const key of [docs, below, set.id]) {
      expect(refusal(await verdict.get(`${SETS}/${key}`))).toEqual([404, 'NOT_FOUND'])
    }
    for (const key of [users, any]) expect((await verdict.get(`${SETS}/${key}`)).status).toBe(200)
    await verdict.resource({ key: page, actions: { read: {}, write: {} } })
    await verdict.conditionSet({ key: docs, type: 'resourceset', resource_id: page })
    expect(await rules()).toEqual([])
    expect(await verdict.allows(user, 'read', page)).toBe(false)
  })

  test('a declaration of an attribute: nothing', async () => {
    const { users, page, user, rules } = await ruledWorld()
    await verdict.post(`${SCHEMA}/users/attributes`, { key: 'name', type: 'string' })
    expect((await verdict.delete(`${SCHEMA}/users/attributes/name`)).status).toBe(204)
    expect(await rules()).toHaveLength(4)
    expect((await verdict.get(`${SETS}/${users}`)).status).toBe(200)
    expect(await verdict.allows(user, 'read', page)).toBe(true)
  })
})

describe('sets and rules are kept', () => {
  test('over a restart, with what was changed and removed', async () => {
    const first = await startedService({ storeUrl: `lmdb:${storeDirectory()}` })
    await first.resource({ key: 'page', actions: { read: {}, write: {} } })
    await first.post(`${SCHEMA}/roles`, { key: 'reader', name: 'R' })
    await first.post(`${FACTS}/users`, { key: 'ann', attributes: { level: 5 } })
    const sets = [
      { key: 'low', name: 'Low', conditions: { 'user.level': { 'less-than': 3 } } },
      { key: 'any', name: 'Any' },
      { key: 'pages', name: 'Pages', type: 'resourceset', resource_id: 'page' },
      { key: 'below', name: 'Below', parent_id: 'low' },
    ]
    for (const body of sets) expect((await first.post(SETS, body)).status).toBe(200)
    const rule = (user_set: string, action: string, resource_set = 'pages') => {
      return { user_set, permission: `page:${action}`, resource_set }
    }
    for (const body of [rule('below', 'read'), rule('any', 'write'), rule('reader', 'read', 'page')]) {
      expect((await first.post(RULES, body)).status).toBe(200)
    }
    await first.patch(`${SETS}/low`, { conditions: { 'user.level': { 'greater-than': 3 } } })
    await first.delete(RULES, rule('any', 'write'))
    const shown = async (client: Client) => [
      (await client.get(SETS)).body,
      (await client.get(RULES)).body,
      await client.allows('ann', 'read', 'page'),
      await client.allows('ann', 'write', 'page'),
    ]
    const before = await shown(first)
    expect(before.slice(2)).toEqual([true, false])
    const second = await first.restart()
    expect(await shown(second)).toEqual(before)
    // The set above still counts, and so does who is in it.
    await second.patch(`${FACTS}/users/ann`, { attributes: { level: 1 } })
    expect(await second.allows('ann', 'read', 'page')).toBe(false)
  })

  test('with an entry in the audit log for each change, and none for what changed nothing', async () => {
    const { users, docs, page } = await newWorld()
    const body = { user_set: users, permission: `${page}:read`, resource_set: docs }
    await newRule(body)
    await verdict.post(RULES, body)
    await verdict.delete(RULES, body)
    const answer = await verdict.get<Envelope<{ operation: string; input: unknown }>>(
      '/v2/audit-log/default/default?per_page=2',
    )
    expect(answer.body.data.map(({ operation, input }) => [operation, input])).toEqual([
      ['deleteSetRule', { body }],
      ['createSetRule', { body }],
    ])
  })
})
