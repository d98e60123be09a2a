/** Why rules allow or do not, over HTTP (conditions, section 9): beside each explained decision, and in the debug of every one. */
import { describe, expect, test } from 'vitest'
import type { AllowedResult, ExplainedResult } from '#model/wire/decision.ts'
import {
  type Client,
  FACTS,
  fresh,
  SCHEMA,
  sharedService,
  startedService,
} from '#testing/processes/running-service.ts'

const verdict = await sharedService()

interface World {
  readonly page: string
  readonly sales: string
  readonly drafts: string
}

/** Sales may read drafts; nobody has a role. */
async function newWorld(client: Client = verdict): Promise<World> {
  const [page, sales, drafts] = fresh('page', 'sales', 'drafts')
  await client.resource({ key: page, actions: { read: {}, write: {} } })
  await client.post(`${SCHEMA}/condition_sets`, {
    key: sales,
    name: sales,
    conditions: { allOf: [{ 'user.active': { equals: true } }, { 'user.department': { equals: 'sales' } }] },
  })
  await client.post(`${SCHEMA}/condition_sets`, {
    key: drafts,
    name: drafts,
    type: 'resourceset',
    resource_id: page,
    conditions: { 'resource.state': { equals: 'draft' } },
  })
  const rule = { user_set: sales, permission: `${page}:read`, resource_set: drafts }
  expect((await client.post(`${FACTS}/set_rules`, rule)).status).toBe(200)
  return { page, sales, drafts }
}

function question({ page }: World, user: object, resource: object, action = 'read'): object {
  return {
    user: { key: 'somebody', attributes: user },
    action,
    resource: { type: page, attributes: resource },
  }
}

async function explained(body: object, query = ''): Promise<ExplainedResult> {
  const answer = await verdict.post<ExplainedResult>(`/allowed/explain${query}`, body)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}

describe('an explanation', () => {
  test('names for each rule of the action the test of each side that decided, and what it found', async () => {
    const world = await newWorld()
    const { sales, drafts } = world
    const answer = await explained(question(world, { active: true }, { state: 'final' }))
    expect(answer).toMatchObject({ allow: false, result: false })
    expect(answer.rules).toEqual([
      {
        user_set: sales,
        resource_set: drafts,
        outcome: 'no',
        user: {
          value: 'unknown',
          leaf: {
            path: 'user.department',
            operator: 'equals',
            operand: 'sales',
            found: 'missing',
            missing: true,
            value: 'unknown',
          },
        },
        resource: {
          value: 'false',
          leaf: {
            path: 'resource.state',
            operator: 'equals',
            operand: 'draft',
            found: 'final',
            value: 'false',
          },
        },
      },
    ])
    expect(answer).not.toHaveProperty('more')
  })

  test('tells an attribute that says "missing" from one that is missing', async () => {
    const world = await newWorld()
    const answer = await explained(question(world, { active: true, department: 'missing' }, {}))
    expect(answer.rules![0]!.user.leaf).toMatchObject({ found: 'missing', value: 'false' })
    expect(answer.rules![0]!.user.leaf).not.toHaveProperty('missing')
  })

  test('has a rule that allows in it, and agrees with the decision', async () => {
    const world = await newWorld()
    const body = question(world, { active: true, department: 'sales' }, { state: 'draft' })
    const answer = await explained(body)
    expect(answer).toMatchObject({ allow: true, result: true, rules: [{ outcome: 'yes' }] })
    expect(answer.rules![0]).toMatchObject({ user: { value: 'true' }, resource: { value: 'true' } })
    expect((await verdict.post<AllowedResult>('/allowed', body)).body.allow).toBe(true)
    expect(answer.debug).toMatchObject({
      rbac: { allow: false },
      rebac: { allow: false, allowing_roles: [] },
      abac: { allow: true, code: 'allow' },
    })
  })

  test('shows the whole condition of each side with ?full=true, with the value of every part', async () => {
    const world = await newWorld()
    const answer = await explained(question(world, { department: 'legal' }, {}), '?full=true')
    expect(answer.rules![0]!.user.tree).toEqual({
      connective: 'allOf',
      value: 'false',
      items: [
        expect.objectContaining({ path: 'user.active', missing: true, value: 'unknown' }),
        expect.objectContaining({ path: 'user.department', found: 'legal', value: 'false' }),
      ],
    })
  })

  test('shows the conditions of the sets above, too', async () => {
    const world = await newWorld()
    const [child] = fresh('child')
    await verdict.post(`${SCHEMA}/condition_sets`, {
      key: child,
      name: child,
      parent_id: world.sales,
      conditions: { 'user.level': { 'greater-than': 3 } },
    })
    const rule = { user_set: child, permission: `${world.page}:write`, resource_set: world.page }
    expect((await verdict.post(`${FACTS}/set_rules`, rule)).status).toBe(200)
    const body = question(world, { level: 5, active: false, department: 'sales' }, {}, 'write')
    const { rules } = await explained(body, '?full=true')
    expect(rules).toHaveLength(1)
    expect(rules![0]!.user.leaf).toMatchObject({ path: 'user.active', found: false })
    expect(rules![0]!.user.tree).toMatchObject({ connective: 'allOf', value: 'false' })
    expect(rules![0]!.resource).toEqual({ value: 'true' })
  })

  test('has no rules where none is on the action', async () => {
    const world = await newWorld()
    expect(await explained(question(world, {}, {}, 'write'))).not.toHaveProperty('rules')
  })

  test('shows a hundred rules, those that allow among them, and says that there are more', async () => {
    const world = await newWorld()
    const keys = Array.from({ length: 101 }, (_, index) => `${world.sales}-${index}`)
    for (const key of keys) {
      const conditions = { 'user.number': { equals: key } }
      await verdict.post(`${SCHEMA}/condition_sets`, { key, name: key, conditions })
      const rule = { user_set: key, permission: `${world.page}:write`, resource_set: world.page }
      expect((await verdict.post(`${FACTS}/set_rules`, rule)).status).toBe(200)
    }
    const answer = await explained(question(world, { number: keys.at(-1) }, {}, 'write'))
    expect(answer).toMatchObject({ allow: true, more: true })
    expect(answer.rules).toHaveLength(100)
    expect(answer.rules!.filter(({ outcome }) => outcome === 'yes')).toMatchObject([
      { user_set: keys.at(-1) },
    ])
  })

  test('of attributes beyond their ceiling is refused like the decision', async () => {
    const world = await newWorld()
    const body = question(world, { text: 'x'.repeat(65_536) }, {})
    expect((await verdict.post('/allowed/explain', body)).status).toBe(400)
    expect((await verdict.post('/allowed', body)).status).toBe(400)
  })
})

