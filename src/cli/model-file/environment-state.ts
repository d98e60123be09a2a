/**
 * The content of an environment, in the terms of a model file: as the file wants it, or as the lines of an export give it.
 * Both have the same form, so a plan is their difference. What the groups API keeps as assignments, relations and tuples
 * appears as groups here, on both sides.
 */
import { DEFAULT_TENANT } from '#model/decision.ts'
import { parseInstanceReference } from '#model/instance-reference.ts'
import type { Model, ModelConditionSet, ModelGroup, ModelResource, ModelRole } from '#model/model-file.ts'
import type { ConditionSetType } from '#model/wire/condition-set.ts'
import type { ContentConditionSet, ContentLine, ContentResource } from '#model/wire/environment-content.ts'
import type { RoleBlock } from '#model/wire/role.ts'

/** Plain fields by name. An absent field says nothing. */
export type Fields = Readonly<Record<string, unknown>>

export interface RoleState {
  readonly fields: Fields
  readonly permissions: ReadonlySet<string>
  readonly extends: ReadonlySet<string>
  readonly isGuarded: boolean
  readonly derivations: ReadonlyMap<string, Derivation>
}

export interface Derivation {
  readonly role: string
  readonly on_resource: string
  readonly linked_by_relation: string
  readonly when: { readonly no_direct_roles_on_object: boolean }
}

export interface ResourceState {
  readonly fields: Fields
  readonly actions: ReadonlyMap<string, Fields>
  readonly attributes: ReadonlyMap<string, Fields>
  /** The resource at the other end of each relation, by the relation's key. Relations made by the groups API are left out. */
  readonly relations: ReadonlyMap<string, string>
  readonly roles: ReadonlyMap<string, RoleState>
}

export interface ConditionSetState {
  readonly type: ConditionSetType
  /** Key of the resource that it is limited to. */
  readonly resource: string | null
  /** Key of the set whose conditions must hold, too. */
  readonly parent: string | null
  readonly conditions: Fields
  readonly fields: Fields
}

export interface RuleState {
  /** Key of a set, a role or a resource. What is read from an environment names sets only, computed ones among them. */
  readonly user_set: string
  /** `type:action`. */
  readonly permission: string
  readonly resource_set: string
}

export interface GroupState {
  readonly tenant: string
  readonly members: Set<string>
  readonly groups: Set<string>
  /** `type:key#role`. */
  readonly roles: Set<string>
}

export interface AssignmentState {
  readonly user: string
  readonly role: string
  readonly tenant?: string | undefined
  readonly resource_instance?: string | undefined
}

export interface TupleState {
  readonly subject: string
  readonly relation: string
  readonly object: string
  readonly tenant?: string | undefined
}

export interface InstanceState {
  readonly tenant: string
  readonly fields: Fields
}

export class EnvironmentState {
  readonly userAttributes = new Map<string, Fields>()
  readonly tenantAttributes = new Map<string, Fields>()
  readonly resources = new Map<string, ResourceState>()
  readonly roles = new Map<string, RoleState>()
  readonly conditionSets = new Map<string, ConditionSetState>()
  readonly rules = new Map<string, RuleState>()
  readonly tenants = new Map<string, Fields>()
  readonly users = new Map<string, Fields>()
  /** By `type:key`, as groups are. */
  readonly instances = new Map<string, InstanceState>()
  readonly groups = new Map<string, GroupState>()
  readonly assignments = new Map<string, AssignmentState>()
  readonly tuples = new Map<string, TupleState>()
}

/** The type of groups that are named without one. */
const GROUP_TYPE = 'group'
const MEMBER = 'member'

function assignmentName({ user, role, tenant, resource_instance }: AssignmentState): string {
  return JSON.stringify([user, role, resource_instance ?? null, resource_instance ? null : tenant])
}

/** Equal for equal rules. */
export function ruleName({ user_set, permission, resource_set }: RuleState): string {
  return JSON.stringify([user_set, permission, resource_set])
}

function tupleName({ subject, relation, object }: TupleState): string {
  return JSON.stringify([subject, relation, object])
}

