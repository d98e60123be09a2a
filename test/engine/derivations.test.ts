/** Derived roles and their guards (native.md C.2). */
import { describe, test } from 'vitest'
import type { Change } from '#model/change.ts'
import {
  assign,
  assignInTenant,
  derivedRole,
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
import { type Case, JUDGES, World } from './world.ts'

const parentEditor = { role: 'editor', on: 'folder', over: 'parent' }

/** A document d1 in a folder f1. The given derivations define the editors of a document. */
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

const inF1 = link('folder:f1', 'parent', 'document:d1')
const inF2 = link('folder:f2', 'parent', 'document:d1')
const editsF1 = assign('alice', 'editor', 'folder:f1')
const editsF2 = assign('alice', 'editor', 'folder:f2')
const writes = { 'alice write document:d1': true }
const writesNot = { 'alice write document:d1': false }

const DERIVATIONS: readonly Case[] = [
  [
    'gives the role on the object to users with the source role on the subject, in its tenant',
    [editsF1, assign('bob', 'editor', 'folder:f2')],
    {
      ...writes,
      'alice read document:d1': true,
      'alice write document:d1 acme': false,
      'bob write document:d1': false,
    },
  ],
  [
    'does not give roles on the subject to users with a role on the object',
    [role('folder', 'editor', { can: ['open'] }), assign('alice', 'editor', 'document:d1')],
    { 'alice open folder:f1': false },
  ],
  [
    'does not follow another relation between the same types',
    [link('folder:f2', 'archive', 'document:d1'), editsF2],
    writesNot,
  ],
  ['ends when its tuple is removed', [editsF1], writes, [removed(inF1)], writesNot],
  ['ends when the source role is revoked', [editsF1], writes, [removed(editsF1)], writesNot],
  [
    'ends when its role is put without it',
    [editsF1],
    writes,
    [role('document', 'editor', { can: ['write'] })],
    writesNot,
  ],
  [
    'gives its role from each of several subjects',
    [inF2, editsF1, editsF2],
    [removed(inF1)],
    writes,
    [removed(inF2)],
    writesNot,
  ],
  [
    'does not start from a role that extends the source role',
    [assign('alice', 'chief', 'folder:f1')],
    writesNot,
  ],
  [
    'does not start from a tenant role with the key of the source role',
    [tenantRole('editor'), assignInTenant('alice', 'editor', 'default')],
    writesNot,
  ],
  [
    'has no effect if its relation has another subject type',
    [
      derivedRole('document', 'editor', 'write', heldBy({ role: 'editor', on: 'document', over: 'parent' })),
      editsF1,
    ],
    writesNot,
  ],
  [
    'can give another role on the same object',
    [
      relation('document', 'self', 'document'),
      link('document:d1', 'self', 'document:d1'),
      derivedRole('document', 'editor', 'write', heldBy({ role: 'nobody', on: 'document', over: 'self' })),
      assign('alice', 'nobody', 'document:d1'),
    ],
    { ...writes, 'bob write document:d1': false },
  ],
]

const GUARDED: readonly Case[] = [
  [
    'gives its role to users without a direct role on the object',
    [editsF1, assign('bob', 'viewer', 'document:d1')],
    writes,
  ],
  ...['viewer', 'nobody'].map((direct): Case => [
    `gives no role to a user with the direct role ${direct} on the object`,
    [editsF1, assign('alice', direct, 'document:d1')],
    { ...writesNot, 'alice read document:d1': direct === 'viewer' },
    [removed(assign('alice', direct, 'document:d1'))],
    writes,
  ]),
  [
    'with an effective guard does not affect other derivations of the same role',
    [
      role('document', 'editor', {
        can: ['write'],
        from: [heldUnlessDirectBy(parentEditor), heldBy({ ...parentEditor, over: 'archive' })],
      }),
      editsF1,
      assign('alice', 'nobody', 'document:d1'),
    ],
    writesNot,
    [link('folder:f1', 'archive', 'document:d1')],
    writes,
  ],
  [
    'is not blocked by derived roles, tenant roles and direct roles on the subject',
    [
      derivedRole('document', 'viewer', 'read', heldBy({ role: 'chief', on: 'folder', over: 'parent' })),
      tenantRole('guest'),
      assignInTenant('alice', 'guest', 'default'),
      assign('alice', 'chief', 'folder:f1'),
      editsF1,
    ],
    { ...writes, 'alice read document:d1': true },
  ],
]

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

const IN_ACCOUNT: readonly Case[] = [
  [
    'an account role gives roles on documents two levels below',
    {
      'admin delete document:budget': true,
      'member comment document:budget': true,
      'member delete document:budget': false,
    },
  ],
  [
    'a direct folder role replaces the role from the account on the folder and below, until it is revoked',
    [assign('admin', 'viewer', 'folder:finance'), assign('member', 'viewer', 'folder:finance')],
    {
      'admin delete document:budget': false,
      'member comment document:budget': false,
      'admin read document:budget': true,
      'member read document:budget': true,
      'admin delete document:plan': true,
      'member comment document:plan': true,
    },
    [removed(assign('admin', 'viewer', 'folder:finance'))],
    { 'admin delete document:budget': true, 'admin read document:budget': false },
  ],
]

describe.each(JUDGES)('$name', ({ newJudge }) => {
  for (const [name, ...steps] of DERIVATIONS) {
    test(`a derivation ${name}`, () => new World(newJudge(), ...library(heldBy(parentEditor))).follows(steps))
  }

  for (const [name, ...steps] of GUARDED) {
    test(`a guarded derivation ${name}`, () =>
      new World(newJudge(), ...library(heldUnlessDirectBy(parentEditor))).follows(steps))
  }

  for (const [name, ...steps] of IN_ACCOUNT) {
    test(name, () => new World(newJudge(), ...account).follows(steps))
  }
})
