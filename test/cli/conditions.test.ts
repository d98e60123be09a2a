/** Checks with attributes, and explanations of rules, as displayed on a terminal. */
import { expect, test } from 'vitest'
import { FACTS, SCHEMA, sharedService } from '#testing/processes/running-service.ts'
import { commandsOf } from './command-line.ts'

const service = await sharedService()
await service.resource({ key: 'contract', actions: { read: {} } })
for (const set of [
  { key: 'sales', name: 'Sales', conditions: { 'user.department': { equals: 'sales' } } },
  {
    key: 'drafts',
    name: 'Drafts',
    type: 'resourceset',
    resource_id: 'contract',
    conditions: { 'resource.state': { equals: 'draft' }, 'context.office': { equals: true } },
  },
]) {
  expect((await service.post(`${SCHEMA}/condition_sets`, set)).status).toBe(200)
}
const rule = { user_set: 'sales', permission: 'contract:read', resource_set: 'drafts' }
expect((await service.post(`${FACTS}/set_rules`, rule)).status).toBe(200)
await service.users('carol')

const QUESTION = ['carol', 'read', 'contract:c1']
const SALES = `{"user":{"department":"sales"},"resource":{"state":"draft"}}`

const run = (args: readonly string[]) => commandsOf(service)([...args, '--output', 'table'])

test('verdict check sends attributes and context', async () => {
  const all = ['check', ...QUESTION, '--attributes', SALES, '--context', '{"office":true}']
  expect(await run(all)).toMatchObject({ code: 0, stdout: 'allow\n' })
  expect(await run(all.slice(0, -2))).toMatchObject({ code: 1, stdout: 'deny\n' })
  expect(await run(['check', ...QUESTION])).toMatchObject({ code: 1, stdout: 'deny\n' })
})

test('verdict list sends attributes and context', async () => {
  expect(
    (
      await service.post(`${FACTS}/resource_instances`, {
        key: 'c1',
        resource: 'contract',
        tenant: 'default',
      })
    ).status,
  ).toBe(200)
  await service.post(`${FACTS}/users`, { key: 'dana', attributes: { department: 'sales' } })
  await service.patch(`${FACTS}/resource_instances/contract:c1`, { attributes: { state: 'draft' } })
  const { user, resource } = JSON.parse(SALES) as Record<'user' | 'resource', object>
  const lists = [
    [{ user }, 'resources', 'carol', 'read', 'contract', 'RESOURCE', 'c1'],
    [{ resource }, 'users', 'read', 'contract:c1', 'USER', 'dana'],
    [{ user, resource }, 'actions', 'carol', 'contract:c1', 'ACTION', 'read'],
  ] as const
  for (const [attributes, ...words] of lists) {
    const found = words.slice(-2)
    const list = ['list', ...words.slice(0, -2), '--attributes', JSON.stringify(attributes)]
    const { stdout } = await run([...list, '--context', '{"office":true}'])
    expect(stdout.split(/\s+/)).toEqual(expect.arrayContaining([...found]))
    expect((await run(list)).stdout).not.toContain(found[1]!)
  }
})

test.each([
  ['user', 'users', 'read', 'contract:c1'],
  ['resource', 'resources', 'carol', 'read', 'contract'],
])('verdict list rejects attributes of the entities that it searches for: %s', async (side, ...words) => {
  const { code, stderr } = await run(['list', ...words, '--attributes', SALES])
  expect([code, stderr]).toEqual([2, expect.stringContaining(`leave "${side}" out`)])
})

test('verdict explain names the rule that allows', async () => {
  const all = ['explain', ...QUESTION, '--attributes', SALES, '--context', '{"office":true}']
  expect(await run(all)).toMatchObject({ code: 0, stdout: 'allow\n  sales on drafts allows it\n' })
})

test.each([
  ['--attributes', '{"user":1}', '--attributes: expected {"user": {…}, "resource": {…}}, got "user": 1'],
  ['--attributes', '{"users":{}}', 'got "users": {}'],
  ['--attributes', '[]', '--attributes: expected a JSON object, got []'],
  ['--context', 'office', '--context: '],
])('%s %s is rejected with a message about the expected value', async (option, text, message) => {
  expect(await run(['check', ...QUESTION, option, text])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(message),
  })
})
