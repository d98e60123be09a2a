/**
 * Content of an environment, in the terms of a model file. It is either the desired state from a file or the
 * current state from the lines of an export. Both states have the same form, so a plan can be computed as
 * their difference. In both, the assignments, relations and tuples that the groups API manages are
 * represented as groups.
 */
import { parseInstanceReference } from '#model/instance-reference.ts'
import type { ModelConditionSet } from '#entities/model-file.ts'
import type { ConditionSetType } from '#entities/condition-set.ts'
import type { RoleBlock } from '#entities/role.ts'
import type { ValuePath } from './located-value.ts'

/** Simple fields by name. If a field is absent, the file does not specify it. */
export type EntityFields = Readonly<Record<string, unknown>>

export interface RoleState {
  readonly fields: EntityFields
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
  readonly fields: EntityFields
  readonly actions: ReadonlyMap<string, EntityFields>
  readonly attributes: ReadonlyMap<string, EntityFields>
  /**
   * Resource at the other end of each relation, by the key of the relation. Does not contain the relations
   * that the groups API created.
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
  readonly conditions: EntityFields
  readonly fields: EntityFields
}

export interface RuleState {
  /**
   * Key of a set, a role or a resource. If the state was read from an environment, it is always the key of a
   * set, which can be a computed set.
   */
  readonly user_set: string
  /** `type:action`. */
  readonly permission: string
  readonly resource_set: string
}

/** Expiration time in the format of `toISOString`. Null: no expiration. */
export type ExpiresAt = string | null

/**
 * Value that replaces an expiration time in the past. If a grant in the file has this value, the grant must
 * not exist in the environment.
 */
export const EXPIRED = 'ended'

export interface GroupState {
  readonly tenant: string
  /** Expiration time of each member. */
  readonly members: Map<string, ExpiresAt>
  readonly groups: Map<string, ExpiresAt>
  /** Expiration time of each role, by `type:key#role`. */
  readonly roles: Map<string, ExpiresAt>
}

export interface AssignmentState {
  readonly user: string
  readonly role: string
  readonly tenant?: string | undefined
  readonly resource_instance?: string | undefined
  readonly expiresAt: ExpiresAt
}

export interface TupleState {
  readonly subject: string
  readonly relation: string
  readonly object: string
  readonly tenant?: string | undefined
  readonly expiresAt: ExpiresAt
}

export interface InstanceState {
  readonly tenant: string
  readonly fields: EntityFields
}

export class EnvironmentState {
  readonly userAttributes = new Map<string, EntityFields>()
  readonly tenantAttributes = new Map<string, EntityFields>()
  readonly resources = new Map<string, ResourceState>()
  readonly roles = new Map<string, RoleState>()
  readonly conditionSets = new Map<string, ConditionSetState>()
  readonly rules = new Map<string, RuleState>()
  readonly tenants = new Map<string, EntityFields>()
  readonly users = new Map<string, EntityFields>()
  /** Instances by `type:key`. Groups are keyed in the same way. */
  readonly instances = new Map<string, InstanceState>()
  readonly groups = new Map<string, GroupState>()
  readonly assignments = new Map<string, AssignmentState>()
  readonly tuples = new Map<string, TupleState>()
  /**
   * Locations in the file of objects that cannot be found by their key. The keys of this map are `group …`,
   * `rule …`, `assignment …` and `tuple …`, each with the name of the object.
   */
  readonly locations = new Map<string, ValuePath>()
}

/** Default type of a group, used if the name of the group contains no type. */
export const GROUP_TYPE = 'group'
export const MEMBER = 'member'

export function assignmentName({
  user,
  role,
  tenant,
  resource_instance,
}: Omit<AssignmentState, 'expiresAt'>): string {
  return JSON.stringify([user, role, resource_instance ?? null, resource_instance ? null : tenant])
}

/** Returns the name of a rule. Two equal rules have the same name. */
export function ruleName({ user_set, permission, resource_set }: RuleState): string {
  return JSON.stringify([user_set, permission, resource_set])
}

export function tupleName({ subject, relation, object }: Omit<TupleState, 'expiresAt'>): string {
  return JSON.stringify([subject, relation, object])
}

export function roleState(
  fields: EntityFields,
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

/** Describes a derivation. Two different derivations of a role have different descriptions. */
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
