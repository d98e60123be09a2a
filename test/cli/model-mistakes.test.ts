/** Errors in model files: all are reported together, with location and suggestion, before any change. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { EXIT } from '../../src/cli/session/exit-codes.ts'
import { readModelFile } from '../../src/cli/model-file/read-model-file.ts'
import { commandFiles, misnamed, verdictCommand } from './command-line.ts'

const company = readFileSync(fileURLToPath(new URL('company.yaml', import.meta.url)), 'utf8')
const { pathOf, written } = commandFiles()
const file = pathOf('model.yaml')

const tested = (text: string) => verdictCommand(['test', written(text)])

/** Names with one wrong letter in the form ‹right|wrong›, one per line of the file, and the kind of name. */
const MISNAMED: readonly (readonly [text: string, what: string])[] = [
  ['department: { type: ‹string|sting› }', 'value'],
  ['viewer: { permissions: [‹read|raed›] }', 'action of folder'],
  ['[write], extends: [‹viewer|viewr›] }', 'role of folder'],
  ['relations: { parent: ‹folder|foldr› }', 'resource'],
  ['{ role: viewer, on_resource: folder, linked_by_relation: ‹parent|parnt› }', 'relation of document'],
  ['{ role: ‹editor|edtor›, on_resource: folder, linked_by_relation: parent }', 'role of folder'],
  ["permissions: ['document:read', '‹folder|foldr›:read'] }", 'resource'],
  ['‹equals|equalls›: audit', 'operator'],
  ['    parent: ‹audit_department|audit_departement›', 'condition set'],
  ['    resource: ‹document|docment›\n    conditions', 'resource'],
  ['resource_set: ‹small_documents|small_document› }\n  - { user_set: auditor', 'resource set or resource'],
  ["{ user_set: auditor, permission: 'document:‹write|wrte›'", 'action of document'],
  ['platform: { members: [‹carol|carl›] }', 'user'],
  ['groups: [‹platform|platfrom›], roles', 'group'],
  ["'document:budget': { tenant: ‹acme|acem› }", 'tenant'],
  ["'‹document|docment›:memo': { attributes", 'resource'],
  ['{ user: dave, role: ‹auditor|auditr› }', 'tenant role'],
  ['{ user: ‹alice|alise›, role: viewer, resource', 'user'],
  ['{ user: [alice, ‹dave|daev›], action: write', 'user'],
]

/** Other errors, with their messages. */
const OTHERS: readonly (readonly [text: string, says: string])[] = [
  ['  plan: { ‹type|tipe›: string }', 'did you mean "type"?'],
  ['‹name|naem›: Folder', 'resources.folder.naem: is not a valid key here; did you mean "name"?'],
  ["senior_auditors, permission: ‹'document:write'|write›", 'expected `type:action`, got "write"'],
  ['name: ‹Document|007›', "expected a text, got 007: write it in quotes, '007'"],
  ['description: ‹Change what it says|[Change]›', 'expected a text, got a list'],
  ['size: ‹{ type: number }|number›', 'expected a map, got "number"'],
  ['{ ‹user|usr›.level: {', 'before the dot, got "usr"'],
  ['acme: { ‹name|nam›: Acme Inc., attributes', 'did you mean "name"?'],
  ['alice: { ‹email|mail›: alice@example.com }', 'did you mean "email"?'],
]

