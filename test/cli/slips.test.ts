/** A mistyped name in a test is an error. Otherwise, an expected deny or empty list would always pass. */
import { describe, expect, test } from 'vitest'
import { EXIT } from '../../src/cli/session/exit-codes.ts'
import { commandFiles, misnamed, verdictCommand } from './command-line.ts'

const { written } = commandFiles()

const MODEL = `
resources:
  document:
    actions: [read, write]
    roles: { editor: { permissions: [write] } }
  report: { actions: [read] }
roles: { auditor: { permissions: ['report:read'] } }
tenants: { acme: }
users: { anna: , bert: }
groups: { staff: { members: [bert], roles: ['document:plan#editor'] } }
role_assignments: [{ user: anna, role: auditor }]
tests:
  - name: as expected
`

async function tried(expectation: string) {
  const file = written(`${MODEL}    ${expectation}\n`)
  const { code, stdout, stderr } = await verdictCommand(['test', file])
  return { code, stdout, message: stderr.replace(`verdict: ${file}:`, '').trimEnd() }
}

/** Expectations with one name in the form ‹right|wrong›, and the kind of the unknown name. */
const UNKNOWN = (
  [
    ["deny: [{ user: ‹anna|anne›, action: write, resource: 'document:plan' }]", 'user'],
    ["deny: [{ user: anna, action: ‹write|wirte›, resource: 'document:plan' }]", 'action of document'],
    ["deny: [{ user: anna, action: write, resource: '‹document|docment›:plan' }]", 'resource'],
    ["deny: [{ user: anna, action: write, resource: '‹document:plan|document:plam›' }]", 'instance'],
    ["deny: [{ user: anna, action: write, resource: 'document:plan', tenant: ‹acme|acem› }]", 'tenant'],
    ["allow: [{ user: ‹bert|bort›, action: write, resource: 'document:plan' }]", 'user'],
    ["users: [{ action: write, resource: 'document:plan', are: [‹bert|bort›] }]", 'user'],
    ['resources: [{ user: anna, action: write, type: ‹document|docment›, are: [] }]', 'resource'],
    ['resources: [{ user: bert, action: write, type: document, are: [‹plan|plam›] }]', 'instance'],
    ["actions: [{ user: bert, resource: 'document:plan', are: [‹write|wirte›] }]", 'action of document'],
  ] as const
).map(([marked, what]) => {
  const { before, wrong, says } = misnamed(marked, what)
  const [, list, member] = /^(\w+): .*?(\w+): \[?'?$/.exec(before)!
  const column = `    ${before}`.replace(/'$/, '').length + 1
  return [wrong, `14:${column}: tests.0.${list}.0.${member}${member === 'are' ? '.0' : ''}: ${says}`] as const
})

describe('an expectation with an unknown name', () => {
  test.each(UNKNOWN)('is an error with its location: %s', async (expectation, message) => {
    expect(await tried(expectation)).toEqual({ code: EXIT.usage, stdout: '', message })
  })

  test.each(UNKNOWN.filter(([expectation]) => !/allow|are: \[\w/.test(expectation)))(
    'is evaluated if the expectation sets `unknown: true`: %s',
    async expectation => {
      const { code, stdout } = await tried(expectation.replace(' }]', ', unknown: true }]'))
      expect([code, JSON.parse(stdout)[0].tests[0].outcomes.length]).toEqual([EXIT.yes, 1])
    },
  )

  test('is valid for any instance of a type without known instances', async () => {
    const allowed = "[{ user: anna, action: read, resource: 'report:any' }]"
    expect((await tried(`allow: ${allowed}`)).code).toBe(EXIT.yes)
    expect((await tried(`deny: ${allowed.replace('anna', 'bert')}`)).code).toBe(EXIT.usage)
  })
})

describe('a test without expectations', () => {
  test.each([
    ['allow: []', '13:5: tests.0: has no expectations: add one of allow, deny, resources, users, actions'],
    [
      "deny: [{ user: [], action: write, resource: 'document:plan' }]",
      '14:20: tests.0.deny.0.user: is empty: name at least one',
    ],
    [
      'deny: [{ user: anna, action: write, resource: [] }]',
      '14:51: tests.0.deny.0.resource: is empty: name at least one',
    ],
    [
      "deny: [{ user: anna, action: [], resource: 'document:plan' }]",
      '14:34: tests.0.deny.0.action: is empty: name at least one',
    ],
  ])('is an error: %s', async (expectation, message) => {
    expect(await tried(expectation)).toEqual({ code: EXIT.usage, stdout: '', message })
  })

  test('is only reported, with exit code 0, if the whole file has no tests', async () => {
    const file = written(MODEL.split('tests:')[0]!)
    const { code, stderr } = await verdictCommand(['test', file])
    expect([code, stderr]).toEqual([EXIT.yes, `${file}: the file has no tests\n`])
  })
})
