/** Lists that read roles and rules, while a commit moves a permission from one to the other. */
import { expect, test } from 'vitest'
import { listAuthorizedUsers } from '#decisions/lists/listing.ts'
import { listAllowedTenants } from '#decisions/lists/tenant-lists.ts'
import { readWith } from '#decisions/sliced-job.ts'
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

type Method = 'searchUsers' | 'searchResources' | 'tenantRolesOf' | 'rolesOf' | 'grantsOn'

/**
 * Creates a list. Commits `then` when `method` of the engine is first called or, with `after`, when this call
 * is complete.
 */
function listed(
  before: readonly Change[],
  method: Method | `after ${Method}`,
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
  const isAfter = method.startsWith('after ')
  const name = method.replace('after ', '') as Method
  const own = engine[name].bind(engine) as (...args: never[]) => Resumable<never>
  engine[name] = function* (...args: never[]) {
    if (!isAfter) engine.apply(then.splice(0))
    const read = yield* own(...args)
    engine.apply(then.splice(0))
    return read
  }
  return JSON.parse(Buffer.from(runAtOnce(list(engine))).toString())
}

const WITHOUT_RULES = RULE.toReversed().map(of.removed)

test.each([
  ['when the rules are read', 'searchUsers', [ruleFor(''), IN_TENANT]],
  ['when the grants have been read, and no rule is left', 'after grantsOn', [...WITHOUT_RULES, IN_TENANT]],
] as const)('a user who is moved from a rule to a role %s is listed with the role', (_when, method, then) => {
  const question = { action: 'read', type: 'document', key: 'd', tenant: null, requestAttributes }
  const job = { kind: 'authorized-users', question, areRulesAsked: true, limits } as const
  const list = listed(RULE, method, [...then], on => listAuthorizedUsers(on, job))
  expect(list).toMatchObject({ users: { ann: [{ role: 'reader' }] } })
})

const TO_ROLE = 'moves from a rule to a role'

test.each([
  [`${TO_ROLE} on the instance`, RULE, 'searchResources', [ruleFor(''), ON_D]],
  [`${TO_ROLE} in the tenant`, RULE, 'searchResources', [ruleFor(''), IN_TENANT]],
  [`${TO_ROLE}, and no rule is left,`, RULE, 'after rolesOf', [...WITHOUT_RULES, ON_D]],
  ['moves from a role to the first rule', [ON_D], 'rolesOf', [...RULE, of.removed(ON_D)]],
] as const)('a permission that %s during the list is listed', (_which, before, method, then) => {
  const resource_types = ['document', '__tenant']
  const query = { user: { key: 'ann' }, tenants: null, resources: null, resource_types }
  const format = 'resource:action'
  const job = { kind: 'permissions', query, limits, format, page: null, requestAttributes } as const
  const list = listed(before, method, [...then], on => readWith<'permissions'>(on, job))
  expect(list).toMatchObject({ 'document:d': { permissions: ['document:read'] } })
})

test('a tenant in which a rule replaces a role during the list is listed', () => {
  const query = { user: 'ann', action: 'read', type: 'document', key: null, tenant: null, requestAttributes }
  const job = { kind: 'allowed-tenants', query, limits } as const
  const then = [...RULE, of.removed(IN_TENANT)]
  const list = listed([IN_TENANT], 'tenantRolesOf', then, on => listAllowedTenants(on, job))
  expect(list).toMatchObject({ allowed_tenants: [{ tenant: { key: 'default' } }] })
})
