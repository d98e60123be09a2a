/**
 * Tests of model files that cannot pass by a slip: who or what is unknown is denied, so a mistyped name would make a denial or an empty
 * list true.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { EXIT } from '../../src/cli/exit-codes.ts'
import { verdictCommand } from './command-line.ts'

const directory = mkdtempSync(join(tmpdir(), 'verdict-slips-'))
const file = join(directory, 'model.yaml')

afterAll(() => rmSync(directory, { recursive: true }))

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
  writeFileSync(file, `${MODEL}    ${expectation}\n`)
  const { code, stdout, stderr } = await verdictCommand(['test', file])
  return { code, stdout, message: stderr.replace(`verdict: ${file}:`, '').trimEnd() }
}

const UNKNOWN: readonly [expectation: string, message: string][] = [
  [
    "deny: [{ user: anne, action: write, resource: 'document:plan' }]",
    '14:20: tests.0.deny.0.user: there is no user "anne"; did you mean "anna"?',
  ],
  [
    "deny: [{ user: anna, action: wirte, resource: 'document:plan' }]",
    '14:34: tests.0.deny.0.action: there is no action "wirte" of document; did you mean "write"?',
  ],
  [
    "deny: [{ user: anna, action: write, resource: 'docment:plan' }]",
    '14:51: tests.0.deny.0.resource: there is no resource "docment"; did you mean "document"?',
  ],
  [
    "deny: [{ user: anna, action: write, resource: 'document:plam' }]",
    '14:51: tests.0.deny.0.resource: there is no instance "document:plam"; did you mean "document:plan"?',
  ],
  [
    "deny: [{ user: anna, action: write, resource: 'document:plan', tenant: acem }]",
    '14:76: tests.0.deny.0.tenant: there is no tenant "acem"; did you mean "acme"?',
  ],
  [
    "allow: [{ user: bort, action: write, resource: 'document:plan' }]",
    '14:21: tests.0.allow.0.user: there is no user "bort"; did you mean "bert"?',
  ],
  [
    "users: [{ action: write, resource: 'document:plan', are: [bort] }]",
    '14:63: tests.0.users.0.are.0: there is no user "bort"; did you mean "bert"?',
  ],
  [
    'resources: [{ user: anna, action: write, type: docment, are: [] }]',
    '14:52: tests.0.resources.0.type: there is no resource "docment"; did you mean "document"?',
  ],
  [
    'resources: [{ user: bert, action: write, type: document, are: [plam] }]',
    '14:68: tests.0.resources.0.are.0: there is no instance "plam"; did you mean "plan"?',
  ],
  [
    "actions: [{ user: bert, resource: 'document:plan', are: [wirte] }]",
    '14:62: tests.0.actions.0.are.0: there is no action "wirte" of document; did you mean "write"?',
  ],
]

describe('a case that names what is unknown', () => {
  test.each(UNKNOWN)('is an error with its place: %s', async (expectation, message) => {
    expect(await tried(expectation)).toEqual({ code: EXIT.usage, stdout: '', message })
  })

  test.each(UNKNOWN.filter(([expectation]) => !/allow|are: \[\w/.test(expectation)))(
    'is tried where it says unknown: true: %s',
    async expectation => {
      const { code, stdout } = await tried(expectation.replace(' }]', ', unknown: true }]'))
      expect([code, JSON.parse(stdout)[0].tests[0].outcomes.length]).toEqual([EXIT.yes, 1])
    },
  )

  test('is no slip where any instance will do: of a type of which none is known', async () => {
    const allowed = "[{ user: anna, action: read, resource: 'report:any' }]"
    expect((await tried(`allow: ${allowed}`)).code).toBe(EXIT.yes)
    expect((await tried(`deny: ${allowed.replace('anna', 'bert')}`)).code).toBe(EXIT.usage)
  })
})

describe('a test that asks nothing', () => {
  test.each([
    [
      'allow: []',
      '13:5: tests.0: expects nothing: say what follows in allow, deny, resources, users, actions',
    ],
    [
      "deny: [{ user: [], action: write, resource: 'document:plan' }]",
      '14:20: tests.0.deny.0.user: is empty: nothing would be asked',
    ],
    [
      'deny: [{ user: anna, action: write, resource: [] }]',
      '14:51: tests.0.deny.0.resource: is empty: nothing would be asked',
    ],
    [
      "deny: [{ user: anna, action: [], resource: 'document:plan' }]",
      '14:34: tests.0.deny.0.action: is empty: nothing would be asked',
    ],
  ])('is an error: %s', async (expectation, message) => {
    expect(await tried(expectation)).toEqual({ code: EXIT.usage, stdout: '', message })
  })

  test('is missed in a file that has none', async () => {
    writeFileSync(file, MODEL.split('tests:')[0]!)
    const { code, stderr } = await verdictCommand(['test', file])
    expect([code, stderr]).toEqual([EXIT.yes, `${file}: has no tests\n`])
  })
})