/** The state a model file asks for. */
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
  for (const rule of model.rules ?? []) state.rules.set(ruleName(rule), rule)
  put(state.tenants, model.tenants, (fields: Fields) => fields)
  put(state.users, model.users, (fields: Fields) => fields)
  put(state.instances, model.instances, ({ tenant, ...fields }: { tenant?: string }) => ({
    tenant: tenant ?? DEFAULT_TENANT,
    fields,
  }))
  for (const [key, group] of Object.entries(model.groups ?? {})) {
    state.groups.set(groupName(key), wantedGroup(group ?? {}))
  }
  for (const assignment of model.role_assignments ?? []) {
    const placed =
      assignment.resource_instance === undefined ? { tenant: DEFAULT_TENANT, ...assignment } : assignment
    state.assignments.set(assignmentName(placed), placed)
  }
  for (const tuple of model.relationship_tuples ?? []) state.tuples.set(tupleName(tuple), tuple)
  return state
}

function wantedResource(resource: ModelResource, key: string): ResourceState {
  const { actions = {}, attributes = {}, relations = {}, roles = {}, ...fields } = resource
  const named: [string, Fields][] = Array.isArray(actions)
    ? actions.map(action => [action, {}])
    : Object.entries(actions).map(([action, block]) => [action, block ?? {}])
  return {
    fields,
    actions: new Map(named),
    attributes: new Map(Object.entries(attributes)),
    relations: new Map(Object.entries(relations)),
    roles: new Map(Object.entries(roles).map(([role, block]) => [role, wantedRole(block ?? {}, key)])),
  }
}

function wantedRole(role: ModelRole, type: string | null): RoleState {
  const { permissions, extends: extended, granted_to, ...fields } = role
  return roleState(fields, { permissions, extends: extended, granted_to }, type)
}

function roleState(
  fields: Fields,
  {
    permissions,
    extends: extended,
    granted_to,
  }: { readonly [Part in 'permissions' | 'extends' | 'granted_to']: RoleBlock[Part] | undefined },
  type: string | null,
): RoleState {
  const own = type === null ? null : `${type}:`
  const bare = (permission: string) =>
    own !== null && permission.startsWith(own) ? permission.slice(own.length) : permission
  const derivations = (granted_to?.users_with_role ?? []).map(
    ({ role, on_resource, linked_by_relation, when }) => ({
      role,
      on_resource,
      linked_by_relation,
      when: { no_direct_roles_on_object: when?.no_direct_roles_on_object ?? false },
    }),
  )
  return {
    fields,
    permissions: new Set((permissions ?? []).map(bare)),
    extends: new Set(extended),
    isGuarded: granted_to?.when?.no_direct_roles_on_object ?? false,
    derivations: new Map(derivations.map(derivation => [describeDerivation(derivation), derivation])),
  }
}

/** A derivation in words. Two different derivations of one role read differently. */
function describeDerivation({ role, on_resource, linked_by_relation, when }: Derivation): string {
  const guard = when.no_direct_roles_on_object ? ', without direct roles' : ''
  return `${on_resource}#${role} by ${linked_by_relation}${guard}`
}

function conditionSetState({
  type = 'userset',
  resource = null,
  parent = null,
  conditions = {},
  ...fields
}: ModelConditionSet): ConditionSetState {
  return { type, resource, parent, conditions, fields }
}

function wantedGroup(group: ModelGroup): GroupState {
  return {
    tenant: group.tenant ?? DEFAULT_TENANT,
    members: new Set(group.members),
    groups: new Set((group.groups ?? []).map(groupName)),
    roles: new Set(group.roles),
  }
}

function groupName(key: string): string {
  return parseInstanceReference(key) === null ? `${GROUP_TYPE}:${key}` : key
}

/** Which facts of an environment matter. Others are not kept. */
export type FactFilter = (
  kind: 'tenants' | 'users' | 'instances' | 'assignments' | 'tuples',
  name: string,
) => boolean

/** Takes the lines of an export, one after the other. */
export class PresentState {
  readonly state = new EnvironmentState()
  readonly #isOfInterest: FactFilter
  /** The purpose for which the groups API made relations, by `type#relation`. */
  readonly #groupUses = new Map<string, { readonly use: string; readonly role?: string }>()
  /** The number of lines that came. */
  #lines = 0
  #isWhole = false

  constructor(isOfInterest: FactFilter) {
    this.#isOfInterest = isOfInterest
  }

