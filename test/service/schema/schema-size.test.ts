/** Limits of the schema size, with low values. `schema-compilation.test.ts` compiles the largest schema. */
import { describe, expect, test } from 'vitest'
import { EXTENDS_REACH_MAX } from '#model/limits.ts'
import { USER_TYPE_KEY } from '#model/built-in-types.ts'
import type { RoleBlock } from '#entities/role.ts'
import { putRolesInBulk } from '#management/schema/bulk-roles.ts'
import { createResource } from '#management/schema/resources.ts'
import type { ExportedSchema } from '#management/schema/transfer/schema-export.ts'
import type { SizeCeilings } from '#management/schema/schema-size.ts'
import { RunningEnvironment } from '../../support/running-environment.ts'
import { copiedSet, copyOf } from '../../support/calls/schema-copies.ts'

const LOW: SizeCeilings = {
  actions: 12,
  actionsPerResource: 8,
  permissions: 20,
  permissionsPerRole: 6,
  derivations: 4,
  conditionBytes: 100,
  mappingRules: 4,
  mappingBytes: 2_000,
}
const REFUSED = { code: 'LIMIT_EXCEEDED' }

function actions(count: number) {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`a${n}`, {}]))
}

function permissions(count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, n) => `doc:a${from + n}`)
}

function bulk(...roles: readonly (Partial<RoleBlock> & { readonly key: string })[]) {
  return { body: { operations: roles.map(role => ({ name: 'X', ...role })) } }
}

function copyOfRoles(roles: readonly (readonly [string, Partial<RoleBlock>])[]) {
  return copyOf({ tenantRoles: roles.map(([key, block]) => [key, { name: 'X', ...block }] as const) })
}

async function withActions(): Promise<RunningEnvironment> {
  const environment = await RunningEnvironment.open('memory:', undefined, LOW)
  await environment.execute('createResource', { body: { key: 'doc', name: 'Doc', actions: actions(8) } })
  return environment
}

const PERMITS: readonly (readonly [string, (it: RunningEnvironment, count: number) => Promise<unknown>])[] = [
  ['created', (it, count) => it.tenantRole('r', ...permissions(count))],
  [
    'extended',
    async (it, count) => {
      await it.execute('putRolesInBulk', bulk({ key: 'r', permissions: permissions(2) }))
      const body = { permissions: permissions(count - 2, 2) }
      await it.execute('addTenantRolePermissions', { params: { role_id: 'r' }, body })
    },
  ],
  ['with the key of a built-in resource', (it, count) => it.tenantRole(USER_TYPE_KEY, ...permissions(count))],
  [
    'put in bulk',
    (it, count) => it.execute('putRolesInBulk', bulk({ key: 'r', permissions: permissions(count) })),
  ],
  [
    'on a resource',
    (it, count) => {
      const roles = { r: { name: 'X', permissions: permissions(count) } }
      return it.execute('updateResource', { params: { resource_id: 'doc' }, body: { roles } })
    },
  ],
  [
    'imported',
    (it, count) => it.execute('importSchema', copyOfRoles([['r', { permissions: permissions(count) }]])),
  ],
]

test.each(PERMITS)('a role, %s, has a limited number of own permissions', async (_, put) => {
  await put(await withActions(), LOW.permissionsPerRole)
  await expect(put(await withActions(), LOW.permissionsPerRole + 1)).rejects.toMatchObject({
    ...REFUSED,
    message: expect.stringContaining('at most 6 are possible'),
  })
})

/** Entities of a kind with a limited total size. `full` is the limit. */
interface Total {
  readonly what: string
  readonly full: number
  /** Size of the first entity. */
  readonly first: number
  add(it: RunningEnvironment, key: string, size: number): Promise<unknown>
  change(it: RunningEnvironment, key: string, size: number): Promise<unknown>
  remove(it: RunningEnvironment, key: string): Promise<unknown>
  copied(key: string, size: number): Partial<ExportedSchema>
}

/** A condition whose JSON has `bytes` bytes. */
function conditionsOf(bytes: number) {
  const empty = { 'user.a': { equals: '' } }
  return { 'user.a': { equals: 'x'.repeat(bytes - JSON.stringify(empty).length) } }
}

/** Operations on proxy configs with these rules. */
function proxyConfigs(rulesOf: (size: number) => { url: string; http_method: 'get'; resource: string }[]) {
  const at = new Date(0).toISOString()
  return {
    add: (it: RunningEnvironment, key: string, size: number) =>
      it.execute('createProxyConfig', {
        body: { key, name: 'X', secret: 'x', mapping_rules: rulesOf(size) },
      }),
    change: (it: RunningEnvironment, key: string, size: number) =>
      it.execute('updateProxyConfig', {
        params: { proxy_config_id: key },
        body: { mapping_rules: rulesOf(size) },
      }),
    remove: (it: RunningEnvironment, key: string) =>
      it.execute('deleteProxyConfig', { params: { proxy_config_id: key } }),
    copied: (key: string, size: number) => {
      const config = { key, name: 'X', auth_mechanism: 'Bearer', created_at: at, updated_at: at } as const
      return { proxyConfigs: [{ ...config, mapping_rules: rulesOf(size) }] }
    },
  }
}