describe('the debug of a decision', () => {
  test('tells which sets match and which rules allow, only where there are rules', async () => {
    const client = await startedService({ hasDebug: true })
    const ask = async (body: object): Promise<AllowedResult['debug']> =>
      (await client.post<AllowedResult>('/allowed', body)).body.debug
    await client.resource({ key: 'before', actions: { read: {} } })
    const without = await ask({ user: { key: 'u' }, action: 'read', resource: { type: 'before' } })
    expect(without).not.toHaveProperty('abac')

    const world = await newWorld(client)
    const { sales, drafts, page } = world
    expect((await ask(question(world, {}, { state: 'draft' })))?.abac).toMatchObject({
      allow: false,
      code: 'no_matching_usersets',
      allowing_rules: [],
      matching_resourcesets: [drafts],
    })
    expect(
      (await ask(question(world, { active: true, department: 'sales' }, { state: 'final' })))?.abac,
    ).toMatchObject({ allow: false, code: 'no_matching_resourcesets', matching_usersets: [sales] })
    expect((await ask(question(world, {}, {}, 'write')))?.abac).toMatchObject({ code: 'no_matching_rules' })
    const allowed = await ask(question(world, { active: true, department: 'sales' }, { state: 'draft' }))
    expect(allowed).toMatchObject({
      rbac: { allow: false },
      rebac: { allow: false },
      abac: {
        allow: true,
        code: 'allow',
        allowing_rules: [{ userset: sales, resourceset: drafts }],
        matching_usersets: [sales],
        matching_resourcesets: [drafts],
      },
    })

    await client.tenantRole('clerk', [])
    const rule = { user_set: 'clerk', permission: `${page}:write`, resource_set: page }
    expect((await client.post(`${FACTS}/set_rules`, rule)).status).toBe(200)
    await client.users('cleo')
    await client.assign('cleo', 'clerk', 'default')
    const byRole = await ask({ user: { key: 'cleo' }, action: 'write', resource: { type: page } })
    expect(byRole?.abac?.allowing_rules).toEqual([{ role: 'clerk', resource_type: page }])
  })
})
