/** Derived roles and their guards (native.md C.2). */
import { describe, expect, test } from 'vitest'
import type { Change } from '#model/change.ts'
import {
  assign,
  assignInTenant,
  heldBy,
  heldUnlessDirectBy,
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

const parentEditor = { role: 'editor', on: 'folder', over: 'parent' }

/** A document d1 in a folder f1. The given entries say who is editor of a document. */
function library(...editors: readonly ReturnType<typeof heldBy>[]): Change[] {
  return [
    tenant('default'),
    tenant('acme'),
    user('alice'),
    user('bob'),
    resourceType('folder', 'open'),
    resourceType('document', 'read', 'write'),
    relation('document', 'parent', 'folder'),
    relation('document', 'archive', 'folder'),
    role('folder', 'editor'),
    role('folder', 'chief', { extends: ['editor'] }),
    role('document', 'viewer', { can: ['read'] }),
    role('document', 'nobody'),
    role('document', 'editor', { can: ['write'], extends: ['viewer'], from: editors }),
    instance('folder:f1'),
    instance('folder:f2'),
    instance('document:d1'),
    link('folder:f1', 'parent', 'document:d1'),
  ]
}

describe.each(JUDGES)('$name', ({ newJudge }) => {
  describe('a derivation', () => {
    test('gives the role on the object to those who hold the source role on the subject', () => {
      const world = new World(
        newJudge(),
        ...library(heldBy(parentEditor)),
        assign('alice', 'editor', 'folder:f1'),
        assign('bob', 'editor', 'folder:f2'),
      )
      expect(world.can('alice', 'write', 'document:d1')).toBe(true)
      expect(world.can('alice', 'read', 'document:d1')).toBe(true)
      expect(world.can('bob', 'write', 'document:d1')).toBe(false)
    })

    test('does not work from the object to the subject', () => {
      const world = new World(
        newJudge(),
        ...library(heldBy(parentEditor)),
        role('folder', 'editor', { can: ['open'] }),
        assign('alice', 'editor', 'document:d1'),
      )
      expect(world.can('alice', 'open', 'folder:f1')).toBe(false)
    })

    test('does not follow another relation between the same types', () => {
      const world = new World(
        newJudge(),
        ...library(heldBy(parentEditor)),
        link('folder:f2', 'archive', 'document:d1'),
        assign('alice', 'editor', 'folder:f2'),
      )
      expect(world.can('alice', 'write', 'document:d1')).toBe(false)
    })

    test('ends with the tuple, with the source assignment and with the entry', () => {
      const endings = [
        removed(link('folder:f1', 'parent', 'document:d1')),
        removed(assign('alice', 'editor', 'folder:f1')),
        role('document', 'editor', { can: ['write'] }),
      ]
      for (const ending of endings) {
        const world = new World(
          newJudge(),
          ...library(heldBy(parentEditor)),
          assign('alice', 'editor', 'folder:f1'),
        )
        expect(world.can('alice', 'write', 'document:d1')).toBe(true)
        world.apply(ending)
        expect(world.can('alice', 'write', 'document:d1')).toBe(false)
      }
    })

    test('gives its role from each of several subjects', () => {
      const world = new World(
        newJudge(),
        ...library(heldBy(parentEditor)),
        link('folder:f2', 'parent', 'document:d1'),
        assign('alice', 'editor', 'folder:f1'),
        assign('alice', 'editor', 'folder:f2'),
      )
      world.apply(removed(link('folder:f1', 'parent', 'document:d1')))
      expect(world.can('alice', 'write', 'document:d1')).toBe(true)
      world.apply(removed(link('folder:f2', 'parent', 'document:d1')))
      expect(world.can('alice', 'write', 'document:d1')).toBe(false)
    })

    test('does not take a role that extends the source role for the source role', () => {
      const world = new World(
        newJudge(),
        ...library(heldBy(parentEditor)),
        assign('alice', 'chief', 'folder:f1'),
      )
      expect(world.can('alice', 'write', 'document:d1')).toBe(false)
    })

    test('does not count for a question that names another tenant', () => {
      const world = new World(
        newJudge(),
        ...library(heldBy(parentEditor)),
        assign('alice', 'editor', 'folder:f1'),
      )
      expect(world.can('alice', 'write', 'document:d1', 'acme')).toBe(false)
    })

    test('does not start from a tenant role of the same name', () => {
      const world = new World(
        newJudge(),
        ...library(heldBy(parentEditor)),
        tenantRole('editor'),
        assignInTenant('alice', 'editor', 'default'),
      )
      expect(world.can('alice', 'write', 'document:d1')).toBe(false)
    })

    test('whose relation leads to another type than it says is void', () => {
      const world = new World(
        newJudge(),
        ...library(),
        role('document', 'editor', {
          can: ['write'],
          from: [heldBy({ role: 'editor', on: 'document', over: 'parent' })],
        }),
        assign('alice', 'editor', 'folder:f1'),
      )
      expect(world.can('alice', 'write', 'document:d1')).toBe(false)
    })

    test('can lead from one role to another role of the same object', () => {
      const world = new World(
        newJudge(),
        ...library(),
        relation('document', 'self', 'document'),
        link('document:d1', 'self', 'document:d1'),
        role('document', 'editor', {
          can: ['write'],
          from: [heldBy({ role: 'nobody', on: 'document', over: 'self' })],
        }),
        assign('alice', 'nobody', 'document:d1'),
      )
      expect(world.can('alice', 'write', 'document:d1')).toBe(true)
      expect(world.can('bob', 'write', 'document:d1')).toBe(false)
    })
  })

  describe('a guarded derivation', () => {
    test('holds for a user without any direct role on the object', () => {
      const world = new World(
        newJudge(),
        ...library(heldUnlessDirectBy(parentEditor)),
        assign('alice', 'editor', 'folder:f1'),
        assign('bob', 'viewer', 'document:d1'),
      )
      expect(world.can('alice', 'write', 'document:d1')).toBe(true)
    })

    test('is void for a user with a direct role on the object, even one that allows nothing', () => {
      for (const direct of ['viewer', 'nobody']) {
        const world = new World(
          newJudge(),
          ...library(heldUnlessDirectBy(parentEditor)),
          assign('alice', 'editor', 'folder:f1'),
        )
        world.apply(assign('alice', direct, 'document:d1'))
        expect(world.can('alice', 'write', 'document:d1')).toBe(false)
        world.apply(removed(assign('alice', direct, 'document:d1')))
        expect(world.can('alice', 'write', 'document:d1')).toBe(true)
      }
    })

    test('leaves the direct role itself alone', () => {
      const world = new World(
        newJudge(),
        ...library(heldUnlessDirectBy(parentEditor)),
        assign('alice', 'editor', 'folder:f1'),
        assign('alice', 'viewer', 'document:d1'),
      )
      expect(world.can('alice', 'read', 'document:d1')).toBe(true)
    })

    test('leaves other entries of the same role alone', () => {
      const world = new World(
        newJudge(),
        ...library(
          heldUnlessDirectBy(parentEditor),
          heldBy({ role: 'editor', on: 'folder', over: 'archive' }),
        ),
        assign('alice', 'editor', 'folder:f1'),
        assign('alice', 'nobody', 'document:d1'),
      )
      expect(world.can('alice', 'write', 'document:d1')).toBe(false)
      world.apply(link('folder:f1', 'archive', 'document:d1'))
      expect(world.can('alice', 'write', 'document:d1')).toBe(true)
    })

    test('does not mind derived roles, tenant roles, or direct roles on the subject', () => {
      const world = new World(
        newJudge(),
        ...library(heldUnlessDirectBy(parentEditor)),
        role('document', 'viewer', {
          can: ['read'],
          from: [heldBy({ role: 'chief', on: 'folder', over: 'parent' })],
        }),
        tenantRole('guest'),
        assignInTenant('alice', 'guest', 'default'),
        assign('alice', 'chief', 'folder:f1'),
        assign('alice', 'editor', 'folder:f1'),
      )
      expect(world.can('alice', 'read', 'document:d1')).toBe(true)
      expect(world.can('alice', 'write', 'document:d1')).toBe(true)
    })
  })

  describe('the example of the contract: an account above folders above documents', () => {
    const overParent = (source: string): ReturnType<typeof heldBy> =>
      heldBy({ role: source, on: 'folder', over: 'parent' })
    const account = [
      tenant('default'),
      user('admin'),
      user('member'),
      resourceType('account'),
      resourceType('folder', 'list'),
      resourceType('document', 'read', 'comment', 'delete'),
      relation('folder', 'account', 'account'),
      relation('document', 'parent', 'folder'),
      role('account', 'admin'),
      role('account', 'member'),
      role('folder', 'viewer'),
      role('folder', 'commenter', {
        from: [heldUnlessDirectBy({ role: 'member', on: 'account', over: 'account' })],
      }),
      role('folder', 'editor', {
        from: [heldUnlessDirectBy({ role: 'admin', on: 'account', over: 'account' })],
      }),
      role('document', 'viewer', { can: ['read'], from: [overParent('viewer')] }),
      role('document', 'commenter', { can: ['comment'], from: [overParent('commenter')] }),
      role('document', 'editor', { can: ['delete'], from: [overParent('editor')] }),
      instance('account:acme'),
      instance('folder:finance'),
      instance('folder:rnd'),
      instance('document:budget'),
      instance('document:plan'),
      link('account:acme', 'account', 'folder:finance'),
      link('account:acme', 'account', 'folder:rnd'),
      link('folder:finance', 'parent', 'document:budget'),
      link('folder:rnd', 'parent', 'document:plan'),
      assign('admin', 'admin', 'account:acme'),
      assign('member', 'member', 'account:acme'),
    ]

    test('an account role reaches the documents two levels down', () => {
      const world = new World(newJudge(), ...account)
      expect(world.can('admin', 'delete', 'document:budget')).toBe(true)
      expect(world.can('member', 'comment', 'document:budget')).toBe(true)
      expect(world.can('member', 'delete', 'document:budget')).toBe(false)
    })

    test('a direct folder role replaces what the account gave, for that folder and all below it', () => {
      const world = new World(newJudge(), ...account)
      world.apply(assign('admin', 'viewer', 'folder:finance'), assign('member', 'viewer', 'folder:finance'))
      expect(world.can('admin', 'delete', 'document:budget')).toBe(false)
      expect(world.can('member', 'comment', 'document:budget')).toBe(false)
      for (const who of ['admin', 'member']) expect(world.can(who, 'read', 'document:budget')).toBe(true)
      expect(world.can('admin', 'delete', 'document:plan')).toBe(true)
      expect(world.can('member', 'comment', 'document:plan')).toBe(true)
    })

    test('with the direct folder role gone, the account gives again what it gave', () => {
      const world = new World(newJudge(), ...account, assign('admin', 'viewer', 'folder:finance'))
      world.apply(removed(assign('admin', 'viewer', 'folder:finance')))
      expect(world.can('admin', 'delete', 'document:budget')).toBe(true)
      expect(world.can('admin', 'read', 'document:budget')).toBe(false)
    })
  })
})
