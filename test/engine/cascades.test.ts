/**
 * Cascades: dependent entities are deleted with an entity (native.md C.7), and are not restored with it. In
 * each world, a check is allowed only if all listed facts exist. One test removes a fact, and with it its
 * dependents. It puts all facts again except one dependent: the check is denied until this dependent is put
 * again. The other test puts a dependent before the fact on which it depends, so that it is ignored.
 */
import { describe, expect, test } from 'vitest'
import type { Change } from '#model/change.ts'
import {
  assign,
  assignInTenant,
  heldBy,
  instance,
  link,
  relation,
  removed,
  resourceType,
  role,
  tenant,
  tenantRole,
  user,
} from '#testing/engines/changes.ts'
import { JUDGES, World } from './world.ts'

const defaultTenant = tenant('default')
const alice = user('alice')
const folder = resourceType('folder')
const document = resourceType('document', 'write')
const parent = relation('document', 'parent', 'folder')
const folderEditor = role('folder', 'editor')
const documentEditor = role('document', 'editor', {
  can: ['write'],
  from: [heldBy({ role: 'editor', on: 'folder', over: 'parent' })],
})
const f1 = instance('folder:f1')
const d1 = instance('document:d1')
const aliceEditsF1 = assign('alice', 'editor', 'folder:f1')
const d1InF1 = link('folder:f1', 'parent', 'document:d1')

const acme = tenant('acme')
const reader = tenantRole('reader', { can: ['document:write'] })
const lead = tenantRole('lead', { extends: ['reader'] })
const aliceLeads = assignInTenant('alice', 'lead', 'acme')

const author = role('document', 'author', { can: ['write'] })
const owner = role('document', 'owner', { extends: ['author'] })
const aliceOwnsD1 = assign('alice', 'owner', 'document:d1')

interface Cascade {
  /** Kind of access by which the facts allow the check. */
  readonly way: string
  readonly facts: readonly Change[]
  readonly gone: Change
  readonly goesWithIt: Change
}

function cascades(way: string, facts: readonly Change[], pairs: readonly [Change, Change[]][]): Cascade[] {
  return pairs.flatMap(([gone, dependants]) =>
    dependants.map(goesWithIt => ({ way, facts, gone, goesWithIt })),
  )
}

const byDerivation = [defaultTenant, alice, folder, document, parent, folderEditor, documentEditor]
const CASCADES = [
  ...cascades(
    'by derivation',
    [...byDerivation, f1, d1, aliceEditsF1, d1InF1],
    [
      [alice, [aliceEditsF1]],
      [defaultTenant, [f1, d1, aliceEditsF1, d1InF1]],
      [folder, [folderEditor, parent, f1, aliceEditsF1, d1InF1, documentEditor]],
      [document, [documentEditor, parent, d1, d1InF1]],
      [folderEditor, [aliceEditsF1, documentEditor]],
      [parent, [d1InF1, documentEditor]],
      [f1, [aliceEditsF1, d1InF1]],
      [d1, [d1InF1]],
    ],
  ),
  ...cascades(
    'by tenant role',
    [acme, alice, document, reader, lead, aliceLeads, instance('document:d1', 'acme')],
    [
      [alice, [aliceLeads]],
      [acme, [aliceLeads]],
      [lead, [aliceLeads]],
      [reader, [lead]],
      [document, [reader]],
    ],
  ),
  ...cascades(
    'by direct role',
    [defaultTenant, alice, document, author, owner, d1, aliceOwnsD1],
    [
      [alice, [aliceOwnsD1]],
      [defaultTenant, [d1, aliceOwnsD1]],
      [document, [author, owner, d1, aliceOwnsD1]],
      [author, [owner]],
      [owner, [aliceOwnsD1]],
      [d1, [aliceOwnsD1]],
    ],
  ),
].map(cascade => ({
  ...cascade,
  name: `${named(cascade.goesWithIt)} is deleted with ${named(cascade.gone)}`,
}))

function named(change: Change): string {
  const { kind, ...fields } = removed(change)
  return `${kind.replace('-removed', '')} ${JSON.stringify(fields)}`
}

