/**
 * The ceiling of delegates (administration.md D5), with random models and histories: an accepted change of a
 * delegate alters only roles in its list, and only in its tenants. Roles are computed by the oracle.
 */
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { WriteContext } from '#management/drafts/context.ts'
import { limitedTo } from '#management/delegation/delegated-command.ts'
import { writes } from '#management/facts/user-roles.ts'
import { isResumable, runAtOnce } from '#scheduling/resumable.ts'
import { assert } from '#model/assert.ts'
import type { OperationName } from '#management/environment/operations.ts'
import { AuthzError, ConflictError } from '#model/errors.ts'
import type { Delegation } from '#model/principal.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { howToRepeat, valuesUntilMet } from '../properties/seeded.ts'
import { RunningEnvironment } from '../support/running-environment.ts'
import { anyStep, FACTS, FOUNDATION, NAMES, type Step } from './random-management.ts'

const { assignUserRole } = writes
const { TYPES, ROLES, TENANT_ROLES, USERS, KEYS, LINKS } = NAMES
const ALL_ROLES = [...TENANT_ROLES, ...TYPES.flatMap(type => ROLES.map(role => `${type}#${role}`))]
const TENANTS = ['default', 'acme']

const anyKey = fc.constantFrom('k0', 'k0', 'k0', 'k1', 'k1', 'k2', 'k3')
const instance = fc
  .tuple(fc.constantFrom('folder', 'folder', 'document', 'document', 'group'), anyKey)
  .map(parts => parts.join(':'))
const group = fc.constantFrom('group:k0', 'group:k0', 'group:k1', 'squad:k0')
const anyUser = fc.constantFrom(...USERS)
const anyRole = fc.constantFrom(...ROLES)
const tenant = fc.constantFrom('default', 'default', 'acme')
const assignment = fc.oneof(
  { weight: 4, arbitrary: fc.record({ user: anyUser, role: anyRole, resource_instance: instance }) },
  { weight: 1, arbitrary: fc.record({ user: anyUser, role: fc.constantFrom(...TENANT_ROLES), tenant }) },
)
const tuple = fc
  .tuple(fc.constantFrom(...LINKS), anyKey, anyKey)
  .map(([[from, relation, to], one, other]) => ({
    subject: `${from}:${one}`,
    relation,
    object: `${to}:${other}`,
  }))
const several = <Value>(value: Arbitrary<Value>) => fc.array(value, { minLength: 1, maxLength: 3 })
const ofGroup = group.map(group_instance_key => ({ group_instance_key }))
const member = fc.record({ group_instance_key: group, user_id: anyUser })
const grant = fc.record({
  role: anyRole,
  resource: fc.constantFrom('folder', 'document', 'document', 'group'),
  resource_instance: anyKey,
  tenant,
})

const of = (operation: OperationName, parts: Record<string, Arbitrary<unknown>>): Arbitrary<Step> =>
  fc.record({ query: fc.constant({}), ...parts }).map(input => ({ operation, input }) as unknown as Step)

/** Every operation that is open to delegates for writing. */
const change: Arbitrary<Step> = fc.oneof(
  of('createRoleAssignment', { body: assignment }),
  of('deleteRoleAssignment', { body: assignment }),
  of('assignRoles', { body: several(assignment) }),
  of('unassignRoles', { body: several(assignment) }),
  of('assignUserRole', { params: anyUser.map(user_id => ({ user_id })), body: assignment }),
  of('unassignUserRole', { params: anyUser.map(user_id => ({ user_id })), body: assignment }),
  of('createRelationshipTuple', { body: tuple }),
  of('deleteRelationshipTuple', { body: tuple }),
  of('createRelationshipTuples', { body: several(tuple).map(operations => ({ operations })) }),
  of('deleteRelationshipTuples', { body: several(tuple).map(idents => ({ idents })) }),
  of('addGroupMember', { params: member, body: fc.record({ tenant }) }),
  of('removeGroupMember', { params: member, body: fc.constant(undefined) }),
  of('addGroupRole', { params: ofGroup, body: grant }),
  of('removeGroupRole', { params: ofGroup, body: grant }),
  of('assignGroup', { params: ofGroup, body: ofGroup }),
  of('unassignGroup', { params: ofGroup, body: ofGroup }),
)
const few = fc.subarray(ALL_ROLES, { maxLength: 4 })
const limits = fc.record({
  tenants: fc.constantFrom(['default'], ['default'], ['acme'], TENANTS),
  roles: fc.oneof(
    fc.subarray(ALL_ROLES),
    few.map(missing => ALL_ROLES.filter(name => !missing.includes(name))),
  ),
})
/** Removals after which little is left to change. */
const DESTRUCTIVE: readonly string[] = ['deleteResource', 'replaceResource', 'updateResource', 'deleteGroup']
const ownersStep = fc.oneof(
  anyStep.filter(({ operation }) => !DESTRUCTIVE.includes(operation)),
  change,
)
/** Changes of the owner of the model, and after each of them changes of delegates. */
const history = fc.array(
  fc.tuple(ownersStep, fc.array(fc.tuple(limits, change), { minLength: 6, maxLength: 6 })),
  { minLength: 50, maxLength: 50, size: 'max' },
)