  /** Whether the last line has come, and as many lines before it as it says. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  add(line: ContentLine): void {
    const { state } = this
    switch (line.kind) {
      case 'user_attributes':
        for (const [key, block] of Object.entries(line.attributes)) state.userAttributes.set(key, block)
        break
      case 'tenant_attributes':
        for (const [key, block] of Object.entries(line.attributes)) state.tenantAttributes.set(key, block)
        break
      case 'resource':
        this.#addResource(line)
        break
      case 'role': {
        const { kind: _kind, key, permissions, extends: extended, granted_to, ...fields } = line
        state.roles.set(key, roleState(fields, { permissions, extends: extended, granted_to }, null))
        break
      }
      case 'condition_set':
        this.#addConditionSet(line)
        break
      case 'rule': {
        const { kind: _kind, ...rule } = line
        state.rules.set(ruleName(rule), rule)
        break
      }
      case 'tenant': {
        const { kind: _kind, key, ...fields } = line
        if (this.#isOfInterest('tenants', key)) state.tenants.set(key, fields)
        break
      }
      case 'user': {
        const { kind: _kind, key, ...fields } = line
        if (this.#isOfInterest('users', key)) state.users.set(key, fields)
        break
      }
      case 'instance': {
        const name = `${line.resource}:${line.key}`
        if (line.is_group) {
          state.groups.set(name, {
            tenant: line.tenant,
            members: new Set(),
            groups: new Set(),
            roles: new Set(),
          })
        } else if (this.#isOfInterest('instances', name)) {
          state.instances.set(name, { tenant: line.tenant, fields: { attributes: line.attributes } })
        }
        break
      }
      case 'assignment':
        this.#addAssignment(line)
        break
      case 'tuple':
        this.#addTuple(line)
        break
      case 'end':
        this.#isWhole = line.lines === this.#lines
    }
    this.#lines += 1
  }

  #addResource(line: ContentResource): void {
    const {
      kind: _kind,
      key,
      actions,
      attributes,
      relations,
      roles,
      relation_details,
      action_groups: _groups,
      ...fields
    } = line
    for (const [relation, { group_use }] of Object.entries(relation_details ?? {})) {
      if (group_use) this.#groupUses.set(`${key}#${relation}`, group_use)
    }
    const isMade = (relation: string) => this.#groupUses.has(`${key}#${relation}`)
    this.state.resources.set(key, {
      fields,
      actions: new Map(Object.entries(actions)),
      attributes: new Map(Object.entries(attributes ?? {})),
      relations: new Map(
        Object.entries(relations ?? {}).flatMap(([relation, subject]) =>
          isMade(relation) || !subject ? [] : [[relation, subject]],
        ),
      ),
      roles: new Map(
        Object.entries(roles ?? {}).map(([role, { permissions, extends: extended, granted_to, ...rest }]) => {
          const entries = (granted_to?.users_with_role ?? []).filter(
            entry => !isMade(entry.linked_by_relation),
          )
          const block = { ...granted_to, users_with_role: entries }
          return [role, roleState(rest, { permissions, extends: extended, granted_to: block }, key)]
        }),
      ),
    })
  }

  #addConditionSet({ kind: _kind, key, ...set }: ContentConditionSet): void {
    this.state.conditionSets.set(key, conditionSetState(set))
  }

  #addAssignment({ user, role, tenant, resource_instance }: ContentLine & { kind: 'assignment' }): void {
    const group = resource_instance === undefined ? undefined : this.state.groups.get(resource_instance)
    if (group && role === MEMBER) {
      group.members.add(user)
      return
    }
    const assignment = { user, role, tenant, resource_instance }
    const name = assignmentName(assignment)
    if (this.#isOfInterest('assignments', name)) this.state.assignments.set(name, assignment)
  }

  #addTuple({ subject, relation, object }: ContentLine & { kind: 'tuple' }): void {
    const type = parseInstanceReference(object)?.type
    const use = this.#groupUses.get(`${type}#${relation}`)
    const group = use && this.state.groups.get(use.use === 'nesting' ? object : subject)
    if (group && use.use === 'nesting') group.groups.add(subject)
    else if (group) group.roles.add(`${object}#${use.role}`)
    else {
      const tuple = { subject, relation, object }
      const name = tupleName(tuple)
      if (this.#isOfInterest('tuples', name)) this.state.tuples.set(name, tuple)
    }
  }
}