describe.each(JUDGES)('$name', ({ newJudge }) => {
  test.each(CASCADES)('$way: $name', ({ facts, gone, goesWithIt }) => {
    const world = new World(newJudge(), ...facts)
    expect(world.can('alice', 'write', 'document:d1')).toBe(true)
    world.apply(removed(gone))
    expect(world.can('alice', 'write', 'document:d1')).toBe(false)
    world.apply(gone, ...facts.filter(fact => fact !== goesWithIt))
    expect(world.can('alice', 'write', 'document:d1')).toBe(false)
    world.apply(goesWithIt, ...facts)
    expect(world.can('alice', 'write', 'document:d1')).toBe(true)
  })

  test.each(CASCADES)('$way: a dependent put too early is ignored: $name', ({ facts, gone, goesWithIt }) => {
    const rest = facts.filter(fact => fact !== goesWithIt)
    const world = new World(newJudge(), ...rest.filter(fact => fact !== gone), goesWithIt)
    world.apply(...rest)
    expect(world.can('alice', 'write', 'document:d1')).toBe(false)
    world.apply(goesWithIt, ...facts)
    expect(world.can('alice', 'write', 'document:d1')).toBe(true)
  })

  test('removing an action from a type removes its permission from every role permanently', () => {
    const world = new World(
      newJudge(),
      defaultTenant,
      alice,
      user('bob'),
      resourceType('document', 'read', 'write'),
      role('document', 'author', { can: ['read', 'write'] }),
      tenantRole('reader', { can: ['document:read', 'document:write'] }),
      d1,
      assign('alice', 'author', 'document:d1'),
      assignInTenant('bob', 'reader', 'default'),
    )
    for (const who of ['alice', 'bob']) expect(world.can(who, 'write', 'document:d1')).toBe(true)
    for (const actions of [['read'], ['read', 'write']]) {
      world.apply(resourceType('document', ...actions))
      for (const who of ['alice', 'bob']) {
        expect(world.can(who, 'write', 'document:d1')).toBe(false)
        expect(world.can(who, 'read', 'document:d1')).toBe(true)
      }
    }
  })

  test('an instance that is put in another tenant is a new instance, and again a new one when it is put back', () => {
    const facts = [
      ...byDerivation,
      acme,
      f1,
      d1,
      aliceEditsF1,
      d1InF1,
      author,
      assign('alice', 'author', 'document:d1'),
    ]
    const world = new World(newJudge(), ...facts)
    world.apply(instance('document:d1', 'acme'))
    expect(world.can('alice', 'write', 'document:d1')).toBe(false)
    world.apply(d1)
    expect(world.can('alice', 'write', 'document:d1')).toBe(false)
    world.apply(d1InF1)
    expect(world.can('alice', 'write', 'document:d1')).toBe(true)
  })

  test('an instance that is put in another tenant no longer gives roles on other instances', () => {
    const world = new World(newJudge(), ...byDerivation, acme, f1, d1, aliceEditsF1, d1InF1)
    world.apply(instance('folder:f1', 'acme'))
    expect(world.can('alice', 'write', 'document:d1')).toBe(false)
  })

  test('an instance that moved to another tenant is not deleted with its former tenant', () => {
    const world = new World(newJudge(), ...byDerivation, author, acme, instance('document:d1', 'acme'), d1)
    world.apply(assign('alice', 'author', 'document:d1'), removed(acme))
    expect(world.can('alice', 'write', 'document:d1')).toBe(true)
  })

  test('an instance that is put again in its tenant keeps its roles and tuples', () => {
    const world = new World(newJudge(), ...byDerivation, f1, d1, aliceEditsF1, d1InF1)
    world.apply({ ...d1, attributes: { size: 3 } }, { ...f1, attributes: null }, defaultTenant, alice, parent)
    expect(world.can('alice', 'write', 'document:d1')).toBe(true)
  })

  test('deleting a tenant deletes only its own instances', () => {
    const world = new World(newJudge(), ...byDerivation, acme, f1, d1, aliceEditsF1, d1InF1)
    world.apply(instance('document:d2', 'acme'), removed(acme))
    expect(world.can('alice', 'write', 'document:d1')).toBe(true)
  })

  test('a relation that is put with another subject type is a new relation without tuples and derivations', () => {
    const world = new World(newJudge(), ...byDerivation, f1, d1, aliceEditsF1, d1InF1)
    world.apply(relation('document', 'parent', 'document'), parent)
    world.apply(documentEditor)
    expect(world.can('alice', 'write', 'document:d1')).toBe(false)
    world.apply(d1InF1)
    expect(world.can('alice', 'write', 'document:d1')).toBe(true)
    world.apply(relation('document', 'parent', 'document'), parent, d1InF1)
    expect(world.can('alice', 'write', 'document:d1')).toBe(false)
  })

  test('a relation whose subject type changed is not deleted with its former subject type', () => {
    const chained = role('document', 'author', {
      can: ['write'],
      from: [heldBy({ role: 'author', on: 'document', over: 'parent' })],
    })
    const facts = [defaultTenant, alice, folder, document, parent, relation('document', 'parent', 'document')]
    const world = new World(newJudge(), ...facts, chained, d1, instance('document:d0'))
    world.apply(assign('alice', 'author', 'document:d0'), link('document:d0', 'parent', 'document:d1'))
    world.apply(removed(folder))
    expect(world.can('alice', 'write', 'document:d1')).toBe(true)
  })

  test('deleting a type deletes the relations between its own instances', () => {
    const nested = role('folder', 'editor', {
      can: ['open'],
      from: [heldBy({ role: 'editor', on: 'folder', over: 'in' })],
    })
    const facts = [defaultTenant, alice, resourceType('folder', 'open'), relation('folder', 'in', 'folder')]
    const content = [f1, instance('folder:f2'), aliceEditsF1]
    const world = new World(newJudge(), ...facts, nested, ...content, link('folder:f1', 'in', 'folder:f2'))
    expect(world.can('alice', 'open', 'folder:f2')).toBe(true)
    world.apply(removed(folder), ...facts, nested, ...content)
    expect(world.can('alice', 'open', 'folder:f1')).toBe(true)
    expect(world.can('alice', 'open', 'folder:f2')).toBe(false)
  })
})
