/** Rules on condition sets created and removed many at a time: all or nothing, and rules that exist or do not are skipped. */
import { expect, test } from 'vitest'
import { BULK_ELEMENTS_MAX } from '#model/limits.ts'
import type { SetRule } from '#model/wire/set-rule.ts'
import {
  type Client,
  FACTS,
  fresh,
  type Problem,
  RESOURCES,
  sharedService,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'

const verdict = await sharedService()
const RULES = `${FACTS}/set_rules`
const BULK = `${RULES}/bulk`

interface Rule {
  readonly user_set: string
  readonly permission: string
  readonly resource_set: string
}

/** A page with two actions, a set of the members of a tenant and a set of one user. */
async function newWorld() {
  const [page, everyone, one, user] = fresh('page', 'everyone', 'one', 'user')
  await verdict.resource({ key: page, actions: { read: {}, write: {} } })
  await verdict.conditionSet({ key: everyone, conditions: { 'user.tenants': { array_contains: 'acme' } } })
  await verdict.conditionSet({ key: one, conditions: { 'user.key': { equals: user } } })
  const rule = (set: string, action: string): Rule => ({
    user_set: set,
    permission: `${page}:${action}`,
    resource_set: page,
  })
  return { page, everyone, one, user, rule }
}

async function rulesOf(client: Client, set: string): Promise<string[]> {
  const { body } = await client.get<SetRule[]>(`${RULES}?user_set=${set}`)
  return body.map(({ permission }) => permission).toSorted()
}

test('creates what is missing, decides by it from the answer on, and removes what exists', async () => {
  const { page, everyone, one, user, rule } = await newWorld()
  expect((await verdict.post(RULES, rule(everyone, 'read'))).status).toBe(200)
  const operations = [rule(everyone, 'read'), rule(one, 'read'), rule(one, 'write'), rule(one, 'write')]
  const made = await verdict.post(BULK, { operations })
  expect([made.status, made.body]).toEqual([200, { rules_created: 2, in_every_tenant: [1, 2] }])
  expect(made.headers.get('warning')).toMatch(/neither set asks about tenants/)
  expect(await verdict.allows(user, 'write', page)).toBe(true)
  const again = await verdict.post(BULK, { operations })
  expect([again.body, again.headers.get('warning')]).toEqual([
    { rules_created: 0, in_every_tenant: [] },
    null,
  ])
  const removed = await verdict.delete(BULK, { idents: operations.slice(1) })
  expect([removed.status, removed.body]).toEqual([200, { rules_removed: 2 }])
  expect(await verdict.allows(user, 'write', page)).toBe(false)
  expect(await rulesOf(verdict, everyone)).toEqual([`${page}:read`])
  expect((await verdict.delete(BULK, { idents: operations })).body).toEqual({ rules_removed: 1 })
})

test('takes permissions by id', async () => {
  const { page, one, rule } = await newWorld()
  const action = (await verdict.get<{ readonly id: string }>(`${RESOURCES}/${page}/actions/read`)).body
  const byId = { ...rule(one, 'read'), permission: action.id.toUpperCase() }
  expect((await verdict.post(BULK, { operations: [byId, rule(one, 'read')] })).body).toMatchObject({
    rules_created: 1,
  })
  expect((await verdict.delete(BULK, { idents: [byId] })).body).toEqual({ rules_removed: 1 })
})

test.each([
  ['an unknown set', { user_set: 'nowhere' }, 404, 'NOT_FOUND'],
  ['an unknown action', { permission: 'page:nothing' }, 404, 'NOT_FOUND'],
  ['an unknown id of an action', { permission: '00000000-0000-4000-8000-000000000000' }, 404, 'NOT_FOUND'],
  ['a permission that is none', { permission: 'read' }, 422, 'INVALID_PERMISSION_FORMAT'],
])('changes nothing if one element names %s', async (_, wrong, status, code) => {
  const { page, one, rule } = await newWorld()
  await verdict.post(RULES, rule(one, 'write'))
  const bodies = [rule(one, 'read'), rule(one, 'write'), { ...rule(one, 'read'), ...wrong }]
  for (const refused of [
    await verdict.post<Problem>(BULK, { operations: bodies }),
    await verdict.delete<Problem>(BULK, { idents: bodies.slice(1) }),
  ]) {
    expect([refused.status, refused.body.error_code]).toEqual([status, code])
    expect(refused.body.message).toMatch(/(operations|idents)\[\d\]: /)
  }
  expect(await rulesOf(verdict, one)).toEqual([`${page}:write`])
})

test('takes 10,000 elements, and not one more', async () => {
  // By itself, because so many rules would be in the way of other tests.
  const client = await startedService({ dataDirectory: storeDirectory() })
  const actions = Array.from({ length: 1_000 }, (_, n) => `a-${n}`)
  const sets = Array.from({ length: BULK_ELEMENTS_MAX / actions.length }, (_, n) => `s-${n}`)
  await client.resource({ key: 'page', actions: Object.fromEntries(actions.map(key => [key, {}])) })
  for (const key of sets) await client.conditionSet({ key, conditions: {} })
  const rules = sets.flatMap(user_set =>
    actions.map(action => ({ user_set, permission: `page:${action}`, resource_set: 'page' })),
  )
  const beyond = await client.post<Problem>(BULK, { operations: [...rules, rules[0]] })
  expect([beyond.status, await rulesOf(client, 's-0')]).toEqual([422, []])
  const made = await client.post(BULK, { operations: rules })
  expect([made.status, made.body]).toMatchObject([200, { rules_created: BULK_ELEMENTS_MAX }])
  expect(await client.allows('anybody', 'a-999', 'page')).toBe(true)
  expect((await client.delete<Problem>(BULK, { idents: [...rules, rules[0]] })).status).toBe(422)
  expect((await client.delete(BULK, { idents: rules })).body).toEqual({ rules_removed: BULK_ELEMENTS_MAX })
  expect(await client.allows('anybody', 'a-999', 'page')).toBe(false)
})
