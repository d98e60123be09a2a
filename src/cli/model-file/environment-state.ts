/**
 * Content of an environment in the terms of a model file: the desired state of a file, or the current state
 * from the lines of an export. Both have the same form, so a plan is their difference. Assignments, relations
 * and tuples that the groups API manages appear as groups in both.
 */
import { parseInstanceReference } from '#model/instance-reference.ts'
import type { ModelConditionSet } from '#model/model-file.ts'
import type { ConditionSetType } from '#model/wire/condition-set.ts'
import type { RoleBlock } from '#model/wire/role.ts'
import type { ValuePath } from './located-value.ts'

/** Plain fields by name. An absent field is not specified. */
export type Fields = Readonly<Record<string, unknown>>

export interface RoleState {
  readonly fields: Fields
  readonly permissions: ReadonlySet<string>
  readonly extends: ReadonlySet<string>
  readonly isGuarded: boolean
  readonly derivations: ReadonlyMap<string, DerivationState>
}

export interface DerivationState {
  readonly role: string
  readonly on_resource: string
  readonly linked_by_relation: string
  readonly when: { readonly no_direct_roles_on_object: boolean }
}

export interface ResourceState {
  readonly fields: Fields
  readonly actions: ReadonlyMap<string, Fields>
  readonly attributes: ReadonlyMap<string, Fields>
  /**
   * Resource at the other end of each relation, by the key of the relation. Relations that the groups API
   * created are omitted.
   */
  readonly relations: ReadonlyMap<string, string>
  readonly roles: ReadonlyMap<string, RoleState>
}

export interface ConditionSetState {
  readonly type: ConditionSetType
  /** Key of the resource to which the set is limited. */
  readonly resource: string | null
  /** Key of the parent set, whose conditions must also hold. */
  readonly parent: string | null
  readonly conditions: Fields
  readonly fields: Fields
}

export interface RuleState {
  /**
   * Key of a set, a role or a resource. State that was read from an environment contains only sets, including
   * computed ones.
   */
  readonly user_set: string
  /** `type:action`. */
  readonly permission: string
  readonly resource_set: string
}

/** Expiration time in the format of `toISOString`. Null: no expiration. */
export type Until = string | null

/** Replaces an expiration time in the past: the desired state does not contain the grant. */
export const EXPIRED = 'ended'

export interface GroupState {
  readonly tenant: string
  /** Expiration time by member. */
  readonly members: Map<string, Until>
  readonly groups: Map<string, Until>
  /** Expiration time by `type:key#role`. */
  readonly roles: Map<string, Until>
}

export interface AssignmentState {
  readonly user: string
  readonly role: string
  readonly tenant?: string | undefined
  readonly resource_instance?: string | undefined
  readonly until: Until
}

export interface TupleState {
  readonly subject: string
  readonly relation: string
  readonly object: string
  readonly tenant?: string | undefined
  readonly until: Until
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
  /** By `type:key`, like groups. */
  readonly instances = new Map<string, InstanceState>()
  readonly groups = new Map<string, GroupState>()
  readonly assignments = new Map<string, AssignmentState>()
  readonly tuples = new Map<string, TupleState>()
  /**
   * Locations in the file of objects that cannot be found by their key: `group …`, `rule …`, `assignment …`,
   * `tuple …`, each with its name.
   */
  readonly locations = new Map<string, ValuePath>()
}

/** Type of groups that are named without one. */
export const GROUP_TYPE = 'group'
export const MEMBER = 'member'

export function assignmentName({
  user,
  role,
  tenant,
  resource_instance,
}: Omit<AssignmentState, 'until'>): string {
  return JSON.stringify([user, role, resource_instance ?? null, resource_instance ? null : tenant])
}

/** Equal rules have equal names. */
export function ruleName({ user_set, permission, resource_set }: RuleState): string {
  return JSON.stringify([user_set, permission, resource_set])
}

export function tupleName({ subject, relation, object }: Omit<TupleState, 'until'>): string {
  return JSON.stringify([subject, relation, object])
}

export function roleState(
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

/** Describes a derivation. Different derivations of a role have different descriptions. */
function describeDerivation({ role, on_resource, linked_by_relation, when }: DerivationState): string {
  const guard = when.no_direct_roles_on_object ? ', without direct roles' : ''
  return `${on_resource}#${role} by ${linked_by_relation}${guard}`
}

export function conditionSetState({
  type = 'userset',
  resource = null,
  parent = null,
  conditions = {},
  ...fields
}: ModelConditionSet): ConditionSetState {
  return { type, resource, parent, conditions, fields }
}

export function groupName(key: string): string {
  return parseInstanceReference(key) === null ? `${GROUP_TYPE}:${key}` : key
}
