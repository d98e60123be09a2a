/** Validation of `verdict apply` before its first change: names, and the tests of the file. */
import { beforeEach, describe, expect, test } from 'vitest'
import { EXIT } from '../../src/cli/session/exit-codes.ts'
import { neighbourOf, sharedService, startedService } from '#testing/processes/running-service.ts'
import { commandFiles, commandsOf } from './command-line.ts'

const service = await sharedService()
const { written } = commandFiles()
let key: string
let environments = 0

beforeEach(async () => {
  key = await neighbourOf(service, `rehearsed-${(environments += 1)}`)
})

const run = (args: readonly string[]) => commandsOf(service)(args, { key })

function apply(text: string, ...more: string[]) {
  return run(['apply', written(text), '--yes', ...more])
}

async function content(): Promise<string> {
  return (await run(['export'])).stdout
}

const BASE = `
user_attributes: { level: { type: number } }
resources:
  folder: { actions: [read], roles: { reader: { permissions: [read] } } }
  page:
    actions: [read, write]
    attributes: { draft: { type: bool } }
    relations: { parent: folder }
    roles: { editor: { permissions: [read, write] }, reader: { permissions: [read] } }
    inherited_roles: { parent: [reader] }
roles: { chief: { permissions: ['page:write'] } }
condition_sets:
  seniors: { conditions: { user.level: { greater-than: 2 } } }
  finished: { type: resourceset, resource: page, conditions: { resource.draft: { equals: false } } }
rules: [{ user_set: seniors, permission: 'page:write', resource_set: finished }]
tenants: { acme: }
users: { ann: { attributes: { level: 3 } }, bea: }
groups: { staff: { members: [bea], roles: ['page:home#editor'] } }
instances: { 'page:plan': { attributes: { draft: false } }, 'page:far': { tenant: acme } }
relationship_tuples: [{ subject: 'folder:all', relation: parent, object: 'page:plan' }]
`

describe('a model file with references', () => {
  test('changes nothing if a reference is wrong, wherever it is', async () => {
    const before = await content()
    for (const [from, to, says] of [
      ['members: [bea]', 'members: [bae]', 'there is no user "bae"; did you mean "bea"?'],
      ['object: ', "object: 'page:far' }, { subject: 'folder:all', relation: parent, object: ", 'tenant'],
      ["['page:home#editor']", "['page:far#editor']", 'tenant'],
    ] as const) {
      const { code, stdout, stderr } = await apply(BASE.replace(from, to))
      expect([code, stdout, stderr]).toEqual([EXIT.usage, '', expect.stringContaining(says)])
      expect(stderr).toMatch(/model\.yaml:\d+:\d+: /)
      expect(await content()).toBe(before)
    }
    expect((await apply(BASE)).code).toBe(EXIT.yes)
  })

  test('can reference entities that only the environment contains, unless the command prunes them', async () => {
    await apply(BASE)
    const more = `
roles: { clerk: { permissions: ['page:read'] } }
rules: [{ user_set: clerk, permission: 'page:read', resource_set: finished }]
groups: { guests: { groups: [staff], roles: ['page:plan#reader'] } }
role_assignments: [{ user: ann, role: clerk }, { user: ann, role: reader, resource_instance: 'page:far', tenant: acme }]
relationship_tuples: [{ subject: 'folder:far', relation: parent, object: 'page:far', tenant: acme }]
tests:
  - name: known users have access
    allow: [{ user: ann, action: write, resource: 'page:plan' }]
    actions: [{ user: ann, resource: 'page:far', are: [read] }]
`
    const wrong = more.replace('user: ann, role: clerk', 'user: anne, role: clerk')
    expect(await apply(wrong)).toMatchObject({
      code: EXIT.usage,
      stderr: expect.stringContaining('there is no user "anne"; did you mean "ann"?'),
    })
    const pruned = await apply(more, '--prune')
    expect([pruned.code, pruned.stderr]).toEqual([
      EXIT.usage,
      expect.stringContaining('there is no resource "page"'),
    ])
    const withoutFacts = await apply(more, '--prune-facts')
    expect([withoutFacts.code, withoutFacts.stderr]).toEqual([
      EXIT.usage,
      expect.stringContaining('there is no user "ann"'),
    ])
    const { code, stderr } = await apply(more)
    expect([code, stderr]).toEqual([EXIT.yes, ''])
  })
})

describe('the tests of a model file', () => {
  const tests = (expected: string) =>
    `${BASE}tests:\n  - name: seniors write finished pages\n    ${expected}\n`

  test('run first, and a failure prevents all changes', async () => {
    const before = await content()
    const { code, stdout, stderr } = await apply(
      tests("deny: [{ user: ann, action: write, resource: 'page:plan' }]"),
    )
    const { applied, tests: outcomes } = JSON.parse(stdout)
    expect([code, applied, outcomes[0].outcomes[0].differences[0]]).toEqual([EXIT.no, false, 'was allowed'])
    expect(stderr).toContain('✗ seniors write finished pages')
    expect(await content()).toBe(before)
    expect((await apply(tests("allow: [{ user: ann, action: write, resource: 'page:plan' }]"))).code).toBe(
      EXIT.yes,
    )
  })

  test('run with the final model, including the parts of the environment that remain', async () => {
    await apply(BASE)
    const part = `
resources: { page: { actions: [read, write], roles: { editor: { permissions: [read, write] } } } }
users: { ann: }
instances: { 'page:plan': }
tests: [{ name: nobody writes, deny: [{ user: ann, action: write, resource: 'page:plan' }] }]
`
    // The existing rule allows ann to write.
    const { code, stderr } = await apply(part)
    expect([code, stderr]).toEqual([
      EXIT.no,
      expect.stringContaining('by rules: seniors on finished allows it'),
    ])
    expect(await apply(part, '--prune')).toMatchObject({ code: EXIT.yes, stderr: '' })
  })

  test('also run with --dry-run', async () => {
    const failing = tests("deny: [{ user: ann, action: write, resource: 'page:plan' }]")
    const { code, stdout } = await apply(failing, '--dry-run', '--output', 'table')
    expect([code, stdout]).toEqual([EXIT.no, 'Tests: 1 failed. Nothing was changed.\n'])
  })
})

test('the validation accepts every file that the service accepts, whatever the limits of the service are', async () => {
  const generous = await startedService({ attributesBytesMax: 262_144 })
  const large = `
users:
  big: { attributes: { text: ${'x'.repeat(100_000)} } }
`
  const { code, stderr } = await commandsOf(generous)(['apply', written(large), '--yes'])
  expect([code, stderr]).toEqual([EXIT.yes, ''])
})