const mappingRule = (path: string) => ({
  url: `https://a.org/${path}`,
  http_method: 'get' as const,
  resource: 'doc',
})
const TOTALS: readonly Total[] = [
  {
    what: 'condition sets together would have 101 bytes of conditions, at most 100 are possible',
    full: LOW.conditionBytes,
    first: 60,
    add: (it, key, size) =>
      it.execute('createConditionSet', { body: { key, name: 'X', conditions: conditionsOf(size) } }),
    change: (it, key, size) =>
      it.execute('updateConditionSet', {
        params: { condition_set_id: key },
        body: { conditions: conditionsOf(size) },
      }),
    remove: (it, key) => it.execute('deleteConditionSet', { params: { condition_set_id: key } }),
    copied: (key, size) => ({ conditionSets: [copiedSet(key, conditionsOf(size))] }),
  },
  {
    what: 'proxy configs together would have 5 mapping rules, at most 4 are possible',
    full: LOW.mappingRules,
    first: 3,
    ...proxyConfigs(size => Array.from({ length: size }, (_, n) => mappingRule(`${n}`))),
  },
  {
    what: 'proxy configs together would have 2001 bytes of mapping rules, at most 2000 are possible',
    full: LOW.mappingBytes,
    first: 1_200,
    // The stored JSON of the rule has `size` bytes.
    ...proxyConfigs(size => {
      const kept = { url: mappingRule('').url, method: 'get', type: 'doc', action: null, priority: null }
      return [mappingRule('x'.repeat(size - JSON.stringify([{ ...kept, headers: {} }]).length))]
    }),
  },
]

test.each(TOTALS)(
  'a change is refused if it exceeds the limit: all $what',
  async ({ what, full, first, add, change, remove, copied }) => {
    const environment = await withActions()
    const rest = full - first
    const refused = { ...REFUSED, message: `all ${what}` }
    await add(environment, 'a', first)
    await expect(add(environment, 'b', rest + 1)).rejects.toMatchObject(refused)
    await add(environment, 'b', rest)
    await expect(change(environment, 'b', rest + 1)).rejects.toMatchObject(refused)
    const copy = copyOf(copied('b', rest + 1))
    await expect(environment.execute('importSchema', copy)).rejects.toMatchObject(refused)
    await change(environment, 'a', first - 1)
    await environment.execute('importSchema', copy)
    await remove(environment, 'a')
    const outcomes = await Promise.allSettled(['x', 'y'].map(key => add(environment, key, first - 1)))
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  },
)

test('deleting a resource frees the capacity of the conditions of its sets', async () => {
  const environment = await withActions()
  const conditions = { 'resource.a': conditionsOf(80)['user.a'] }
  const ofDoc = { key: 'a', name: 'X', type: 'resourceset', resource_id: 'doc', conditions } as const
  await environment.execute('createConditionSet', { body: ofDoc })
  const other = { body: { key: 'b', name: 'X', conditions: conditionsOf(90) } }
  await expect(environment.execute('createConditionSet', other)).rejects.toMatchObject(REFUSED)
  await environment.execute('deleteResource', { params: { resource_id: 'doc' } })
  await environment.execute('createConditionSet', other)
})

test('the limit of permissions counts tenant and resource roles together, and removals free capacity', async () => {
  const environment = await withActions()
  const six = { permissions: permissions(6) }
  await environment.execute('putRolesInBulk', bulk({ key: 'a', ...six }, { key: 'b', ...six }))
  const ofDoc = { body: { key: 'c', name: 'X', ...six }, params: { resource_id: 'doc' } }
  await environment.execute('createResourceRole', ofDoc)
  const three = bulk({ key: 'd', permissions: permissions(3) })
  await expect(environment.execute('putRolesInBulk', three)).rejects.toMatchObject(REFUSED)
  await expect(
    environment.execute('importSchema', copyOfRoles([['d', { permissions: permissions(3) }]])),
  ).rejects.toMatchObject(REFUSED)
  await environment.execute('putRolesInBulk', bulk({ key: 'd', permissions: permissions(2) }))
  // Five roles have the permission, and each loses it with the action.
  await environment.execute('deleteAction', { params: { resource_id: 'doc', action_id: 'a0' } })
  await environment.execute('putRolesInBulk', bulk({ key: 'e', permissions: permissions(4, 1) }))
  const one = bulk({ key: 'f', permissions: permissions(1, 1) })
  await expect(environment.execute('putRolesInBulk', one)).rejects.toMatchObject(REFUSED)
  await environment.execute('deleteTenantRole', { params: { role_id: 'e' } })
  await environment.execute('deleteResourceRole', { params: { resource_id: 'doc', role_id: 'c' } })
  await environment.execute('putRolesInBulk', one)
})

