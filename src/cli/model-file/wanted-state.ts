/** Desired state of a model file, with its shorthand expanded. */
import { DEFAULT_TENANT } from '#model/decision.ts'
import type { Model, ModelGroup, ModelResource, ModelRole } from '#model/model-file.ts'
import {
  assignmentName,
  conditionSetState,
  ENDED,
  EnvironmentState,
  type Fields,
  type GroupState,
  groupName,
  type ResourceState,
  type RoleState,
  roleState,
  ruleName,
  tupleName,
  type Until,
} from './environment-state.ts'

/** Desired state of a model file. */
export function wantedState(model: Model): EnvironmentState {
  const state = new EnvironmentState()
  const put = <Value>(
    map: Map<string, Value>,
    entries: object | undefined,
    valueOf: (entry: never, key: string) => Value,
  ) => {
    for (const [key, entry] of Object.entries(entries ?? {}))
      map.set(key, valueOf((entry ?? {}) as never, key))
  }
  put(state.userAttributes, model.user_attributes, (fields: Fields) => fields)
  put(state.tenantAttributes, model.tenant_attributes, (fields: Fields) => fields)
  put(state.resources, model.resources, wantedResource)
  put(state.roles, model.roles, (role: ModelRole) => wantedRole(role, null))
  put(state.conditionSets, model.condition_sets, conditionSetState)
  for (const [index, rule] of (model.rules ?? []).entries()) {
    state.rules.set(ruleName(rule), rule)
    state.ways.set(`rule ${ruleName(rule)}`, ['rules', index])
  }
  put(state.tenants, model.tenants, (fields: Fields) => fields)
  put(state.users, model.users, (fields: Fields) => fields)
  put(state.instances, model.instances, ({ tenant, ...fields }: { tenant?: string }) => ({
    tenant: tenant ?? DEFAULT_TENANT,
    fields,
  }))
  for (const [key, group] of Object.entries(model.groups ?? {})) {
    state.groups.set(groupName(key), wantedGroup(group ?? {}))
    state.ways.set(`group ${groupName(key)}`, ['groups', key])
  }
  for (const [index, assignment] of (model.role_assignments ?? []).entries()) {
    const { until, ...held } = assignment
    const place = held.resource_instance === undefined ? { tenant: DEFAULT_TENANT } : {}
    const placed = { ...place, ...held, until: wantedUntil(until) }
    state.assignments.set(assignmentName(placed), placed)
    state.ways.set(`assignment ${assignmentName(placed)}`, ['role_assignments', index])
  }
  for (const [index, tuple] of (model.relationship_tuples ?? []).entries()) {
    state.tuples.set(tupleName(tuple), { ...tuple, until: wantedUntil(tuple.until) })
    state.ways.set(`tuple ${tupleName(tuple)}`, ['relationship_tuples', index])
  }
  return state
}

function wantedResource(resource: ModelResource, key: string): ResourceState {
  const { actions = {}, attributes = {}, relations = {}, roles = {}, inherited_roles, ...fields } = resource
  const named: [string, Fields][] = Array.isArray(actions)
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
        return [role, wantedRole(withEntries(block ?? {}, inherited), key)]
      }),
    ),
  }
}

type DerivationEntries = NonNullable<NonNullable<ModelRole['granted_to']>['users_with_role']>

/** Entries of `inherited_roles` for one role, in the form of its `granted_to`. */
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

function wantedRole(role: ModelRole, type: string | null): RoleState {
  const { permissions, extends: extended, granted_to, ...fields } = role
  return roleState(fields, { permissions, extends: extended, granted_to }, type)
}

function wantedGroup(group: ModelGroup): GroupState {
  return {
    tenant: group.tenant ?? DEFAULT_TENANT,
    members: parts(group.members, 'user'),
    groups: new Map([...parts(group.groups, 'group')].map(([key, until]) => [groupName(key), until])),
    roles: parts(group.roles, 'role'),
  }
}

/** Parts of a group, each given as a name or with its expiration time. */
function parts<Name extends string>(
  items: readonly (string | ({ readonly [Key in Name]: string } & { readonly until?: string }))[] | undefined,
  name: Name,
): Map<string, Until> {
  return new Map(
    (items ?? []).map(item =>
      typeof item === 'string' ? [item, null] : [item[name], wantedUntil(item.until)],
    ),
  )
}

function wantedUntil(until: string | undefined): Until {
  if (until === undefined) return null
  const end = Date.parse(until)
  return end > Date.now() ? new Date(end).toISOString() : ENDED
}
