/** Lists that read roles and rules, while a commit moves a permission from one to the other. */
import { expect, test } from 'vitest'
import { listAuthorizedUsers } from '#decisions/lists/listing.ts'
import { listPermissionEntries } from '#decisions/lists/permission-entries.ts'
import { listAllowedTenants } from '#decisions/lists/tenant-lists.ts'
import type { Change } from '#model/change.ts'
import { runAtOnce } from '#scheduling/resumable.ts'
import * as of from '#testing/engines/changes.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'

const limits = { entriesMax: 10, bytesMax: 10_000 }
const attributes = { user: null, resource: null, tenant: null, context: null }
const requestAttributes = { readAt: 0, attributes }
const IN_DEFAULT = of.assignInTenant('ann', 'reader', 'default')
const ON_D: Change = of.assign('ann', 'viewer', 'document:d')

/** An engine in which `before` is true at first. `method` applies `then` when it is first called. */
function engineWith(
  before: readonly Change[],
  method: 'searchUsers' | 'searchResources' | 'tenantRolesOf',
  then: readonly Change[],
): SharedEngine {
  const engine = new SharedEngine()
  engine.apply([
    of.resourceType('document', 'read'),
    of.tenant('default'),
    of.tenantRole('reader', { can: ['document:read'] }),
    of.role('document', 'viewer', { can: ['read'] }),
    of.user('ann'),
    of.instance('document:d'),
    ...before,
  ])
  const own = engine[method].bind(engine) as (...args: never[]) => never
  let isFirst = true
  engine[method] = (...args: never[]) => {
    if (isFirst) engine.apply(then)
    isFirst = false
    return own(...args)
  }
  return engine
}

const listed = (work: Parameters<typeof runAtOnce<Uint8Array>>[0]): unknown =>
  JSON.parse(Buffer.from(runAtOnce(work)).toString())

const RULE: readonly Change[] = [of.conditionSet('ann', { 'user.key': { equals: 'ann' } }), of.ruleOf('ann')]
/** A commit after which a role allows what the rule allowed. Another rule remains. */
const moved = (role: Change): readonly Change[] => [
  of.conditionSet('ann', { 'user.key': { equals: '' } }),
  role,
]

test('a user who is moved from a rule to a role during the list is listed with the role', () => {
  const engine = engineWith(RULE, 'searchUsers', moved(IN_DEFAULT))
  const question = { action: 'read', type: 'document', key: 'd', tenant: null, requestAttributes }
  const list = listAuthorizedUsers(engine, {
    kind: 'authorized-users',
    question,
    areRulesAsked: true,
    limits,
  })
  expect(listed(list)).toMatchObject({ users: { ann: [{ role: 'reader' }] } })
})

test.each([
  ['an instance', ON_D],
  ['a tenant', IN_DEFAULT],
])('a permission that is moved from a rule to a role on %s during the list is listed', (_what, role) => {
  const engine = engineWith(RULE, 'searchResources', moved(role))
  const query = {
    user: { key: 'ann' },
    tenants: null,
    resources: null,
    resource_types: ['document', '__tenant'],
  }
  const format = 'resource:action'
  const job = { kind: 'permissions', query, limits, format, page: null, requestAttributes } as const
  const list = listed(listPermissionEntries(engine, job))
  expect(list).toMatchObject({ 'document:d': { permissions: ['document:read'] } })
})

test('a tenant in which a rule replaces a role during the list is listed', () => {
  const engine = engineWith([IN_DEFAULT], 'tenantRolesOf', [...RULE, of.removed(IN_DEFAULT)])
  const query = { user: 'ann', action: 'read', type: 'document', key: null, tenant: null, requestAttributes }
  const list = listAllowedTenants(engine, { kind: 'allowed-tenants', query, limits })
  expect(listed(list)).toMatchObject({ allowed_tenants: [{ tenant: { key: 'default' } }] })
})