test('only one of several concurrent bulks commits if the capacity suffices for only one', async () => {
  const environment = await withActions()
  await environment.execute('putRolesInBulk', bulk({ key: 'a', permissions: permissions(6) }))
  const outcomes = await Promise.allSettled(
    ['x', 'y', 'z'].map(key =>
      environment.execute(
        'putRolesInBulk',
        bulk({ key, permissions: permissions(6) }, { key: `${key}2`, permissions: permissions(4) }),
      ),
    ),
  )
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected', 'rejected'])
  expect(environment.count('role')).toBe(3)
})

test('the number of actions is limited per resource and per environment, including actions created one by one', async () => {
  const environment = await withActions()
  const one = { params: { resource_id: 'doc' }, body: { key: 'more', name: 'X' } }
  await expect(environment.execute('createAction', one)).rejects.toMatchObject(REFUSED)
  const resource = (key: string, count: number) => ({ body: { key, name: 'X', actions: actions(count) } })
  await expect(environment.execute('createResource', resource('b', 5))).rejects.toMatchObject(REFUSED)
  await environment.execute('createResource', resource('b', 4))
  await environment.execute('deleteResource', { params: { resource_id: 'doc' } })
  await environment.execute('createResource', resource('c', 8))
})

test('the number of derivations of all roles together is limited', async () => {
  const environment = await withActions()
  const grant = (n: number) => ({ role: `r${n}`, on_resource: 'doc', linked_by_relation: 'parent' })
  const roles = Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`r${n}`, { name: 'X' }]))
  const params = { resource_id: 'doc' }
  await environment.execute('updateResource', { params, body: { roles, relations: { parent: 'doc' } } })
  const put = (count: number) =>
    environment.execute('updateResourceRole', {
      params: { resource_id: 'doc', role_id: 'r0' },
      body: { granted_to: { users_with_role: Array.from({ length: count }, (_, n) => grant(n)) } },
    })
  await expect(put(5)).rejects.toMatchObject(REFUSED)
  await put(4)
})

test('a schema above the limits, from an earlier release, cannot grow, but can shrink or stay the same', async () => {
  const environment = await RunningEnvironment.open('memory:', undefined, LOW)
  const roles = ['a', 'b', 'c'].map(key => ({ key, permissions: permissions(8) }))
  // An earlier release ran these commands without limits.
  await environment.onOneState(context =>
    createResource(context, { body: { key: 'doc', name: 'Doc', actions: actions(8) } }),
  )
  await environment.onOneState(context => putRolesInBulk(context, bulk(...roles)))
  await environment.execute('updateTenantRole', { params: { role_id: 'a' }, body: { name: 'Y' } })
  await expect(
    environment.execute('putRolesInBulk', bulk({ key: 'd', permissions: permissions(1) })),
  ).rejects.toMatchObject(REFUSED)
  await environment.execute('putRolesInBulk', bulk({ key: 'a', permissions: permissions(7) }))
})

describe('a role cannot extend more roles than the limit', () => {
  const chain = (length: number, prefix = 'c') =>
    Array.from({ length }, (_, n) => ({
      key: `${prefix}${n}`,
      extends: n + 1 < length ? [`${prefix}${n + 1}`] : [],
    }))

  test('even if it extends a role that is later changed to extend another role', async () => {
    const environment = await RunningEnvironment.open()
    await environment.execute('putRolesInBulk', bulk(...chain(EXTENDS_REACH_MAX + 1), { key: 'more' }))
    const last = { params: { role_id: `c${EXTENDS_REACH_MAX}` }, body: { extends: ['more'] } }
    await expect(environment.execute('updateTenantRole', last)).rejects.toMatchObject({
      ...REFUSED,
      message: expect.stringContaining('"c0"'),
    })
    await environment.execute('updateTenantRole', { params: { role_id: 'c0' }, body: { extends: [] } })
    await environment.execute('updateTenantRole', last)
  })

  test.each<[string, (environment: RunningEnvironment, roles: ReturnType<typeof chain>) => Promise<unknown>]>(
    [
      ['put in bulk', (environment, roles) => environment.execute('putRolesInBulk', bulk(...roles))],
      [
        'imported',
        (environment, roles) =>
          environment.execute('importSchema', copyOfRoles(roles.map(({ key, ...block }) => [key, block]))),
      ],
    ],
  )('independent of the order in which roles are %s', async (_, put) => {
    const environment = await RunningEnvironment.open()
    for (const roles of [chain(EXTENDS_REACH_MAX + 2), chain(EXTENDS_REACH_MAX + 2).toReversed()]) {
      await expect(put(environment, roles)).rejects.toMatchObject(REFUSED)
    }
    await put(environment, chain(EXTENDS_REACH_MAX + 1).toReversed())
  })
})
