/** Builds the desired state from a model file. Shorthand forms in the file are expanded. */
import { DEFAULT_TENANT } from '#model/decision.ts'
import type { Model, ModelGroup, ModelResource, ModelRole } from '#entities/model-file.ts'
import {
  assignmentName,
  conditionSetState,
  EXPIRED,
  EnvironmentState,
  type EntityFields,
  type GroupState,
  groupName,
  type ResourceState,
  type RoleState,
  roleState,
  ruleName,
  tupleName,
  type ExpiresAt,
} from './environment-state.ts'

/** Returns the desired state of a model file. */
export function desiredState(model: Model): EnvironmentState {
  const state = new EnvironmentState()
  const put = <Value>(
    map: Map<string, Value>,
    entries: object | undefined,
    valueOf: (entry: never, key: string) => Value,
  ) => {
    for (const [key, entry] of Object.entries(entries ?? {}))
      map.set(key, valueOf((entry ?? {}) as never, key))
  }
  put(state.userAttributes, model.user_attributes, (fields: EntityFields) => fields)
  put(state.tenantAttributes, model.tenant_attributes, (fields: EntityFields) => fields)
  put(state.resources, model.resources, desiredResource)
  put(state.roles, model.roles, (role: ModelRole) => desiredRole(role, null))
  put(state.conditionSets, model.condition_sets, conditionSetState)
  for (const [index, rule] of (model.rules ?? []).entries()) {
    state.rules.set(ruleName(rule), rule)
    state.locations.set(`rule ${ruleName(rule)}`, ['rules', index])
  }
  put(state.tenants, model.tenants, (fields: EntityFields) => fields)
  put(state.users, model.users, (fields: EntityFields) => fields)
  put(state.instances, model.instances, ({ tenant, ...fields }: { tenant?: string }) => ({
    tenant: tenant ?? DEFAULT_TENANT,
    fields,
  }))
  for (const [key, group] of Object.entries(model.groups ?? {})) {
    state.groups.set(groupName(key), desiredGroup(group ?? {}))
    state.locations.set(`group ${groupName(key)}`, ['groups', key])
  }
  for (const [index, assignment] of (model.role_assignments ?? []).entries()) {
    const { until, ...held } = assignment
    const place = held.resource_instance === undefined ? { tenant: DEFAULT_TENANT } : {}
    const placed = { ...place, ...held, expiresAt: desiredExpiration(until) }
    state.assignments.set(assignmentName(placed), placed)
    state.locations.set(`assignment ${assignmentName(placed)}`, ['role_assignments', index])
  }
  for (const [index, tuple] of (model.relationship_tuples ?? []).entries()) {
    const { until, ...related } = tuple
    state.tuples.set(tupleName(tuple), { ...related, expiresAt: desiredExpiration(until) })
    state.locations.set(`tuple ${tupleName(tuple)}`, ['relationship_tuples', index])
  }
  return state
}

function desiredResource(resource: ModelResource, key: string): ResourceState {
  const { actions = {}, attributes = {}, relations = {}, roles = {}, inherited_roles, ...fields } = resource
  const named: [string, EntityFields][] = Array.isArray(actions)
    ? actions.map(action => [action, {}])
    : Object.entries(actions).map(([action, block]) => [action, block ?? {}])
  return {
    fields,
    actions: new Map(named),
    attributes: new Map(Object.entries(attributes)),
    relations: new Map(Object.entries(relations)),
    roles: new Map(
      Object.entries(roles).map(([role, block]) => {
        const inherited = inheritedEntries(role, relations, inherited_roles ?? {})
        return [role, desiredRole(withEntries(block ?? {}, inherited), key)]
      }),
    ),
  }
}

type DerivationEntries = NonNullable<NonNullable<ModelRole['granted_to']>['users_with_role']>

/** Returns the entries of `inherited_roles` for one role, converted to the form of `granted_to`. */
function inheritedEntries(
  role: string,
  relations: Readonly<Record<string, string>>,
  inherited: NonNullable<ModelResource['inherited_roles']>,
): DerivationEntries {
  return Object.entries(inherited).flatMap(([relation, roles]) => {
    const pairs = Array.isArray(roles) ? roles.map(each => [each, each] as const) : Object.entries(roles)
    return pairs
      .filter(([, here]) => here === role)
      .map(([there]) => ({
        role: there,
        on_resource: relations[relation]!,
        linked_by_relation: relation,
      }))
  })
}

function withEntries(role: ModelRole, entries: DerivationEntries): ModelRole {
  if (entries.length === 0) return role
  const { granted_to } = role
  return {
    ...role,
    granted_to: { ...granted_to, users_with_role: [...(granted_to?.users_with_role ?? []), ...entries] },
  }
}

function desiredRole(role: ModelRole, type: string | null): RoleState {
  const { permissions, extends: extended, granted_to, ...fields } = role
  return roleState(fields, { permissions, extends: extended, granted_to }, type)
}

function desiredGroup(group: ModelGroup): GroupState {
  return {
    tenant: group.tenant ?? DEFAULT_TENANT,
    members: parts(group.members, 'user'),
    groups: new Map([...parts(group.groups, 'group')].map(([key, expiresAt]) => [groupName(key), expiresAt])),
    roles: parts(group.roles, 'role'),
  }
}

/** Parts of a group. Each is given in the file as a name, or as a name with an expiration time. */
function parts<Name extends string>(
  items: readonly (string | ({ readonly [Key in Name]: string } & { readonly until?: string }))[] | undefined,
  name: Name,
): Map<string, ExpiresAt> {
  return new Map(
    (items ?? []).map(item =>
      typeof item === 'string' ? [item, null] : [item[name], desiredExpiration(item.until)],
    ),
  )
}

function desiredExpiration(until: string | undefined): ExpiresAt {
  if (until === undefined) return null
  const expiresAt = Date.parse(until)
  return expiresAt > Date.now() ? new Date(expiresAt).toISOString() : EXPIRED
}
