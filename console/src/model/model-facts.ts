/**
 * Extracts roles, relations, derivations and inherited permissions from the types of a model. All functions
 * are pure.
 */
import type { ModelRole, ModelType } from './model-reads.ts'

export interface ModelRelation {
  readonly key: string
  readonly subject: string
  readonly object: string
  /**
   * Whether a grant to a group created the relation. Such a relation passes one role to the members of
   * groups. It is deleted with the last such grant.
   */
  readonly isOfGroups: boolean
}

/**
 * A derivation: users who hold `from.role` on an instance of `from.type` get `to.role` on the instances of
 * `to.type` that are related to this instance by `along`.
 */
export interface Derivation {
  readonly from: { readonly type: string; readonly role: string }
  readonly to: { readonly type: string; readonly role: string }
  readonly along: string
  /**
   * A guard means that the derivation has no effect for users who hold a direct role on the object. If
   * `ofItself`, the derivation itself has a guard. If `ofRole`, the role has a guard for all its derivations.
   */
  readonly guard: { readonly ofItself: boolean; readonly ofRole: boolean }
  readonly isOfGroups: boolean
}

/** Key of the role of group members. */
const MEMBER = 'member'

export function rolesOf(type: ModelType): readonly ModelRole[] {
  return Object.values(type.roles)
}

export function isGuarded({ guard }: Pick<Derivation, 'guard'>): boolean {
  return guard.ofItself || guard.ofRole
}

export function relationsOf(type: ModelType): readonly ModelRelation[] {
  const ofGroups = new Set(
    derivationsOf(type)
      .filter(({ isOfGroups }) => isOfGroups)
      .map(({ along }) => along),
  )
  return Object.entries(type.relations).map(([key, { resource }]) => ({
    key,
    subject: resource,
    object: type.key,
    isOfGroups: ofGroups.has(key),
  }))
}

export function derivationsOf(type: ModelType): readonly Derivation[] {
  return rolesOf(type).flatMap(role =>
    role.granted_to.users_with_role.map(entry => ({
      from: { type: entry.on_resource, role: entry.role },
      to: { type: type.key, role: role.key },
      along: entry.linked_by_relation,
      guard: {
        ofItself: entry.when.no_direct_roles_on_object,
        ofRole: role.granted_to.when.no_direct_roles_on_object,
      },
      isOfGroups: entry.role === MEMBER && entry.linked_by_relation.startsWith(`${entry.on_resource}_group_`),
    })),
  )
}

interface Permitting {
  readonly key: string
  readonly permissions: readonly string[]
  readonly extends: readonly string[]
}

/** Roles that `role` extends and that are not in `roles`. */
export function unknownParents(role: Permitting, roles: ReadonlyMap<string, Permitting>): readonly string[] {
  return role.extends.filter(parent => !roles.has(parent))
}

/**
 * Permissions that a role inherits from the roles that it extends directly or indirectly. The result
 * contains, for each permission, one role that grants it.
 */
export function inheritedPermissions(
  role: Permitting,
  roles: ReadonlyMap<string, Permitting>,
): ReadonlyMap<string, string> {
  const inherited = new Map<string, string>()
  const seen = new Set([role.key])
  const waiting = [...role.extends]
  for (let key = waiting.shift(); key !== undefined; key = waiting.shift()) {
    if (seen.has(key)) continue
    seen.add(key)
    const parent = roles.get(key)
    if (parent === undefined) continue
    for (const permission of parent.permissions)
      if (!inherited.has(permission)) inherited.set(permission, key)
    waiting.push(...parent.extends)
  }
  return inherited
}
