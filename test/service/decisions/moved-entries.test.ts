/** Lists that read roles and rules, while a commit moves a permission from one to the other. */
import { expect, test } from 'vitest'
import { listAuthorizedUsers } from '#decisions/lists/listing.ts'
import { listPermissionEntries } from '#decisions/lists/permission-entries.ts'
import { listAllowedTenants } from '#decisions/lists/tenant-lists.ts'
import type { DecisionEngine } from '#engine/engine.ts'
import type { Change } from '#model/change.ts'
import { type Resumable, runAtOnce } from '#scheduling/resumable.ts'
import * as of from '#testing/engines/changes.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'

const limits = { entriesMax: 10, bytesMax: 10_000 }
const attributes = { user: null, resource: null, tenant: null, context: null }
const requestAttributes = { readAt: 0, attributes }
const IN_TENANT = of.assignInTenant('ann', 'reader', 'default')
const ON_D: Change = of.assign('ann', 'viewer', 'document:d')
const ruleFor = (key: string) => of.conditionSet('ann', { 'user.key': { equals: key } })
const RULE: readonly Change[] = [ruleFor('ann'), of.ruleOf('ann')]

/** Creates a list. `method` of the engine commits `then` when it is first called. */
function listed(
  before: readonly Change[],
  method: 'searchUsers' | 'searchResources' | 'tenantRolesOf',
  then: Change[],
  list: (engine: DecisionEngine) => Resumable<Uint8Array>,
): unknown {
  const engine = new SharedEngine()
  const roles = [
    of.tenantRole('reader', { can: ['document:read'] }),
    of.role('document', 'viewer', { can: ['read'] }),
  ]
  engine.apply([of.resourceType('document', 'read'), of.tenant('default'), ...roles])
  engine.apply([of.user('ann'), of.instance('document:d'), ...before])
  const own = engine[method].bind(engine) as (...args: never[]) => never
  engine[method] = (...args: never[]) => {
    engine.apply(then.splice(0))
    return own(...args)
  }
  return JSON.parse(Buffer.from(runAtOnce(list(engine))).toString())
}

test('a user who is moved from a rule to a role during the list is listed with the role', () => {
  const question = { action: 'read', type: 'document', key: 'd', tenant: null, requestAttributes }
  const job = { kind: 'authorized-users', question, areRulesAsked: true, limits } as const
  const list = listed(RULE, 'searchUsers', [ruleFor(''), IN_TENANT], on => listAuthorizedUsers(on, job))
  expect(list).toMatchObject({ users: { ann: [{ role: 'reader' }] } })
})

test.each([ON_D, IN_TENANT])(
  'a permission that moves from a rule to a role during the list is listed',
  role => {
    const query = {
      user: { key: 'ann' },
      tenants: null,
      resources: null,
      resource_types: ['document', '__tenant'],
    }
    const job = {
      kind: 'permissions',
      query,
      limits,
      format: 'resource:action',
      page: null,
      requestAttributes,
    } as const
    const list = listed(RULE, 'searchResources', [ruleFor(''), role], on => listPermissionEntries(on, job))
    expect(list).toMatchObject({ 'document:d': { permissions: ['document:read'] } })
  },
)

test('a tenant in which a rule replaces a role during the list is listed', () => {
  const query = { user: 'ann', action: 'read', type: 'document', key: null, tenant: null, requestAttributes }
  const job = { kind: 'allowed-tenants', query, limits } as const
  const then = [...RULE, of.removed(IN_TENANT)]
  const list = listed([IN_TENANT], 'tenantRolesOf', then, on => listAllowedTenants(on, job))
  expect(list).toMatchObject({ allowed_tenants: [{ tenant: { key: 'default' } }] })
})
