/** The table of docs/semantics.md names tests for every term that the page defines, and these tests exist. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const [rules, tests] = readFileSync(join(root, 'docs/semantics.md'), 'utf8').split(/^## Tests$/m)
const terms = [...rules!.matchAll(/^### (.+)$/gm)].map(([, term]) => term!)
const rows = new Map(
  [...tests!.matchAll(/^\| (\w.*?) +\| (.*) \|$/gm)].map(([, term, cell]) => [term!, cell!]),
)
rows.delete('Term')

test('the page defines the terms of the model and names a test for each of them', () => {
  expect(terms).toEqual(
    expect.arrayContaining(
      (
        'User, Tenant, Resource, Instance, Action, Permission, Tenant role, Resource role, Assignment, Extends, Relation, Tuple, ' +
        'Derivation, Guard, Group, Membership, Grant, Nesting, Cascade, Generation, Decision, Type question, Tenant mismatch'
      ).split(', '),
    ),
  )
  expect([...rows.keys()]).toEqual(terms)
})

test.each([...rows])('the tests of the term "%s" exist', (_, cell) => {
  const paths = [...cell.matchAll(/`(test\/[^`]+\.test\.ts)`/g)].map(([, path]) => path!)
  expect(paths).not.toEqual([])
  expect(paths.filter(path => !existsSync(join(root, path)))).toEqual([])
})
