/** Roles on one instance: permissions, the effect of `extends`, and invalid permissions (native.md A.2). */
import { describe, test } from 'vitest'
import {
  assign,
  assignInTenant,
  instance,
  removed,
  resourceType,
  role,
  tenant,
  tenantRole,
  user,
} from '#testing/engines/changes.ts'
import { type Case, JUDGES, World } from './world.ts'

const shelf = [
  tenant('default'),
  tenant('acme'),
  user('alice'),
  user('bob'),
  resourceType('document', 'read', 'write', 'delete'),
  resourceType('folder', 'read', 'write'),
  role('document', 'viewer', { can: ['read'] }),
  role('document', 'editor', { can: ['write'], extends: ['viewer'] }),
  role('document', 'owner', { can: ['delete'], extends: ['editor'] }),
  role('folder', 'viewer', { can: ['read'] }),
  instance('document:d1'),
  instance('document:d2'),
  instance('folder:d1'),
]

const CASES: readonly Case[] = [
  [
    'a role on an instance allows its actions on that instance to its holder',
    [assign('alice', 'viewer', 'document:d1')],
    {
      'alice read document:d1': true,
      'alice write document:d1': false,
      'alice read document:d2': false,
      'bob read document:d1': false,
    },
  ],
  [
    'types that share instance keys and role keys do not share roles',
    [assign('alice', 'viewer', 'document:d1')],
    { 'alice read folder:d1': false },
  ],
  [
    'a tenant role and a resource role with the same key are different roles',
    [
      tenantRole('viewer', { can: ['document:write'] }),
      assign('alice', 'viewer', 'document:d1'),
      assignInTenant('bob', 'viewer', 'default'),
    ],
    { 'alice write document:d1': false, 'bob read document:d1': false, 'bob write document:d1': true },
  ],
  [
    'a role on an instance does not allow checks on the type as a whole or in another tenant',
    [assign('alice', 'owner', 'document:d1')],
    {
      'alice read document': false,
      'alice read document:d1 default': true,
      'alice read document:d1 acme': false,
    },
  ],
  [
    'a role has the permissions of the roles it extends, transitively, but not the reverse',
    [assign('alice', 'owner', 'document:d1'), assign('bob', 'editor', 'document:d1')],
    {
      'alice read document:d1': true,
      'alice write document:d1': true,
      'alice delete document:d1': true,
      'bob read document:d1': true,
      'bob delete document:d1': false,
    },
  ],
  [
    'roles that extend each other in a cycle have the same permissions',
    [
      role('document', 'viewer', { can: ['read'], extends: ['owner'] }),
      assign('alice', 'viewer', 'document:d1'),
    ],
    { 'alice delete document:d1': true },
  ],
  [
    'a user has the permissions of all roles on an instance, and revoking one role leaves the others',
    [
      role('document', 'shredder', { can: ['delete'] }),
      assign('alice', 'viewer', 'document:d1'),
      assign('alice', 'shredder', 'document:d1'),
    ],
    { 'alice delete document:d1': true },
    [removed(assign('alice', 'shredder', 'document:d1'))],
    { 'alice delete document:d1': false, 'alice read document:d1': true },
  ],
  [
    'a role that is put with other permissions takes effect for users who already hold it',
    [assign('alice', 'editor', 'document:d1')],
    [role('document', 'editor', { can: ['delete'] })],
    { 'alice delete document:d1': true, 'alice write document:d1': false, 'alice read document:d1': false },
  ],
  [
    'a change of a role changes the permissions of the roles that extend it',
    [assign('alice', 'owner', 'document:d1')],
    [role('document', 'viewer')],
    { 'alice read document:d1': false, 'alice write document:d1': true },
  ],
  [
    'an action that the type does not declare is denied, even if a role permits it',
    [
      role('document', 'publisher', { can: ['publish', 'read'] }),
      tenantRole('press', { can: ['document:publish', 'document:read'] }),
      assign('alice', 'publisher', 'document:d1'),
      assignInTenant('bob', 'press', 'default'),
    ],
    {
      'alice publish document:d1': false,
      'alice read document:d1': true,
      'bob publish document:d1': false,
      'bob read document:d1': true,
    },
  ],
  [
    'a permission that was put before its action has no effect',
    [
      role('document', 'publisher', { can: ['publish'] }),
      assign('alice', 'publisher', 'document:d1'),
      resourceType('document', 'read', 'write', 'delete', 'publish'),
    ],
    { 'alice publish document:d1': false },
    [role('document', 'publisher', { can: ['publish'] })],
    { 'alice publish document:d1': true },
  ],
  [
    'a resource role grants nothing on another type, even if it lists a permission of that type',
    [
      {
        ...role('folder', 'stray'),
        permissions: ['folder', 'document'].map(type => ({ type, action: 'read' })),
      },
      assign('alice', 'stray', 'folder:d1'),
    ],
    { 'alice read folder:d1': true, 'alice read document:d1': false },
  ],
  [
    'unknown users, types and actions are denied, not rejected',
    [assign('alice', 'owner', 'document:d1')],
    { 'mallory read document:d1': false, 'alice read spaceship:d1': false, 'alice fly document:d1': false },
  ],
]

describe.each(JUDGES)('$name', ({ newJudge }) => {
  for (const [name, ...steps] of CASES) {
    test(name, () => new World(newJudge(), ...shelf).follows(steps))
  }
})