const INSTANCES = ['folder', 'document'].flatMap(type =>
  KEYS.slice(2).map((key): Step => {
    const body = { resource: type, key, tenant: key === 'k3' ? 'acme' : 'default' }
    return { operation: 'createResourceInstance', input: { body } }
  }),
)
const DERIVATIONS = [
  ['document', 'viewer', 'folder', 'viewer', 'parent', false],
  ['folder', 'editor', 'folder', 'owner', 'inside', true],
].map((parts): Step => {
  const [resource_id, role_id, on_resource, source, linked_by_relation] = parts as string[]
  const when = { no_direct_roles_on_object: parts[5] === true }
  const body = { role: source!, on_resource: on_resource!, linked_by_relation: linked_by_relation!, when }
  const params = { resource_id: resource_id!, role_id: role_id! }
  return { operation: 'addImplicitGrant', input: { params, body } }
})

async function withFacts(): Promise<RunningEnvironment> {
  const environment = await RunningEnvironment.open()
  const steps = [...FOUNDATION, ...FACTS, ...INSTANCES, ...DERIVATIONS]
  for (const { operation, input } of steps) await environment.execute(operation, input)
  return environment
}

async function tenantId(environment: RunningEnvironment): Promise<string> {
  return (await environment.execute('getTenant', { params: { tenant_id: 'default' } })).id
}

function assignOwner(context: WriteContext) {
  const body = { role: 'owner', resource_instance: 'folder:k1' }
  return assignUserRole(context, { params: { user_id: 'cid' }, body })
}

async function outcome(environment: RunningEnvironment, step: Step, delegation: Delegation | null = null) {
  try {
    await environment.execute(step.operation, step.input, delegation && [delegation])
    return 'done'
  } catch (error) {
    if (!(error instanceof AuthzError) || error.code === 'INTERNAL') throw error
    return error.code
  }
}

/** All roles of all users: the tenant where each is held, and its name in the list of a delegate. */
function rolesIn(environment: RunningEnvironment): Map<string, { tenant: string; role: string }> {
  const oracle = environment.oracle()
  const facts = oracle.currentFacts()
  const homes = new Map<string, string>()
  const held = new Map<string, { tenant: string; role: string }>()
  for (const fact of facts) {
    if (fact.kind === 'instance-put') homes.set(`${fact.instance.type}:${fact.instance.key}`, fact.tenant)
    if (fact.kind !== 'assignment-put' || !('tenant' in fact.scope)) continue
    const { tenant: home } = fact.scope
    held.set(`${fact.user} ${fact.role} ${home}`, { tenant: home, role: fact.role })
  }
  for (const name of USERS)
    for (const { instance: on, role: key } of oracle.effectiveRoles(name)) {
      const reference = `${on.type}:${on.key}`
      held.set(`${name} ${key} ${reference}`, { tenant: homes.get(reference)!, role: `${on.type}#${key}` })
    }
  return held
}

function changed<Value>(before: ReadonlyMap<string, Value>, after: ReadonlyMap<string, Value>): Value[] {
  const only = (one: ReadonlyMap<string, Value>, other: ReadonlyMap<string, Value>) =>
    [...one].flatMap(([name, value]) => (other.has(name) ? [] : [value]))
  return [...only(before, after), ...only(after, before)]
}

