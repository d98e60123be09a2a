/** Tenant roles: their scope, and the tenant of a check (native.md A.2, D-14, D-15). */
import { describe, test } from 'vitest'
import {
  assignInTenant,
  heldBy,
  instance,
  relation,
  removed,
  resourceType,
  role,
  tenant,
  tenantRole,
  user,
} from '#testing/engines/changes.ts'
import { type Case, JUDGES, World } from './world.ts'

const office = [
  tenant('default'),
  tenant('acme'),
  user('alice'),
  user('bob'),
  resourceType('document', 'read', 'write'),
  resourceType('folder', 'read'),
  tenantRole('reader', { can: ['document:read'] }),
  tenantRole('writer', { can: ['document:write'], extends: ['reader'] }),
  tenantRole('owner', { extends: ['writer'] }),
  tenantRole('guest'),
  instance('document:d1'),
  instance('document:a1', 'acme'),
]

const CASES: readonly Case[] = [
  [
    'a tenant role allows its permissions on the type and on every instance of the tenant only',
    [assignInTenant('alice', 'reader', 'default')],
    {
      'alice read document default': true,
      'alice read document:d1 default': true,
      'bob read document:d1 default': false,
      'alice write document:d1': false,
      'alice read folder': false,
    },
  ],
  [
    'a tenant role without permissions allows nothing',
    [assignInTenant('alice', 'guest', 'default')],
    { 'alice read document': false },
  ],
  [
    'a tenant role has the permissions of the roles it extends, transitively, but not the reverse',
    [assignInTenant('alice', 'owner', 'default'), assignInTenant('bob', 'reader', 'default')],
    { 'alice read document': true, 'alice write document': true, 'bob write document': false },
  ],
  [
    'a tenant role does not extend a resource role of the same name',
    [
      role('document', 'editor', { can: ['write'] }),
      tenantRole('lead', { extends: ['editor'] }),
      assignInTenant('alice', 'lead', 'default'),
    ],
    { 'alice write document:d1': false },
  ],
  [
    'a derivation on a tenant role has no effect',
    [
      relation('document', 'parent', 'folder'),
      role('folder', 'keeper'),
      tenantRole('reader', {
        can: ['document:read'],
        from: [heldBy({ role: 'keeper', on: 'folder', over: 'parent' })],
      }),
    ],
    { 'alice read document:d1': false },
  ],
  [
    'a tenant role is effective only in its tenant; the tenant of a check is that of its instance by default',
    [assignInTenant('alice', 'reader', 'acme')],
    {
      'alice read document acme': true,
      'alice read document default': false,
      'alice read document:d1 default': false,
      'alice read document:a1': true,
      'alice read document:d1': false,
    },
  ],
  [
    'a check without a tenant or a known instance is made in the default tenant',
    [assignInTenant('alice', 'reader', 'default'), assignInTenant('bob', 'reader', 'acme')],
    {
      'alice read document': true,
      'alice read document:unheard-of': true,
      'bob read document': false,
      'bob read document:unheard-of': false,
    },
  ],
  [
    'tenant roles apply to an instance that is not stored, in the tenant of the check',
    [assignInTenant('alice', 'reader', 'acme')],
    { 'alice read document:unheard-of acme': true, 'alice read document:unheard-of default': false },
  ],
  [
    'a known instance is denied in another tenant, even for users with roles there',
    [assignInTenant('alice', 'owner', 'default'), assignInTenant('alice', 'owner', 'acme')],
    {
      'alice read document:a1 acme': true,
      'alice read document:a1 default': false,
      'alice read document:a1 nowhere': false,
    },
    [removed(instance('document:a1'))],
    { 'alice read document:a1 default': true },
  ],
  [
    'a tenant that is put again keeps its roles and its instances',
    [assignInTenant('alice', 'reader', 'acme')],
    [{ ...tenant('acme'), attributes: { plan: 'gold' } }],
    { 'alice read document acme': true, 'alice read document:a1': true },
  ],
  [
    'a role revoked in a tenant is no longer effective there',
    [assignInTenant('alice', 'reader', 'default')],
    [removed(assignInTenant('alice', 'reader', 'acme'))],
    { 'alice read document': true },
    [removed(assignInTenant('alice', 'reader', 'default'))],
    { 'alice read document': false },
  ],
]

describe.each(JUDGES)('$name', ({ newJudge }) => {
  for (const [name, ...steps] of CASES) {
    test(name, () => new World(newJudge(), ...office).follows(steps))
  }
})
