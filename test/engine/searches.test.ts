/** Searches, listings and explanations of an engine (native.md A.2, A.4, A.5, D-14, D-36, D-46). */
import { describe, expect, test } from 'vitest'
import { NO_NEAR_MISSES, NO_RULES } from '#engine/explanation.ts'
import type { Engine, InstanceFilter, KeyPage } from '#engine/engine.ts'
import type { Change } from '#model/change.ts'
import { EXPLAIN_STEPS_MAX } from '#model/limits.ts'
import { runAtOnce } from '#scheduling/resumable.ts'
import {
  viewerBelow,
  assign,
  assignInTenant,
  heldBy,
  heldUnlessDirectBy,
  instance,
  instanceKey,
  link,
  relation,
  removed,
  resourceType,
  role,
  tenant,
  tenantRole,
  user,
} from '#testing/engines/changes.ts'
import { ENGINES } from './engines.ts'
import {
  grantsOn,
  instanceRolesOf,
  searchResources,
  searchUsers,
  tenantRolesOf,
} from '#testing/engines/listed.ts'

const ALL = { after: null, limit: 1_000 }
const ANY: InstanceFilter = { tenants: null, types: null, accepts: null }

/** An engine with short forms of queries. `on` is `type:key`, or `type` for a check on the whole type. */
class Asked {
  readonly engine: Engine

  constructor(engine: Engine, ...facts: readonly Change[]) {
    this.engine = engine
    engine.apply(facts)
  }

  apply(...changes: readonly Change[]): void {
    this.engine.apply(changes)
  }

  resources(userKey: string, action: string, type: string, inTenant: string | null = null): string[] {
    return whole(searchResources(this.engine, { user: userKey, action, type, tenant: inTenant }, ALL))
  }

  users(action: string, on: string, inTenant: string | null = null): string[] {
    return whole(searchUsers(this.engine, { action, ...place(on), tenant: inTenant }, ALL))
  }

  actions(userKey: string, on: string, inTenant: string | null = null): string[] {
    return runAtOnce(this.engine.searchActions({ user: userKey, ...place(on), tenant: inTenant }))
  }

  /** Formats each grant as `user role@type:key`, or as `user role` for a tenant role. */
  grants(action: string, on: string, inTenant: string | null = null): string[] {
    return grantsOn(this.engine, { action, ...place(on), tenant: inTenant }, 1_000)
      .map(grant => {
        const held = grant.instance ? `@${grant.instance.type}:${grant.instance.key}` : ''
        return `${grant.user} ${grant.role}${held}`
      })
      .toSorted()
  }

  /** Formats each instance as `type:key: roles: actions`. */
  held(userKey: string, filter: Partial<InstanceFilter> = {}): string[] {
    return instanceRolesOf(this.engine, userKey, { ...ANY, ...filter }, 1_000)
      .map(({ instance: { type, key }, roles, actions }) => {
        return `${type}:${key}: ${roles.toSorted().join()}: ${actions.toSorted().join()}`
      })
      .toSorted()
  }

  explain(userKey: string, action: string, on: string, inTenant: string | null = null) {
    return runAtOnce(
      this.engine.explain({ user: userKey, action, ...place(on), tenant: inTenant }, EXPLAIN_STEPS_MAX),
    )
  }
}

function whole({ keys, hasMore, total }: KeyPage): string[] {
  expect({ hasMore, total }).toEqual({ hasMore: false, total: keys.length })
  return keys
}

function place(on: string): { readonly type: string; readonly key: string | null } {
  return on.includes(':') ? instanceKey(on) : { type: on, key: null }
}

