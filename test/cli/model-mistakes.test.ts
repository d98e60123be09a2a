/** Mistakes in model files: each is told with its place and what was probably meant, all of them at once, before anything is done. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { EXIT } from '../../src/cli/exit-codes.ts'
import { readModelFile } from '../../src/cli/model-file/read-model-file.ts'
import { verdictCommand } from './command-line.ts'

const company = readFileSync(fileURLToPath(new URL('company.yaml', import.meta.url)), 'utf8')
const directory = mkdtempSync(join(tmpdir(), 'verdict-mistakes-'))
const file = join(directory, 'model.yaml')

afterAll(() => rmSync(directory, { recursive: true }))

function tested(text: string) {
  writeFileSync(file, text)
  return verdictCommand(['test', file])
}

interface Mistake {
  /** What stands in the file, and what is to stand there. */
  readonly from: string
  readonly to: string
  /** What is told as wrong; the place is that of its first character. */
  readonly wrong: string
  readonly says: string
}

const mistake = (from: string, to: string, wrong: string, says: string): Mistake => ({
  from,
  to,
  wrong,
  says,
})

/** One a line of the file, so that all of them can be made in one file. */
const MISTAKES: readonly Mistake[] = [
  mistake(
    'department: { type: string }',
    'department: { type: sting }',
    'sting',
    'user_attributes.department.type: there is no such value as "sting"; did you mean "string"?',
  ),
  mistake('  plan: { type: string }', '  plan: { tipe: string }', 'tipe', 'did you mean "type"?'),
  mistake(
    'name: Folder',
    'naem: Folder',
    'naem',
    'resources.folder.naem: is none of what may stand here; did you mean "name"?',
  ),
  mistake(
    'viewer: { permissions: [read] }',
    'viewer: { permissions: [raed] }',
    'raed',
    'there is no action "raed" of folder; did you mean "read"?',
  ),
  mistake(
    '[write], extends: [viewer] }',
    '[write], extends: [viewr] }',
    'viewr',
    'there is no role "viewr" of folder; did you mean "viewer"?',
  ),
  mistake('name: Document', 'name: 007', '007', "expected a text, got 007: write it in quotes, '007'"),
  mistake(
    'description: Change what it says',
    'description: [Change]',
    '[Change]',
    'expected a text, got a list',
  ),
  mistake('size: { type: number }', 'size: number', 'number', 'expected a map, got "number"'),
  mistake(
    'relations: { parent: folder }',
    'relations: { parent: foldr }',
    'foldr',
    'there is no resource "foldr"; did you mean "folder"?',
  ),
  mistake(
    '{ role: viewer, on_resource: folder, linked_by_relation: parent }',
    '{ role: viewer, on_resource: folder, linked_by_relation: parnt }',
    'parnt',
    'there is no relation "parnt" of document; did you mean "parent"?',
  ),
  mistake(
    '{ role: editor, on_resource: folder, linked_by_relation: parent }',
    '{ role: edtor, on_resource: folder, linked_by_relation: parent }',
    'edtor',
    'there is no role "edtor" of folder; did you mean "editor"?',
  ),
  mistake(
    "permissions: ['document:read', 'folder:read'] }",
    "permissions: ['document:read', 'foldr:read'] }",
    "'foldr:read'",
    'there is no resource "foldr"; did you mean "folder"?',
  ),
  mistake(
    'equals: audit',
    'equalls: audit',
    'equalls',
    'there is no operator "equalls"; did you mean "equals"?',
  ),
  mistake(
    '    parent: audit_department',
    '    parent: audit_departement',
    'audit_departement',
    'there is no condition set "audit_departement"; did you mean "audit_department"?',
  ),
  mistake('{ user.level: {', '{ usr.level: {', 'usr.level', 'before the dot, got "usr"'),
  mistake(
    '    resource: document\n    conditions',
    '    resource: docment\n    conditions',
    'docment',
    'there is no resource "docment"; did you mean "document"?',
  ),
  mistake(
    'resource_set: small_documents }\n  - { user_set: auditor',
    'resource_set: small_document }\n  - { user_set: auditor',
    'small_document }',
    'there is no resource set or resource "small_document"; did you mean "small_documents"?',
  ),
  mistake(
    "{ user_set: auditor, permission: 'document:write'",
    "{ user_set: auditor, permission: 'document:wrte'",
    "'document:wrte'",
    'there is no action "wrte" of document; did you mean "write"?',
  ),
  mistake(
    'acme: { name: Acme Inc., attributes',
    'acme: { nam: Acme Inc., attributes',
    'nam:',
    'did you mean "name"?',
  ),
  mistake(
    'alice: { email: alice@example.com }',
    'alice: { mail: alice@example.com }',
    'mail:',
    'did you mean "email"?',
  ),
  mistake(
    'platform: { members: [carol] }',
    'platform: { members: [carl] }',
    'carl',
    'there is no user "carl"; did you mean "carol"?',
  ),
  mistake(
    'groups: [platform], roles',
    'groups: [platfrom], roles',
    'platfrom',
    'there is no group "platfrom"; did you mean "platform"?',
  ),
  mistake(
    "'document:budget': { tenant: acme }",
    "'document:budget': { tenant: acem }",
    'acem',
    'there is no tenant "acem"; did you mean "acme"?',
  ),
  mistake(
    "'document:memo': { attributes",
    "'docment:memo': { attributes",
    "'docment:memo'",
    'there is no resource "docment"; did you mean "document"?',
  ),
  mistake(
    '{ user: dave, role: auditor }',
    '{ user: dave, role: auditr }',
    'auditr',
    'there is no tenant role "auditr"; did you mean "auditor"?',
  ),
  mistake(
    '{ user: alice, role: viewer, resource',
    '{ user: alise, role: viewer, resource',
    'alise',
    'there is no user "alise"; did you mean "alice"?',
  ),
  mistake(
    'action: [read, write], resource',
    'action: [read, wirte], resource',
    'wirte',
    'there is no action "wirte" of document; did you mean "write"?',
  ),
  mistake(
    '{ user: [alice, dave], action: write',
    '{ user: [alice, daev], action: write',
    'daev',
    'there is no user "daev"; did you mean "dave"?',
  ),
  mistake('are: [bob, carol]', 'are: [bob, crol]', 'crol', 'there is no user "crol"; did you mean "carol"?'),
  mistake(
    'are: [read] }',
    'are: [raed] }',
    'raed',
    'there is no action "raed" of document; did you mean "read"?',
  ),
  mistake(
    'type: document, are: [memo, roadmap] }',
    'type: document, are: [memoo, roadmap] }',
    'memoo',
    'there is no instance "memoo"',
  ),
  mistake(
    "resource: 'document:budget', tenant: default }",
    "resource: 'document:budgte', tenant: default }",
    "'document:budgte'",
    'there is no instance "document:budgte"; did you mean "document:budget"?',
  ),
  mistake(
    'resource: document, tenant: acme }',
    'resource: docment, tenant: acme }',
    'docment',
    'there is no resource "docment"; did you mean "document"?',
  ),
]

