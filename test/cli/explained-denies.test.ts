/** Explanations of denied checks: near misses and unknown names. */
import { beforeAll, describe, expect, test } from 'vitest'
import { sharedService } from '#testing/processes/running-service.ts'
import { EXIT } from '../../src/cli/session/exit-codes.ts'
import { commandFiles, commandsOf } from './command-line.ts'

const run = commandsOf(await sharedService())
const { written } = commandFiles()

const MODEL = `
resources:
  folder:
    actions: [read, write]
    relations: { parent: folder }
    roles:
      owner: { extends: [editor] }
      editor: { permissions: [write], extends: [viewer] }
      viewer: { permissions: [read] }
      guest: {}
    inherited_roles: { parent: [viewer] }
  document:
    actions: [read, write, list]
    relations: { parent: folder }
    roles:
      guest: {}
      viewer: { permissions: [read] }
      lister:
        permissions: [list]
        granted_to:
          when: { no_direct_roles_on_object: true }
          users_with_role: [{ role: viewer, on_resource: folder, linked_by_relation: parent }]
    inherited_roles: { parent: [viewer] }
tenants: { acme: }
users: { anna: , bert: , carl: , dora: }
instances: { 'document:alone': }
role_assignments:
  - { user: anna, role: editor, resource_instance: 'folder:specs' }
  - { user: anna, role: owner, resource_instance: 'folder:specs' }
  - { user: anna, role: guest, resource_instance: 'folder:root' }
  - { user: bert, role: viewer, resource_instance: 'folder:specs' }
  - { user: bert, role: guest, resource_instance: 'document:plan' }
  - { user: carl, role: editor, resource_instance: 'folder:specs' }
relationship_tuples:
  - { subject: 'folder:root', relation: parent, object: 'folder:specs' }
  - { subject: 'folder:specs', relation: parent, object: 'document:plan' }
`

beforeAll(async () => {
  expect((await run(['apply', written(MODEL), '--yes'])).code).toBe(EXIT.yes)
})

async function explained(...question: readonly string[]) {
  const { code, stdout, stderr } = await run(['explain', ...question, '--output', 'table'])
  expect(code).toBe(EXIT.no)
  const lines = stdout.trimEnd().split('\n')
  const nearly = lines.indexOf('  near misses:')
  return { nearly: nearly < 0 ? [] : lines.slice(nearly + 1), hints: stderr.split('\n').slice(0, -1) }
}

describe('the explanation of a deny', () => {
  test('names the derivation that would allow the check, and the roles that the user holds instead', async () => {
    expect(await explained('carl', 'read', 'document:plan')).toEqual({
      nearly: [
        '    needs folder:specs#viewer (parent of document:plan: so #viewer); carl holds folder:specs#editor, which extends it, but the derivation needs the role itself',
      ],
      hints: [],
    })
    expect((await explained('anna', 'read', 'document:plan')).nearly).toEqual([
      '    needs folder:specs#viewer (parent of document:plan: so #viewer); anna holds folder:specs#editor and #owner, which extend it, but the derivation needs the role itself',
      '    needs folder:root#viewer (parent of folder:specs: so #viewer, parent of document:plan: so #viewer); anna holds folder:root#guest',
    ])
  })

  test('names the direct role that blocks a guarded derivation', async () => {
    expect((await explained('bert', 'list', 'document:plan')).nearly).toEqual([
      '    bert holds folder:specs#viewer (parent of document:plan: so #lister), which applies only without a direct role on document:plan; bert holds document:plan#guest',
    ])
  })

  test('names a missing tuple', async () => {
    expect((await explained('bert', 'read', 'document:alone')).nearly).toEqual([
      '    no folder is parent of document:alone; folder:specs would give document:alone#viewer to bert, who holds folder:specs#viewer',
    ])
  })

  test('has no near misses if none exist', async () => {
    expect(await explained('dora', 'read', 'document:plan')).toEqual({ nearly: [], hints: [] })
  })
})

describe('an unknown name', () => {
  test.each([
    [['dorra', 'read', 'document:plan'], ['there is no user "dorra"; did you mean "dora"?']],
    [['dora', 'raed', 'document:plan'], ['there is no action "raed" of document; did you mean "read"?']],
    [['dora', 'read', 'docment:plan'], ['there is no resource "docment"; did you mean "document"?']],
    [['dora', 'read', 'docment'], ['there is no resource "docment"; did you mean "document"?']],
    [
      ['dora', 'read', 'document:pland'],
      ['there is no instance "document:pland"; did you mean "document:plan"?'],
    ],
    [['dora', 'read', 'document', '--tenant', 'amce'], ['there is no tenant "amce"; did you mean "acme"?']],
    [
      ['Dora', 'x', 'document:zzz'],
      [
        'there is no action "x" of document; expected one of "read", "write", "list"',
        'there is no user "Dora"; did you mean "dora"?',
        'there is no instance "document:zzz"',
      ],
    ],
  ])('is reported on standard error with the nearest known name: explain %j', async (question, hints) => {
    expect((await explained(...question)).hints).toEqual(hints)
  })

  test('is reported with the nearest of many names', async () => {
    const users = Array.from(
      { length: 1_200 },
      (_, n) => `{"kind":"user","key":"agent-${n}-of-many"}\n`,
    ).join('')
    expect((await run(['load', '-'], { stdin: users })).code).toBe(EXIT.yes)
    expect((await explained('agent-1117-of-mnay', 'read', 'document:plan')).hints).toEqual([
      expect.stringMatching(/^there is no user "agent-1117-of-mnay"; did you mean "agent-1\d*7-of-many"\?$/),
    ])
  })
})
