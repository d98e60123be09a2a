/** Model files: valid and invalid content, and the results of `verdict test`. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { modelFileSchema } from '#entities/model-file.ts'
import { readModelFile } from '../../src/cli/model-file/read-model-file.ts'
import { desiredState } from '../../src/cli/model-file/desired-state.ts'
import { commandFiles, verdictCommand } from './command-line.ts'

const COMPANY = fileURLToPath(new URL('company.yaml', import.meta.url))
const company = readFileSync(COMPANY, 'utf8')
const { written } = commandFiles()

describe('verdict test', () => {
  test('reports success if all expectations of a model are met', async () => {
    const { code, stdout } = await verdictCommand(['test', COMPANY, '--output', 'table'])
    expect(stdout).toBe(
      [
        COMPANY,
        '  ✓ engineering, including the platform team, writes the roadmap',
        '  ✓ auditors can only read, in their tenant',
        '  ✓ a check applies to the tenant that it names',
        '  ✓ auditors correct small documents, and senior auditors do so in every tenant',
        '',
        '21 passed, 0 failed',
        '',
      ].join('\n'),
    )
    expect(code).toBe(0)
  })

  test('reports each unexpected decision and key, and fails', async () => {
    const changed = company
      .replace('are: [bob, carol]', 'are: [alice, carol]')
      .replace('are: [read] }', 'are: [read, write] }')
      .replace(
        'deny:\n      - { user: [alice, dave], action: write',
        'deny:\n      - { user: [alice, bob], action: write',
      )
      .replace("roles: ['folder:specs#editor']", "roles: ['folder:specs#editor', 'document:budget2#viewer']")
      .replace(
        "{ user: alice, action: read, resource: 'document:budget', tenant: acme }",
        '{ user: alice, action: write, resource: document:budget }',
      )
    const file = written(changed)
    const { code, stdout } = await verdictCommand(['test', file, '--output', 'table'])
    expect(stdout.split('\n').slice(1)).toEqual([
      '  ✗ engineering, including the platform team, writes the roadmap',
      '      bob may not write document:roadmap',
      '        was allowed: a role on the instance allows it: editor',
      '      the users who can write document:roadmap',
      '        - alice is expected but missing',
      '        + bob is present but not expected',
      '  ✗ auditors can only read, in their tenant',
      '      the instances of document that dave can read',
      '        + budget2 is present but not expected',
      '      the actions that dave can perform on document:roadmap',
      '        - write is expected but missing',
      '  ✗ a check applies to the tenant that it names',
      '      alice may write document:budget',
      '        was denied: the user holds no tenant role; the user holds viewer on the instance; roles that allow the action: editor',
      '        by rules: senior_auditors on small_documents: user.level is missing (greater-than-equals 3); resource.size is missing (less-than 100)',
      '        by rules: role auditor on small_documents: the role is not held; resource.size is missing (less-than 100)',
      '  ✓ auditors correct small documents, and senior auditors do so in every tenant',
      '',
      '16 passed, 5 failed',
      '',
    ])
    expect(code).toBe(1)
  })

  test('prints JSON for programs', async () => {
    const { stdout } = await verdictCommand(['test', COMPANY])
    const [{ file, tests }] = JSON.parse(stdout)
    expect(file).toBe(COMPANY)
    expect(tests[1]).toEqual({
      name: 'auditors can only read, in their tenant',
      outcomes: [
        { question: 'the instances of document that dave can read', differences: [] },
        { question: 'the actions that dave can perform on document:roadmap', differences: [] },
      ],
    })
  })
})

describe('entries of inherited_roles', () => {
  const model = (folder: string, page: string) => `
resources:
  folder: { actions: [read], relations: { parent: folder }, roles: { owner: , viewer: ${folder} } }
  page: { actions: [read], relations: { parent: folder }, roles: { owner: , reader: ${page} } }
`
  const entry = (role: string) => `{ role: ${role}, on_resource: folder, linked_by_relation: parent }`
  const stateOf = (text: string) => desiredState(readModelFile(text, 'model.yaml'))

  test('are equivalent to one entry in granted_to for each role', () => {
    const granted = `{ granted_to: { users_with_role: [${entry('viewer')}] } }`
    const long = model(granted, granted).replaceAll(
      'owner: ,',
      `owner: ${granted.replace('viewer', 'owner')},`,
    )
    const short = model('', '')
      .replace('viewer:  } }', 'viewer: }, inherited_roles: { parent: [owner, viewer] } }')
      .replace('reader:  } }', 'reader: }, inherited_roles: { parent: { owner: owner, viewer: reader } } }')
    expect(stateOf(short).resources).toEqual(stateOf(long).resources)
  })

  test('are merged with the derivations of a role', () => {
    const guarded = '{ granted_to: { when: { no_direct_roles_on_object: true } } }'
    const text = model(guarded, guarded).replace(
      `viewer: ${guarded} } }`,
      `viewer: ${guarded} }, inherited_roles: { parent: [viewer] } }`,
    )
    const viewer = stateOf(text).resources.get('folder')!.roles.get('viewer')!
    expect([viewer.isGuarded, viewer.derivations.size]).toEqual([true, 1])
  })

  test.each([
    ['[ownr]', /:3:\d+: .*there is no role "ownr" of folder; did you mean "owner"\?/],
    ['{ ownr: owner }', /:3:\d+: .*there is no role "ownr" of folder; did you mean "owner"\?/],
    ['{ owner: viewr }', /:3:\d+: .*there is no role "viewr" of folder; did you mean "viewer"\?/],
  ])('must name existing roles on both sides: %s', (roles, message) => {
    const text = model('', '').replace('viewer:  } }', `viewer: }, inherited_roles: { parent: ${roles} } }`)
    expect(() => stateOf(text)).toThrow(message)
    expect(() => stateOf(text.replace('parent: [', 'parnt: [').replace('parent: {', 'parnt: {'))).toThrow(
      /there is no relation "parnt" of folder; did you mean "parent"\?/,
    )
  })
})

describe('an invalid model file', () => {
  test('is rejected with the line of a missing field', async () => {
    const { stderr } = await verdictCommand(['test', written('users: {}\ntests:\n  - allow: []\n')])
    expect(stderr).toMatch(/model\.yaml:3:5: tests\.0: "name" is missing\n/)
  })

  test.each([
    ['resources: {', 'an unclosed bracket'],
    ['users: {a: {}, a: {}}', 'a duplicate key'],
  ])('is rejected if it is %j: %s', async text => {
    const { code, stderr } = await verdictCommand(['test', written(text)])
    expect(stderr).toMatch(/^verdict: .*model\.yaml/)
    expect(code).toBe(2)
  })

  test('is rejected if aliases expand to too much content', async () => {
    const lines = (levels: number) =>
      Array.from({ length: levels }, (_, level) => {
        const items = level === 0 ? '1' : Array.from({ length: 4 }, () => `*l${level - 1}`).join(', ')
        return `      l${level}: &l${level} [${items}]\n`
      })
    const file = (levels: number) =>
      written(`users:\n  carol:\n    attributes:\n${lines(levels).join('')}tests: []\n`)
    expect((await verdictCommand(['test', file(3)])).code).toBe(0)
    const { code, stderr } = await verdictCommand(['test', file(7)])
    expect([code, stderr]).toEqual([2, expect.stringMatching(/model\.yaml:1:1: Excessive alias count/)])
  })
})

describe('the published schema', () => {
  const published = fileURLToPath(new URL('../../docs/model-file.schema.json', import.meta.url))

  test('equals the schema that validates model files', async () => {
    expect(JSON.parse(readFileSync(published, 'utf8'))).toEqual(JSON.parse(modelFileSchema()))
    const { stdout } = await verdictCommand(['schema'])
    expect(JSON.parse(stdout)).toEqual(JSON.parse(modelFileSchema()))
  })

  test('is a standard JSON Schema that accepts the example and rejects invalid models', () => {
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(
      JSON.parse(readFileSync(published, 'utf8')),
    )
    const value = parse(company)
    expect(validate(value), JSON.stringify(validate.errors)).toBe(true)
    expect(validate({ ...value, extra: 1 })).toBe(false)
    expect(validate({ ...value, resources: { 'no key': {} } })).toBe(false)
  })
})
