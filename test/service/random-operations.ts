/**
 * Random management of one environment: operations drawn over a few names, so that they meet, collide and undo each
 * other. Many are refused; which, is the service's business.
 */
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import type { Query } from '#model/decision.ts'
import type { OperationInput, OperationName } from '#management/environment/operations.ts'

/** An operation with its input, as data. */
export type Step = {
  [Name in OperationName]: { readonly operation: Name; readonly input: OperationInput<Name> }
}[OperationName]

const TYPES = ['folder', 'document', 'group', 'squad'] as const
const ACTIONS = ['read', 'write'] as const
const ROLES = ['viewer', 'editor', 'owner', 'member'] as const
const RELATIONS = ['parent', 'inside', 'group', 'squad', 'group_group_viewer', 'group_group_editor'] as const
/** Subject type, relation, object type, as they mostly fit. */
const LINKS = [
  ['folder', 'parent', 'document'],
  ['folder', 'inside', 'folder'],
  ['group', 'group', 'group'],
  ['group', 'group_group_viewer', 'document'],
  ['group', 'group_group_editor', 'folder'],
  ['squad', 'squad_group_viewer', 'document'],
] as const
const TENANT_ROLES = ['auditor', 'admin'] as const
const TENANTS = ['default', 'default', 'default', 'acme'] as const
const USERS = ['ann', 'ben', 'cid', 'dee'] as const
const KEYS = ['k0', 'k1', 'k2', 'k3'] as const

const type = fc.constantFrom(...TYPES)
const thing = fc.constantFrom('folder', 'document')
const mostlyThing = fc.constantFrom('folder', 'document', 'document', 'group')
const role = fc.constantFrom(...ROLES)
const tenant = fc.constantFrom(...TENANTS)
const user = fc.constantFrom(...USERS)
const key = fc.constantFrom(...KEYS)
const relation = fc.constantFrom(...RELATIONS)
const instance = fc.tuple(type, key).map(parts => parts.join(':'))
const group = fc.tuple(fc.constantFrom('group', 'group', 'squad'), key).map(parts => parts.join(':'))

/** What stands before the random part: two types that can hold each other, two groups, everybody. */
export const FOUNDATION: readonly Step[] = [
  { operation: 'createResource', input: { body: resource('folder', { inside: 'folder' }) } },
  { operation: 'createResource', input: { body: resource('document', { parent: 'folder' }) } },
  { operation: 'createTenant', input: { body: { key: 'acme', name: 'Acme' } } },
  ...USERS.map((name): Step => ({ operation: 'createUser', input: { body: { key: name } } })),
  ...['group:k0', 'group:k1', 'squad:k0'].map((name): Step => ({
    operation: 'createGroup',
    input: { body: { group_instance_key: name, group_tenant: 'default' } },
  })),
  {
    operation: 'createTenantRole',
    input: { body: { key: 'auditor', name: 'Auditor', permissions: ['document:read'] } },
  },
]

function resource(name: string, relations: Record<string, string>) {
  return {
    key: name,
    name,
    actions: { read: {}, write: {} },
    relations,
    roles: {
      editor: { name: 'Editor', permissions: ['write'], extends: ['viewer'] },
      viewer: { name: 'Viewer', permissions: ['read'] },
      owner: { name: 'Owner' },
    },
  }
}

const when = fc.boolean().map(no_direct_roles_on_object => ({ no_direct_roles_on_object }))
const link = fc.constantFrom(...LINKS)
const entry = fc.tuple(role, link, when).map(([source, [from, over], guard]) => ({
  role: source,
  on_resource: from,
  linked_by_relation: over,
  when: guard,
}))
const says = fc.record(
  {
    permissions: fc.subarray([...ACTIONS], { minLength: 1 }),
    extends: fc.subarray([...ROLES], { maxLength: 2 }),
    granted_to: fc.record({ users_with_role: fc.array(entry, { maxLength: 2 }), when }),
  },
  { requiredKeys: [] },
)
const ofGroup = group.map(group_instance_key => ({ group_instance_key }))
const grant = fc.record({ role, resource: mostlyThing, resource_instance: key, tenant })
const tenantPermission = fc.tuple(thing, fc.constantFrom(...ACTIONS)).map(parts => parts.join(':'))