const office = [
  tenant('default'),
  tenant('acme'),
  ...['alice', 'bob', 'carol', 'dave'].map(user),
  resourceType('document', 'read', 'write', 'delete'),
  resourceType('folder', 'read'),
  resourceType('group'),
  relation('document', 'parent', 'folder'),
  relation('folder', 'parent', 'folder'),
  relation('document', 'group_viewer', 'group'),
  relation('group', 'group', 'group'),
  role('group', 'member'),
  role('group', 'member', { from: [heldBy({ role: 'member', on: 'group', over: 'group' })] }),
  role('folder', 'viewer', { can: ['read'] }),
  viewerBelow('folder', 'read'),
  role('document', 'viewer', {
    can: ['read'],
    from: [
      heldBy({ role: 'viewer', on: 'folder', over: 'parent' }),
      heldBy({ role: 'member', on: 'group', over: 'group_viewer' }),
    ],
  }),
  role('document', 'editor', { can: ['write'], extends: ['viewer'] }),
  role('document', 'guest'),
  tenantRole('reader', { can: ['document:read'] }),
  tenantRole('lead', { can: ['document:delete'], extends: ['reader'] }),
  tenantRole('nobody'),
  ...['document:d1', 'document:d2', 'folder:f1', 'folder:f2', 'group:inner', 'group:outer'].map(on =>
    instance(on),
  ),
  instance('document:a1', 'acme'),
]

/** The viewer role of `office` with a guard: folder readers, except those with a role on the document. */
const guardedViewer = role('document', 'viewer', {
  can: ['read'],
  from: [heldUnlessDirectBy({ role: 'viewer', on: 'folder', over: 'parent' })],
})