/** Text in the file, its replacement, the offset of the error in the replacement, and the message. */
const MISTAKES = [...MISNAMED, ...OTHERS].map(([marked, what]) => {
  const { before, right, wrong, says } = misnamed(marked, what)
  // The location is the start of the whole name, including the quote before it.
  const at = before.search(/[^\s[]*$/)
  return { from: right, to: wrong, at, says: OTHERS.some(([text]) => text === marked) ? what : says }
})

function placeOf(text: string, at: number): string {
  const before = text.slice(0, at).split('\n')
  return `${before.length}:${before.at(-1)!.length + 1}`
}

describe('an error in a model file', () => {
  test('is reported with line, column and suggestion, together with all other errors, and with exit code 2', async () => {
    let text = company
    for (const { from, to } of MISTAKES) {
      expect(text, from).toContain(from)
      text = text.replace(from, to)
    }
    const expected = MISTAKES.map(({ to, at, says }) => {
      return { place: `${file}:${placeOf(text, text.indexOf(to) + at)}: `, says }
    })
    const { code, stdout, stderr } = await tested(text)
    const lines = stderr.trimEnd().replace('verdict: ', '').split('\n')
    for (const { place, says } of expected) {
      expect(lines.find(line => line.startsWith(place)) ?? lines, place).toContain(says)
    }
    // Consequential errors: an attribute has no type, and tests name an instance that does not exist.
    const consequences = /"type" is missing$|tests\.[13].*there is no instance "(?:document:)?memo"/
    expect(lines.filter(line => !consequences.test(line))).toHaveLength(MISTAKES.length)
    expect([code, stdout]).toEqual([EXIT.usage, ''])
  })

  test('in a tuple is reported at the entity that is wrong', async () => {
    const turned = company.replace(
      "{ subject: 'folder:specs', relation: parent",
      "{ subject: 'document:specs', relation: parent",
    )
    const { code, stderr } = await tested(turned)
    expect([code, stderr]).toEqual([
      EXIT.usage,
      expect.stringMatching(/:75:16: .*document\.parent comes from folder, and not from document\n$/),
    ])
  })

  test('that only the service detects also has a location', async () => {
    const moved = company.replace(
      'platform: { members: [carol] }',
      'platform: { members: [carol], tenant: acme }',
    )
    const { code, stderr } = await tested(moved)
    expect([code, stderr.replaceAll(file, 'FILE')]).toEqual([
      EXIT.usage,
      expect.stringMatching(/^verdict: FILE:64:3: groups\.engineering: group group:engineering: .*tenant/),
    ])
  })

  test('is reported for each of several files', async () => {
    const one = written('users: 7\n', 'one.yaml')
    const other = written('tenants: 7\n', 'other.yaml')
    const { code, stderr } = await verdictCommand(['test', one, other])
    expect([code, stderr]).toEqual([
      EXIT.usage,
      `verdict: ${one}:1:8: users: expected a map, got 7\n${other}:1:10: tenants: expected a map, got 7\n`,
    ])
  })

  test('after the first hundred errors is only counted', async () => {
    const users = Array.from({ length: 150 }, (_, index) => `  - { user: nobody${index}, role: none }\n`)
    const { stderr } = await tested(`role_assignments:\n${users.join('')}`)
    const lines = stderr.trimEnd().split('\n')
    expect([lines.length, lines.at(-1)]).toEqual([101, expect.stringMatching(/: and \d+ more$/)])
  })
})

describe('a key in a model file', () => {
  const keys = ['103547991597142817347', '007', '1e3', '1.10', 'True', '0x1F', '.inf', 'null', '~']

  test.each(keys)('is read unchanged: %s', key => {
    const { users } = readModelFile(`users:\n  ${key}: { attributes: { ${key}: 1 } }\n`, 'model.yaml')
    expect(users).toEqual({ [key]: { attributes: { [key]: 1 } } })
  })

  test.each(keys)('is rejected without quotes where the file expects a value: %s', key => {
    for (const text of [
      `groups: { g: { members: [${key}] } }`,
      `role_assignments: [{ user: ${key}, role: r }]`,
    ]) {
      expect(() => readModelFile(`users: { ${key}: }\n${text}\n`, 'model.yaml')).toThrow(
        /model\.yaml:2:\d+: .*expected a text/,
      )
    }
  })

  test('equals the same key in quotes', () => {
    for (const twice of ["{ 007: , '007': }", '{ 1.10: , "1.10": }', '{ a: , a: }']) {
      expect(() => readModelFile(`users: ${twice}\n`, 'model.yaml')).toThrow(
        /model\.yaml:1:\d+: the key ".*" occurs twice/,
      )
    }
    expect(Object.keys(readModelFile('users: { 1.10: , 1.1: , 7: , 007: }\n', 'm').users!)).toHaveLength(4)
  })

  test.each([
    ['users: { [a, b]: }', /m:1:10: a key must be text/],
    ['users: { "": }', /m:1:10: users\.: is not a valid key here/],
    ['users: { <<: { a: } }', /m:1:10: merge keys/],
    ['users: { a: { attributes: { id: .nan } } }', /m:1:33: the number \.nan cannot be stored exactly/],
    ['users: { a: { attributes: { id: 1e400 } } }', /m:1:33: the number 1e400 cannot be stored exactly/],
    [
      'condition_sets: { a: { conditions: { user.id: { equals: 9007199254740993 } } } }',
      /m:1:49: .*expected numbers that an IEEE 754 double represents exactly, got 9007199254740993/,
    ],
  ])('is rejected if it is ambiguous: %s', (text, message) => {
    expect(() => readModelFile(text, 'm')).toThrow(message)
  })

  test('keeps all digits of integers in any notation', () => {
    const numbers =
      '[103547991597142817347, +9007199254740993, 0x20000000000001, 0o400000000000000001, 1.2345678901234568e20, 9007199254740993., .9007199254740993e+16, 7, 1.5]'
    const { users } = readModelFile(`users: { a: { attributes: { n: ${numbers} } } }`, 'm')
    expect(JSON.stringify(users!['a'])).toContain(
      '[103547991597142817347,9007199254740993,9007199254740993,9007199254740993,123456789012345680000,9007199254740993,9007199254740993,7,1.5]',
    )
  })
})