export const anyStep: Arbitrary<Step> = fc.oneof(
  weighted(1, 'createTenantRole', {
    body: fc
      .tuple(fc.constantFrom(...TENANT_ROLES), fc.array(tenantPermission, { maxLength: 2 }))
      .map(([name, permissions]) => ({ key: name, name, permissions })),
  }),
  weighted(1, 'createResourceRole', {
    params: thing.map(resource_id => ({ resource_id })),
    body: fc.tuple(role, says).map(([name, more]) => ({ key: name, name, ...more })),
  }),
  weighted(3, 'updateResourceRole', {
    params: fc.record({ resource_id: type, role_id: role }),
    body: says,
  }),
  weighted(2, 'createRelation', {
    params: type.map(resource_id => ({ resource_id })),
    body: fc.tuple(relation, type).map(([name, subject]) => ({ key: name, name, subject_resource: subject })),
  }),
  weighted(1, 'createResourceInstance', { body: fc.record({ resource: type, key, tenant }) }),
  weighted(4, 'createRoleAssignment', {
    body: fc.record({ user, role, resource_instance: instance, tenant }),
  }),
  weighted(1, 'createRoleAssignment', {
    body: fc.record({ user, role: fc.constantFrom(...TENANT_ROLES), tenant }),
  }),
  weighted(1, 'createRelationshipTuple', {
    body: fc.record({ subject: instance, relation, object: instance, tenant }),
  }),
  weighted(5, 'createRelationshipTuple', {
    body: fc.tuple(link, key, key, tenant).map(([[from, over, to], subject, object, name]) => ({
      subject: `${from}:${subject}`,
      relation: over,
      object: `${to}:${object}`,
      tenant: name,
    })),
  }),
  weighted(1, 'createGroup', {
    body: fc.record({ group_instance_key: group, group_tenant: tenant }),
  }),
  weighted(1, 'deleteGroup', { params: ofGroup }),
  weighted(4, 'addGroupMember', {
    params: fc.record({ group_instance_key: group, user_id: user }),
    body: tenant.map(name => ({ tenant: name })),
  }),
  weighted(1, 'removeGroupMember', {
    params: fc.record({ group_instance_key: group, user_id: user }),
    body: fc.constant(undefined),
  }),
  weighted(5, 'addGroupRole', { params: ofGroup, body: grant }),
  weighted(2, 'removeGroupRole', { params: ofGroup, body: grant }),
  weighted(3, 'assignGroup', { params: ofGroup, body: ofGroup }),
  weighted(2, 'unassignGroup', { params: ofGroup, body: ofGroup }),
)

function weighted<Name extends OperationName>(
  weight: number,
  operation: Name,
  parts: { [Part in keyof OperationInput<Name>]: Arbitrary<OperationInput<Name>[Part]> },
): { readonly weight: number; readonly arbitrary: Arbitrary<Step> } {
  // The record has exactly the parts of this operation's input.
  const input = fc.record(parts as Record<string, Arbitrary<unknown>>)
  return { weight, arbitrary: input.map(values => ({ operation, input: values }) as unknown as Step) }
}

/** Every question about the names there are. */
export function allQuestions(): Query[] {
  const questions: Query[] = []
  for (const name of USERS) {
    for (const action of ACTIONS) {
      for (const typeKey of ['folder', 'document']) {
        for (const instanceKey of [null, ...KEYS]) {
          for (const tenantKey of [null, 'acme']) {
            questions.push({ user: name, action, type: typeKey, key: instanceKey, tenant: tenantKey })
          }
        }
      }
    }
  }
  return questions
}