describe.each(ENGINES)('$name', ({ newEngine }) => {
  const inOffice = (...facts: readonly Change[]): Asked => new Asked(newEngine(), ...office, ...facts)

  test('keys are returned byte for byte', () => {
    const asked = inOffice(
      user('\ufeffalice'),
      instance('document:\ufeffd1'),
      assign('\ufeffalice', 'editor', 'document:\ufeffd1'),
      assign('alice', 'editor', 'document:d1'),
    )
    expect(asked.resources('\ufeffalice', 'write', 'document')).toEqual(['\ufeffd1'])
    expect(asked.users('write', 'document:\ufeffd1')).toEqual(['\ufeffalice'])
    expect(asked.grants('write', 'document:\ufeffd1')).toEqual(['\ufeffalice editor@document:\ufeffd1'])
    expect(asked.held('\ufeffalice')[0]).toContain('document:\ufeffd1')
  })

  describe('a search for resources', () => {
    test('lists every instance of a tenant in which a tenant role allows the action, and no instance of another tenant', () => {
      const asked = inOffice(assignInTenant('alice', 'lead', 'default'))
      expect(asked.resources('alice', 'read', 'document')).toEqual(['d1', 'd2'])
      expect(asked.resources('alice', 'delete', 'document')).toEqual(['d1', 'd2'])
      expect(asked.resources('alice', 'write', 'document')).toEqual([])
      expect(asked.resources('alice', 'read', 'folder')).toEqual([])
      asked.apply(assignInTenant('alice', 'reader', 'acme'))
      expect(asked.resources('alice', 'read', 'document')).toEqual(['a1', 'd1', 'd2'])
      expect(asked.resources('alice', 'delete', 'document')).toEqual(['d1', 'd2'])
    })

    test('follows groups, groups in groups and derived roles', () => {
      const asked = inOffice(
        assign('alice', 'member', 'group:inner'),
        link('group:inner', 'group', 'group:outer'),
        link('group:outer', 'group_viewer', 'document:d1'),
        assign('bob', 'viewer', 'folder:f1'),
        link('folder:f1', 'parent', 'folder:f2'),
        link('folder:f2', 'parent', 'document:d2'),
      )
      expect(asked.resources('alice', 'read', 'document')).toEqual(['d1'])
      expect(asked.resources('bob', 'read', 'document')).toEqual(['d2'])
      expect(asked.resources('bob', 'read', 'folder')).toEqual(['f1', 'f2'])
      asked.apply(removed(link('group:inner', 'group', 'group:outer')))
      expect(asked.resources('alice', 'read', 'document')).toEqual([])
    })

    test('ends if tuples form cycles', () => {
      const asked = inOffice(
        assign('alice', 'viewer', 'folder:f1'),
        link('folder:f1', 'parent', 'folder:f2'),
        link('folder:f2', 'parent', 'folder:f1'),
        link('folder:f2', 'parent', 'folder:f2'),
      )
      expect(asked.resources('alice', 'read', 'folder')).toEqual(['f1', 'f2'])
    })

    test('finds nothing for unknown names', () => {
      const asked = inOffice(assignInTenant('alice', 'lead', 'default'))
      expect(asked.resources('stranger', 'read', 'document')).toEqual([])
      expect(asked.resources('alice', 'fly', 'document')).toEqual([])
      expect(asked.resources('alice', 'read', 'castle')).toEqual([])
      expect(asked.resources('__proto__', 'constructor', 'toString')).toEqual([])
      expect(asked.users('fly', 'document:d1')).toEqual([])
      expect(asked.users('read', 'castle:c1')).toEqual([])
      expect(asked.actions('stranger', 'document:d1')).toEqual([])
      expect(asked.actions('alice', 'castle:c1')).toEqual([])
    })
  })

  describe('a search for users', () => {
    test('lists users with tenant, direct, derived and group roles, each user only once', () => {
      const asked = inOffice(
        assignInTenant('alice', 'lead', 'default'),
        assignInTenant('alice', 'reader', 'default'),
        assign('alice', 'viewer', 'document:d1'),
        assign('bob', 'editor', 'document:d1'),
        assign('carol', 'viewer', 'folder:f1'),
        link('folder:f1', 'parent', 'document:d1'),
        assign('dave', 'member', 'group:inner'),
        link('group:inner', 'group', 'group:outer'),
        link('group:outer', 'group_viewer', 'document:d1'),
      )
      expect(asked.users('read', 'document:d1')).toEqual(['alice', 'bob', 'carol', 'dave'])
      expect(asked.users('write', 'document:d1')).toEqual(['bob'])
      expect(asked.users('delete', 'document:d1')).toEqual(['alice'])
      expect(asked.users('read', 'document:d2')).toEqual(['alice'])
    })

    test('omits exactly the users that a guard blocks', () => {
      const asked = inOffice(
        guardedViewer,
        assign('alice', 'viewer', 'folder:f1'),
        assign('bob', 'viewer', 'folder:f1'),
        assign('carol', 'editor', 'document:d1'),
        link('folder:f1', 'parent', 'document:d1'),
        assign('alice', 'guest', 'document:d1'),
      )
      expect(asked.users('read', 'document:d1')).toEqual(['bob', 'carol'])
      asked.apply(assignInTenant('alice', 'reader', 'default'))
      expect(asked.users('read', 'document:d1')).toEqual(['alice', 'bob', 'carol'])
    })

    test('uses only tenant roles without a key or for an instance that is not stored (native.md D-36)', () => {
      const asked = inOffice(
        assignInTenant('alice', 'reader', 'default'),
        assignInTenant('bob', 'reader', 'acme'),
        assign('carol', 'viewer', 'document:d1'),
      )
      for (const on of ['document', 'document:unheard-of']) {
        expect(asked.users('read', on)).toEqual(['alice'])
        expect(asked.users('read', on, 'acme')).toEqual(['bob'])
        expect(asked.users('read', on, 'nowhere')).toEqual([])
      }
    })
  })

  describe('a search for actions', () => {
    test('lists all allowed actions in order, by any role', () => {
      const asked = inOffice(
        assign('alice', 'editor', 'document:d1'),
        assignInTenant('alice', 'lead', 'default'),
      )
      expect(asked.actions('alice', 'document:d1')).toEqual(['delete', 'read', 'write'])
      expect(asked.actions('alice', 'document:d2')).toEqual(['delete', 'read'])
      expect(asked.actions('bob', 'document:d1')).toEqual([])
    })
  })

  describe('a page', () => {
    // In the order of UTF-16 code units, the last two would be swapped.
    const ordered = ['!', '0', '10', '2', 'A', 'a', 'a:', 'ab', 'ß', '鍵', '\ue000', '\uffee', '😀', '😁']
    const many = (...facts: readonly Change[]): Asked =>
      inOffice(
        ...ordered
          .toReversed()
          .map((key): Change => ({ ...instance('document:d1'), instance: { type: 'document', key } })),
        ...ordered.toReversed().map(user),
        ...ordered.map(key => assignInTenant(key, 'reader', 'acme')),
        ...facts,
      )

    test('is in the order of UTF-8 bytes, including surrogate pairs (native.md D-46)', () => {
      expect(
        ordered.toSorted((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right))),
      ).toEqual(ordered)
      const asked = many(
        removed(instance('document:d1')),
        removed(instance('document:d2')),
        assignInTenant('alice', 'reader', 'default'),
      )
      expect(asked.resources('alice', 'read', 'document')).toEqual(ordered)
      expect(asked.users('read', 'document', 'acme')).toEqual(ordered)
      const fly = resourceType('machine', ...ordered.toReversed())
      asked.apply(
        fly,
        role('machine', 'all', { can: ordered }),
        instance('machine:m'),
        assign('alice', 'all', 'machine:m'),
      )
      expect(asked.actions('alice', 'machine:m')).toEqual(ordered)
    })

    test('with a limit of zero has no keys, but the total and `hasMore`', () => {
      const question = { action: 'read', type: 'document', key: null, tenant: 'acme' }
      const { engine } = many()
      const total = ordered.length
      expect(searchUsers(engine, question, { after: null, limit: 0 })).toEqual({
        keys: [],
        hasMore: true,
        last: null,
        total,
      })
      expect(searchUsers(engine, question, { after: '😁', limit: 0 })).toEqual({
        keys: [],
        hasMore: false,
        last: '😁',
        total,
      })
      const nothing = { keys: [], hasMore: false, last: null, total: 0 }
      expect(searchUsers(engine, { ...question, tenant: 'nowhere' }, { after: null, limit: 0 })).toEqual(
        nothing,
      )
    })
  })

  describe('the tenant roles of a user', () => {
    test('are listed by tenant with the permissions of the roles they extend', () => {
      const asked = inOffice(
        { ...tenant('acme'), attributes: { plan: 'gold' } },
        assignInTenant('alice', 'lead', 'default'),
        assignInTenant('alice', 'nobody', 'acme'),
        assignInTenant('bob', 'reader', 'acme'),
        assign('alice', 'editor', 'document:d1'),
      )
      const byTenant = tenantRolesOf(asked.engine, 'alice', null, 10).map(entry => ({
        ...entry,
        permissions: entry.permissions.toSorted((left, right) => (left.action < right.action ? -1 : 1)),
      }))
      expect(byTenant.toSorted((left, right) => (left.tenant < right.tenant ? -1 : 1))).toEqual([
        { tenant: 'acme', attributes: { plan: 'gold' }, roles: ['nobody'], permissions: [] },
        {
          tenant: 'default',
          attributes: null,
          roles: ['lead'],
          permissions: [
            { type: 'document', action: 'delete' },
            { type: 'document', action: 'read' },
          ],
        },
      ])
      expect(tenantRolesOf(asked.engine, 'stranger', null, 10)).toEqual([])
    })

    test('are listed only for tenants that the filter accepts', () => {
      const asked = inOffice(
        ...['t1', 't2', 't3'].flatMap(key => [tenant(key), assignInTenant('alice', 'lead', key)]),
      )
      const found = tenantRolesOf(asked.engine, 'alice', key => key === 't3', 1)
      expect(found.map(({ tenant: key }) => key)).toEqual(['t3'])
      for (const limit of [0, 2, 3, 4]) {
        expect(tenantRolesOf(asked.engine, 'alice', null, limit)).toHaveLength(Math.min(limit, 3))
      }
    })
  })

  describe('the instance roles of a user', () => {
    const facts = [
      { ...instance('document:d1'), attributes: { secret: true } },
      assign('alice', 'editor', 'document:d1'),
      assign('alice', 'guest', 'document:d2'),
      assign('alice', 'viewer', 'document:a1'),
      assign('alice', 'viewer', 'folder:f1'),
      link('folder:f1', 'parent', 'document:d1'),
      assignInTenant('alice', 'lead', 'default'),
    ]

    test('are listed by instance, direct and derived, with the permissions of resource roles only', () => {
      const asked = inOffice(...facts)
      expect(asked.held('alice')).toEqual([
        'document:a1: viewer: read',
        'document:d1: editor,viewer: read,write',
        'document:d2: guest: ',
        'folder:f1: viewer: read',
      ])
      expect(asked.held('stranger')).toEqual([])
      for (const limit of [0, 3, 4, 5]) {
        expect(instanceRolesOf(asked.engine, 'alice', ANY, limit)).toHaveLength(Math.min(limit, 4))
      }
      const [d1] = instanceRolesOf(asked.engine, 'alice', { ...ANY, accepts: ({ key }) => key === 'd1' }, 10)
      expect(d1).toMatchObject({ tenant: 'default', attributes: { secret: true } })
    })

    test('can be filtered by tenant, type and key', () => {
      const asked = inOffice(...facts)
      const keysOf = (filter: Partial<InstanceFilter>) =>
        asked.held('alice', filter).map(text => text.split(': ')[0])
      expect(keysOf({ tenants: new Set(['acme']) })).toEqual(['document:a1'])
      expect(keysOf({ types: new Set(['folder', 'castle']) })).toEqual(['folder:f1'])
      expect(keysOf({ accepts: ({ type, key }) => `${type}:${key}` === 'document:d2' })).toEqual([
        'document:d2',
      ])
      const both = { tenants: new Set(['default']), types: new Set(['document']) }
      expect(keysOf(both)).toEqual(['document:d1', 'document:d2'])
      expect(keysOf({ tenants: new Set() })).toEqual([])
    })
  })

  describe('the grants that allow a check', () => {
    test('name the assigned role: tenant role, direct role, or membership of a group', () => {
      const asked = inOffice(
        assignInTenant('alice', 'lead', 'default'),
        assignInTenant('alice', 'nobody', 'default'),
        assign('alice', 'editor', 'document:d1'),
        assign('alice', 'guest', 'document:d1'),
        assign('bob', 'viewer', 'folder:f1'),
        link('folder:f1', 'parent', 'document:d1'),
        assign('carol', 'member', 'group:inner'),
        assign('dave', 'member', 'group:outer'),
        link('group:inner', 'group', 'group:outer'),
        link('group:outer', 'group_viewer', 'document:d1'),
      )
      expect(asked.grants('read', 'document:d1')).toEqual([
        'alice editor@document:d1',
        'alice lead',
        'bob viewer@folder:f1',
        'carol member@group:inner',
        'dave member@group:outer',
      ])
      expect(asked.grants('write', 'document:d1')).toEqual(['alice editor@document:d1'])
      expect(asked.grants('read', 'document')).toEqual(['alice lead'])
      expect(asked.grants('read', 'document:unheard-of')).toEqual(['alice lead'])
      expect(asked.grants('read', 'document:d1', 'acme')).toEqual([])
      expect(asked.grants('fly', 'document:d1')).toEqual([])
    })

    test('are listed once per assignment even if derived in several ways, up to the limit', () => {
      const asked = inOffice(
        assign('alice', 'viewer', 'folder:f1'),
        link('folder:f1', 'parent', 'folder:f2'),
        link('folder:f2', 'parent', 'folder:f1'),
        link('folder:f1', 'parent', 'document:d1'),
        link('folder:f2', 'parent', 'document:d1'),
        assignInTenant('bob', 'reader', 'default'),
      )
      expect(asked.grants('read', 'document:d1')).toEqual(['alice viewer@folder:f1', 'bob reader'])
      const question = { action: 'read', type: 'document', key: 'd1', tenant: null }
      for (const limit of [0, 1, 2, 3]) {
        expect(grantsOn(asked.engine, question, limit)).toHaveLength(Math.min(limit, 2))
      }
    })
  })

  test('the tenant of an instance is known as long as the instance is stored', () => {
    const asked = inOffice()
    expect(asked.engine.tenantOf('document', 'a1')).toBe('acme')
    expect(asked.engine.tenantOf('document', 'unheard-of')).toBe(null)
    expect(asked.engine.tenantOf('castle', 'a1')).toBe(null)
    asked.apply(removed(instance('document:a1')))
    expect(asked.engine.tenantOf('document', 'a1')).toBe(null)
  })

  describe('an explanation', () => {
    const WHOLE = {
      isCutShort: false,
      steps: expect.any(Number),
      rules: NO_RULES,
      nearMisses: NO_NEAR_MISSES,
    }

    test('names the role of an allow by tenant role', () => {
      const asked = inOffice(assignInTenant('alice', 'lead', 'acme'))
      expect(asked.explain('alice', 'read', 'document:a1')).toEqual({
        allow: true,
        isAllowedByRoles: true,
        tenant: 'acme',
        known: { user: true, tenant: true, type: true, action: true, instance: true },
        isTenantMismatch: false,
        tenantRoles: { held: ['lead'], allowing: ['reader', 'lead'], isHeldAnywhere: true },
        instanceRoles: { held: [], allowing: ['viewer', 'editor'] },
        path: [{ kind: 'tenant-role', tenant: 'acme', role: 'lead' }],
        ...WHOLE,
      })
    })

    test('never uses a derivation that a guard blocks, even if another derivation has the same subject and object', () => {
      const asked = inOffice(
        relation('document', 'shelf', 'folder'),
        role('document', 'viewer', {
          can: ['read'],
          from: [
            heldUnlessDirectBy({ role: 'viewer', on: 'folder', over: 'parent' }),
            heldBy({ role: 'viewer', on: 'folder', over: 'shelf' }),
          ],
        }),
        assign('alice', 'viewer', 'folder:f1'),
        assign('alice', 'guest', 'document:d1'),
        link('folder:f1', 'parent', 'document:d1'),
        link('folder:f1', 'shelf', 'document:d1'),
      )
      const { allow, path } = asked.explain('alice', 'read', 'document:d1')
      expect(allow).toBe(true)
      expect(path.at(-1)).toMatchObject({ relation: 'shelf', derivation: { guarded: false } })
    })

    test('names the known entities and the allowing roles for a deny', () => {
      const asked = inOffice(
        assign('alice', 'guest', 'document:d1'),
        assignInTenant('alice', 'nobody', 'default'),
      )
      expect(asked.explain('alice', 'read', 'document:d1')).toEqual({
        allow: false,
        isAllowedByRoles: false,
        tenant: 'default',
        known: { user: true, tenant: true, type: true, action: true, instance: true },
        isTenantMismatch: false,
        tenantRoles: { held: ['nobody'], allowing: ['reader', 'lead'], isHeldAnywhere: true },
        instanceRoles: { held: ['guest'], allowing: ['viewer', 'editor'] },
        path: [],
        ...WHOLE,
      })
      expect(asked.explain('stranger', 'fly', 'castle:c1', 'nowhere')).toEqual({
        allow: false,
        isAllowedByRoles: false,
        tenant: 'nowhere',
        known: { user: false, tenant: false, type: false, action: false, instance: false },
        isTenantMismatch: false,
        tenantRoles: { held: [], allowing: [], isHeldAnywhere: false },
        instanceRoles: { held: [], allowing: [] },
        path: [],
        ...WHOLE,
      })
      expect(asked.explain('alice', 'read', 'document').known.instance).toBe(false)
    })

    test('reports a check in the wrong tenant', () => {
      const asked = inOffice(
        assignInTenant('alice', 'lead', 'default'),
        assign('alice', 'editor', 'document:a1'),
      )
      const wrong = asked.explain('alice', 'read', 'document:a1', 'default')
      expect(wrong).toMatchObject({ allow: false, tenant: 'default', isTenantMismatch: true, path: [] })
      expect(asked.explain('alice', 'read', 'document:a1', 'acme').isTenantMismatch).toBe(false)
    })
  })
})
