/** `verdict plan` against a running service: trees, SQL, and comparisons of rows with checks. */
import { expect, test } from 'vitest'
import { FACTS, SCHEMA, sharedService } from '#testing/processes/running-service.ts'
import { commandFiles, commandsOf } from './command-line.ts'

const service = await sharedService()
await service.createDocumentModel()
for (const user of ['ann', 'bob']) await service.user(user)
await service.assign('ann', 'viewer', 'document:roadmap')
const owners = {
  key: 'own',
  name: 'Own',
  type: 'resourceset',
  resource_id: 'document',
  conditions: { 'resource.owner': { equals: { ref: 'user.key' } } },
}
const everyone = { key: 'everyone', name: 'Everyone', conditions: {} }
for (const set of [owners, everyone]) {
  expect((await service.post(`${SCHEMA}/condition_sets`, set)).status).toBe(200)
}
const rule = { user_set: 'everyone', permission: 'document:read', resource_set: 'own' }
expect((await service.post(`${FACTS}/set_rules`, rule)).status).toBe(200)

const { written } = commandFiles()
const run = commandsOf(service)
const description = {
  type: 'document',
  key: { column: 'id' },
  attributes: { owner: { column: 'owner_id', type: 'string' } },
}
const columns = written(JSON.stringify(description), 'columns.json')
const PLAN = ['plan', 'ann', 'read', 'document', '--tenant', 'default', '--columns', columns]

test('verdict plan prints the kind and the tree, and its exit code is 1 if no row is allowed', async () => {
  const { code, stdout } = await run(PLAN)
  const node = (field: string, value: string) => ({ type: 'field', operator: 'eq', field, value })
  expect([code, JSON.parse(stdout)]).toEqual([
    0,
    {
      kind: 'conditional',
      filter: {
        type: 'compound',
        operator: 'or',
        value: [node('attributes.owner', 'ann'), node('key', 'roadmap')],
      },
      ids: 0,
      revision: expect.any(String),
      as_of: expect.any(String),
      expires_at: null,
    },
  ])
  expect(await run([...PLAN, '--output', 'table'])).toMatchObject({
    stdout: 'conditional\n  or\n    attributes.owner eq "ann"\n    key eq "roadmap"\n',
  })
  const { code: denied, stdout: kind } = await run([
    'plan',
    'nobody',
    'write',
    'document',
    '--output',
    'table',
  ])
  expect([denied, kind]).toEqual([1, 'always_denied\n'])
})

test('verdict plan --sql prints a condition of the database with its values', async () => {
  const { code, stdout } = await run([...PLAN, '--sql', 'postgresql', '--alias', 'd'])
  expect([code, JSON.parse(stdout).sql]).toEqual([
    0,
    { text: '("d"."owner_id" = $1::text OR "d"."id" = $2::text)', values: ['ann', 'roadmap'] },
  ])
  expect(await run([...PLAN, '--sql', 'sqlite', '--output', 'table'])).toMatchObject({
    stdout: '(`owner_id` COLLATE BINARY = ? OR `id` COLLATE BINARY = ?)\n  "ann"\n  "roadmap"\n',
  })
})

test('verdict plan --rows finds the rows whose columns differ from the checks', async () => {
  const rows = [
    { id: 'roadmap', owner_id: null },
    { id: 'memo', owner_id: 'ann' },
    { id: 'memo2', owner_id: 'bob' },
  ]
  const lines = (all: readonly object[]) => all.map(row => JSON.stringify(row)).join('\n')
  const good = written(lines(rows), 'rows.jsonl')
  const { code, stdout } = await run([...PLAN, '--rows', good])
  expect([code, JSON.parse(stdout)]).toEqual([0, { rows: 3, differences: [] }])
  // The instance is stored in another tenant than the rows are in.
  await service.post(`${FACTS}/tenants`, { key: 'acme', name: 'Acme' })
  const memo = { key: 'memo', resource: 'document', tenant: 'acme' }
  expect((await service.post(`${FACTS}/resource_instances`, memo)).status).toBe(200)
  const agreeing = written(JSON.stringify({ ...description, tenantsAgree: true }), 'agreeing.json')
  const wrong = await run([...PLAN.slice(0, -1), agreeing, '--rows', good])
  expect([wrong.code, JSON.parse(wrong.stdout)]).toEqual([
    1,
    { rows: 3, differences: [{ row: rows[1], is_selected: true, is_allowed: false }] },
  ])
  expect(await run([...PLAN.slice(0, -1), agreeing, '--rows', good, '--output', 'table'])).toMatchObject({
    code: 1,
    stdout: [
      'FILTER   CHECK  ROW',
      'selects  deny   {"id":"memo","owner_id":"ann"}',
      '',
      '3 rows compared, 1 differ',
      '',
    ].join('\n'),
  })
})

test.each<[args: readonly string[], code: number, message: string]>([
  [['--sql', 'oracle'], 2, 'expected one of "postgresql", "mysql", "sqlite"'],
  [['--sql', 'mysql', '--alias', 'verdict_x'], 2, 'does not begin with verdict_'],
  [['--columns', written('{}', 'empty.json')], 2, 'empty.json: expected the description of a table'],
  [['--columns', written('[', 'broken.json')], 2, 'broken.json: '],
  [
    ['--columns', written('{"type":"folder","key":{"column":"id"}}', 'folder.json')],
    2,
    'folder.json: describes rows of the type "folder", not of document',
  ],
  [
    [
      '--columns',
      written('{"key":{"column":"id"},"attributes":{"a":{"column":"a","type":"json"}}}', 'j.json'),
    ],
    2,
    'j.json: attributes.a: expected type to be one of',
  ],
  [
    ['--columns', written('{"key":{"column":"id"},"relations":{"r":{"column":"r"}}}', 'r.json')],
    3,
    'POST /allowed/plan: ',
  ],
  [
    ['--columns', columns, '--rows', written('{"id":"a"}', 'short.jsonl')],
    2,
    'short.jsonl:1: attributes.owner',
  ],
  [
    ['--columns', columns, '--rows', written('\n7', 'number.jsonl')],
    2,
    'number.jsonl:2: expected a JSON object',
  ],
])('verdict plan with %j exits with %i', async (args, code, message) => {
  const result = await run(['plan', 'ann', 'read', 'document', ...args])
  expect(result).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(message) })
})
