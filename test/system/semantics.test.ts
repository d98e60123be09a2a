/** docs/semantics.md points at tests that are there, for every word it defines. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const text = readFileSync(join(root, 'docs/semantics.md'), 'utf8')

/** The paragraphs that define a word. */
const definitions = text.split(/\n\n/).filter(paragraph => /^\*\*[^*]+\*\*/.test(paragraph))

test('every definition names a test that shows it, and every test it names exists', () => {
  expect(definitions.length).toBeGreaterThan(25)
  for (const definition of definitions) {
    const paths = [...definition.matchAll(/`(test\/[^`]+\.test\.ts)`/g)].map(([, path]) => path!)
    expect(paths, definition).not.toEqual([])
    expect(paths.filter(path => !existsSync(join(root, path)))).toEqual([])
  }
})

const WORDS =
  'User, Tenant, Resource, Instance, Action, Permission, Tenant role, Resource role, Assignment, Extends, Relation, Tuple, ' +
  'Derivation, Guard, Group, Membership, Grant, Nesting, Cascade, Generation, Decision, Type question, Tenant mismatch'

test.each(WORDS.split(', '))('%s is defined', word => {
  expect(definitions.filter(definition => definition.startsWith(`**${word}`))).not.toEqual([])
})
