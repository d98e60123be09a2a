/** Tenant roles: where they count, and which tenant a question is about (native.md A.2, D-14, D-15). */
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
    'a tenant role allows what it names on the type and on every instance of the tenant, and nothing else',
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
    'a tenant role has the permissions of the roles it extends, transitively, and not the other way round',
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
    'a tenant role counts in its tenant only, which is that of the instance where the question names none',
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
    'without a tenant or a known instance, a question is about the default tenant',
    [assignInTenant('alice', 'reader', 'default'), assignInTenant('bob', 'reader', 'acme')],
    {
      'alice read document': true,
      'alice read document:unheard-of': true,
      'bob read document': false,
      'bob read document:unheard-of': false,
    },
  ],
  [
    'an instance nobody stored is reached by the roles of the tenant named',
    [assignInTenant('alice', 'reader', 'acme')],
    { 'alice read document:unheard-of acme': true, 'alice read document:unheard-of default': false },
  ],
  [
    'a known instance is not reached through another tenant, whatever roles are held there',
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
    'a tenant put again keeps its roles and its instances',
    [assignInTenant('alice', 'reader', 'acme')],
    [{ ...tenant('acme'), attributes: { plan: 'gold' } }],
    { 'alice read document acme': true, 'alice read document:a1': true },
  ],
  [
    'a role taken away in a tenant no longer counts there',
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