describe('a change of a delegate', () => {
  test('alters no role outside its list and its tenants, for any user and instance', async () => {
    const met = { done: 0, altered: 0, several: 0, FORBIDDEN: 0 }
    const coverage = { met, least: { done: 150, altered: 80, several: 20, FORBIDDEN: 150 } }
    for (const rounds of valuesUntilMet(history, 100, coverage)) {
      const environment = await withFacts()
      for (const [first, attempts] of rounds) {
        await outcome(environment, first)
        let before = rolesIn(environment)
        for (const [{ tenants, roles }, step] of attempts) {
          const stored = [...environment.reader().list('tenant', lists.all('tenant'))]
          const ids = stored.filter(({ key }) => tenants.includes(key)).map(({ id }) => id)
          const result = await outcome(environment, step, { tenants: ids, roles })
          const after = rolesIn(environment)
          const altered = changed(before, after)
          const outside = altered.filter(held => !roles.includes(held.role) || !tenants.includes(held.tenant))
          expect([howToRepeat, step, result, outside]).toEqual([howToRepeat, step, result, []])
          if (result !== 'done') expect(altered).toEqual([])
          if (result in met) met[result as keyof typeof met] += 1
          if (altered.length > 0) met.altered += 1
          if (altered.length > 1) met.several += 1
          before = after
        }
      }
      await environment.close()
    }
  })

  test('is rejected if it would write anything but grants, whatever the operation', async () => {
    const environment = await withFacts()
    const delegation = { tenants: [await tenantId(environment)], roles: ALL_ROLES }
    const document = { resource_id: 'document' }
    const steps: readonly Step[] = [
      { operation: 'createUser', input: { body: { key: 'eve' } } },
      { operation: 'deleteUser', input: { params: { user_id: 'ann' } } },
      { operation: 'updateTenant', input: { params: { tenant_id: 'default' }, body: { name: 'Mine' } } },
      { operation: 'deleteTenant', input: { params: { tenant_id: 'default' } } },
      { operation: 'deleteGroup', input: { params: { group_instance_key: 'group:k0' } } },
      { operation: 'deleteResourceInstance', input: { params: { instance_id: 'folder:k0' } } },
      { operation: 'deleteResource', input: { params: document } },
      {
        operation: 'createRelation',
        input: { params: document, body: { key: 'r', name: 'R', subject_resource: 'folder' } },
      },
      { operation: 'deleteRelation', input: { params: { ...document, relation_id: 'parent' } } },
      {
        operation: 'createResourceRole',
        input: { params: document, body: { key: 'r', permissions: ['read'], name: 'R' } },
      },
      {
        operation: 'updateResourceRole',
        input: { params: { ...document, role_id: 'viewer' }, body: { permissions: ['write'] } },
      },
      { operation: 'deleteResourceRole', input: { params: { ...document, role_id: 'viewer' } } },
      {
        operation: 'addImplicitGrant',
        input: {
          params: { ...document, role_id: 'owner' },
          body: { role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' },
        },
      },
      {
        operation: 'setImplicitGrantConditions',
        input: { params: { ...document, role_id: 'viewer' }, body: { no_direct_roles_on_object: true } },
      },
    ]
    for (const step of steps)
      expect([step.operation, await outcome(environment, step, delegation)]).toEqual([
        step.operation,
        'FORBIDDEN',
      ])
  })

  test('that two delegates make at the same time must be allowed after the other one', async () => {
    const environment = await withFacts()
    const tenants = [await tenantId(environment)]
    const assign = (user: string) =>
      limitedTo([{ tenants, roles: ALL_ROLES }], context =>
        assignUserRole(context, {
          params: { user_id: user },
          body: { role: 'owner', resource_instance: 'folder:k1' },
        }),
      )
    expect(await environment.onOneState(assign('ann'), assign('ben'))).toEqual([true, false])
    expect(await environment.onOneState(assign('dee'), limitedTo(null, assignOwner))).toEqual([true, true])
  })

  test('runs again if other changes are made while it is checked', async () => {
    const environment = await withFacts()
    const operations = Array.from({ length: 100 }, (_, index) => ({
      subject: 'folder:k0',
      relation: 'parent',
      object: `document:d${index}`,
      tenant: 'default',
    }))
    await environment.execute('createRelationshipTuples', { body: { operations } })
    const command = limitedTo([{ tenants: [await tenantId(environment)], roles: ALL_ROLES }], context =>
      assignUserRole(context, {
        params: { user_id: 'dee' },
        body: { role: 'viewer', resource_instance: 'folder:k0' },
      }),
    )
    for (const isDisturbed of [true, false]) {
      const { work } = environment.attempt(command)
      assert(isResumable(work), 'the command of a delegate pauses')
      expect(work.next().done).toBe(false)
      if (isDisturbed) await environment.users('other')
      if (isDisturbed) expect(() => runAtOnce(work)).toThrow(ConflictError)
      else runAtOnce(work)
    }
  })

  test('is rejected if more than 10,000 roles and tuples follow from it', async () => {
    const environment = await withFacts()
    const roles = Array.from({ length: 10 }, (_, index) => `r${index}`)
    const users_with_role = roles.map(role => ({ role, on_resource: 'knot', linked_by_relation: 'next' }))
    await environment.resource('knot', [], Object.fromEntries(roles.map(role => [role, []])), {
      next: 'knot',
    })
    for (const role_id of roles)
      await environment.execute('updateResourceRole', {
        params: { resource_id: 'knot', role_id },
        body: { granted_to: { users_with_role } },
      })
    const tie = (count: number) => {
      const knots = Array.from({ length: count }, (_, index) => `knot:${index}`)
      const operations = knots.flatMap(subject =>
        knots.map(object => ({ subject, relation: 'next', object, tenant: 'default' })),
      )
      return environment.execute('createRelationshipTuples', { body: { operations } })
    }
    const delegation = {
      tenants: [await tenantId(environment)],
      roles: roles.map(role => `knot#${role}`),
    }
    const assign = (user: string): Step => ({
      operation: 'createRoleAssignment',
      input: { body: { user, role: 'r0', resource_instance: 'knot:0' } },
    })
    // 9 knots: 90 roles, each with 10 derivations over 9 tuples.
    await tie(9)
    expect(await outcome(environment, assign('ann'), delegation)).toBe('done')
    await tie(10)
    expect(await outcome(environment, assign('ben'), delegation)).toBe('LIMIT_EXCEEDED')
  })
})