function placeOf(text: string, at: number): string {
  const before = text.slice(0, at).split('\n')
  return `${before.length}:${before.at(-1)!.length + 1}`
}

describe('a mistake in a model file', () => {
  test('is told with line and column and what was probably meant, all at once, and is exit code 2', async () => {
    let text = company
    for (const { from, to } of MISTAKES) {
      expect(text, from).toContain(from)
      text = text.replace(from, to)
    }
    const expected = MISTAKES.map(({ to, wrong, says }) => {
      const at = text.indexOf(to) + to.indexOf(wrong)
      return { place: `${file}:${placeOf(text, at)}: `, says }
    })
    const { code, stdout, stderr } = await tested(text)
    const lines = stderr.trimEnd().replace('verdict: ', '').split('\n')
    for (const { place, says } of expected) {
      expect(lines.find(line => line.startsWith(place)) ?? lines, place).toContain(says)
    }
    // And what follows from them: an attribute has no type, and three tests name an instance that is called otherwise.
    const consequences = /"type" is missing$|tests\.3.*there is no instance "document:memo"/
    expect(lines.filter(line => !consequences.test(line))).toHaveLength(MISTAKES.length)
    expect([code, stdout]).toEqual([EXIT.usage, ''])
  })

  test('in what a relation connects is told at the end that is wrong', async () => {
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

  test('that only the service sees has its place, too', async () => {
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

  test('is told of each of several files', async () => {
    const [one, other] = ['one.yaml', 'other.yaml'].map(name => join(directory, name)) as [string, string]
    writeFileSync(one, 'users: 7\n')
    writeFileSync(other, 'tenants: 7\n')
    const { code, stderr } = await verdictCommand(['test', one, other])
    expect([code, stderr]).toEqual([
      EXIT.usage,
      `verdict: ${one}:1:8: users: expected a map, got 7\n${other}:1:10: tenants: expected a map, got 7\n`,
    ])
  })

  test('beyond the hundredth is counted', async () => {
    const users = Array.from({ length: 150 }, (_, index) => `  - { user: nobody${index}, role: none }\n`)
    const { stderr } = await tested(`role_assignments:\n${users.join('')}`)
    const lines = stderr.trimEnd().split('\n')
    expect([lines.length, lines.at(-1)]).toEqual([101, expect.stringMatching(/: and \d+ more$/)])
  })
})

describe('a key', () => {
  const keys = ['103547991597142817347', '007', '1e3', '1.10', 'True', '0x1F', '.inf', 'null', '~']

  test.each(keys)('is read as it stands: %s', key => {
    const { users } = readModelFile(`users:\n  ${key}: { attributes: { ${key}: 1 } }\n`, 'model.yaml')
    expect(users).toEqual({ [key]: { attributes: { [key]: 1 } } })
  })

  test.each(keys)('is never another one where it is a value: %s', key => {
    for (const text of [
      `groups: { g: { members: [${key}] } }`,
      `role_assignments: [{ user: ${key}, role: r }]`,
    ]) {
      expect(() => readModelFile(`users: { ${key}: }\n${text}\n`, 'model.yaml')).toThrow(
        /model\.yaml:2:\d+: .*expected a text/,
      )
    }
  })

  test('and the same key in quotes are one', () => {
    for (const twice of ["{ 007: , '007': }", '{ 1.10: , "1.10": }', '{ a: , a: }']) {
      expect(() => readModelFile(`users: ${twice}\n`, 'model.yaml')).toThrow(
        /model\.yaml:1:\d+: the key ".*" stands there twice/,
      )
    }
    expect(Object.keys(readModelFile('users: { 1.10: , 1.1: , 7: , 007: }\n', 'm').users!)).toHaveLength(4)
  })

  test.each([
    ['users: { [a, b]: }', /m:1:10: a key is a text/],
    ['users: { "": }', /m:1:10: users\.: is no key for this place/],
    ['users: { <<: { a: } }', /m:1:10: merge keys/],
    ['users: { a: { attributes: { id: .nan } } }', /m:1:33: the number \.nan cannot be kept/],
    ['users: { a: { attributes: { id: 1e400 } } }', /m:1:33: the number 1e400 cannot be kept/],
    [
      'condition_sets: { a: { conditions: { user.id: { equals: 9007199254740993 } } } }',
      /m:1:49: .*expected numbers that a double represents exactly, got 9007199254740993/,
    ],
  ])('is refused where it would be another: %s', (text, message) => {
    expect(() => readModelFile(text, 'm')).toThrow(message)
  })

  test('keeps all digits of integers, in whichever notation', () => {
    const numbers =
      '[103547991597142817347, +9007199254740993, 0x20000000000001, 0o400000000000000001, 1.2345678901234568e20, 9007199254740993., .9007199254740993e+16, 7, 1.5]'
    const { users } = readModelFile(`users: { a: { attributes: { n: ${numbers} } } }`, 'm')
    expect(JSON.stringify(users!['a'])).toContain(
      '[103547991597142817347,9007199254740993,9007199254740993,9007199254740993,123456789012345680000,9007199254740993,9007199254740993,7,1.5]',
    )
  })
})
