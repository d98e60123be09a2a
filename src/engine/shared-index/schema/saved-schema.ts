/**
 * Saves the writer's schema as plain data in an index snapshot, and restores it with the numbers that the
 * facts of the snapshot use. In the saved form, entities refer to each other by key.
 */
import type { SavedRules } from '#engine/shared-index/rules/rule-book.ts'
import { NumberPool } from '#engine/shared-index/memory/number-pool.ts'
import { assert } from '#model/assert.ts'
import type { MappingPut } from '#model/change.ts'
import {
  bareRole,
  type SchemaRelation,
  type ResourceType,
  type Role,
  ROLES_MAX_PER_TYPE,
  type SchemaState,
} from './schema.ts'

interface SavedRole {
  readonly key: string
  readonly id: number
  readonly roleIndex: number
  readonly permissions: readonly (readonly [type: string, actions: readonly string[]])[]
  readonly extends: readonly string[]
  readonly derivations: readonly {
    /** Key of the role on the relation's subject type. */
    readonly source: string
    /** Key of the relation on the role's type. */
    readonly relation: string
    readonly guarded: boolean
  }[]
}

interface SavedType {
  readonly key: string
  readonly id: number
  readonly actions: readonly string[]
  readonly roles: readonly SavedRole[]
  readonly relations: readonly {
    readonly key: string
    readonly edgeClass: number
    readonly subjectType: string
  }[]
}

export interface SavedSchema {
  readonly types: readonly SavedType[]
  readonly tenantRoles: readonly SavedRole[]
  readonly lastRoleId: number
  readonly rules: SavedRules
  readonly mapping: readonly MappingPut[]
}

type Roles = Map<string, Role>

/** Returns the whole schema as plain data. Call it only while no number is retired. */
export function saveSchema({ types, tenantRoles, lastRoleId, rules, mapping }: SchemaState): SavedSchema {
  return {
    types: [...types.values()].map(({ key, id, actions, roles, relations }) => ({
      key,
      id,
      actions: [...actions],
      roles: [...roles.values()].map(saveRole),
      relations: [...relations.values()].map(relation => ({
        key: relation.key,
        edgeClass: relation.edgeClass,
        subjectType: relation.subjectType.key,
      })),
    })),
    tenantRoles: [...tenantRoles.values()].map(saveRole),
    lastRoleId,
    rules,
    mapping,
  }
}

function saveRole(role: Role): SavedRole {
  return {
    key: role.key,
    id: role.id,
    roleIndex: role.roleIndex,
    permissions: [...role.permissions].map(([type, actions]) => [type.key, [...actions]] as const),
    extends: [...role.extends].map(({ key }) => key),
    derivations: role.derivations.map(({ source, relation, guarded }) => ({
      source: source.key,
      relation: relation.key,
      guarded,
    })),
  }
}

/** Restores a saved schema. */
export function restoredSchema(saved: SavedSchema): SchemaState {
  const types = new Map<string, ResourceType>()
  for (const { key, id, actions, roles } of saved.types) {
    types.set(key, {
      key,
      id,
      actions: new Set(actions),
      roles: new Map(),
      relations: new Map(),
      relationsAsSubject: new Set(),
      roleIndexes: new NumberPool(
        0,
        ROLES_MAX_PER_TYPE,
        roles.map(({ roleIndex }) => roleIndex),
      ),
    })
  }
  for (const { key, relations, roles } of saved.types) {
    const type = known(types, key)
    for (const relation of relations) addRelation(type, { ...relation, types })
    for (const role of roles) type.roles.set(role.key, savedRole(type, role, types))
  }
  const tenantRoles: Roles = new Map()
  for (const role of saved.tenantRoles) tenantRoles.set(role.key, savedRole(null, role, types))
  // Resolves references after all roles exist, because roles can refer to each other in cycles.
  for (const { key, roles } of saved.types) {
    for (const role of roles) mention(known(types, key).roles, role)
  }
  for (const role of saved.tenantRoles) mention(tenantRoles, role)
  return { types, tenantRoles, lastRoleId: saved.lastRoleId, rules: saved.rules, mapping: saved.mapping }
}

function addRelation(
  objectType: ResourceType,
  {
    key,
    edgeClass,
    subjectType: subject,
    types,
  }: SavedType['relations'][number] & { readonly types: ReadonlyMap<string, ResourceType> },
): void {
  const subjectType = known(types, subject)
  const relation: SchemaRelation = { key, edgeClass, objectType, subjectType, derivedBy: new Set() }
  objectType.relations.set(key, relation)
  subjectType.relationsAsSubject.add(relation)
}

function savedRole(
  type: ResourceType | null,
  { key, id, roleIndex, permissions }: SavedRole,
  types: ReadonlyMap<string, ResourceType>,
): Role {
  const granted = permissions.map(([on, actions]) => [known(types, on), new Set(actions)] as const)
  return bareRole({ type, key, id, roleIndex, permissions: new Map(granted) })
}

function mention(siblings: Roles, saved: SavedRole): void {
  const role = known(siblings, saved.key)
  for (const key of saved.extends) {
    const extended = known(siblings, key)
    role.extends.add(extended)
    extended.extendedBy.add(role)
  }
  role.derivations = saved.derivations.map(({ source, relation: over, guarded }) => {
    assert(role.type, 'tenant roles have no derivations')
    const relation = known(role.type.relations, over)
    relation.derivedBy.add(role)
    return { source: known(relation.subjectType.roles, source), relation, guarded }
  })
}

function known<Thing>(things: ReadonlyMap<string, Thing>, key: string): Thing {
  const thing = things.get(key)
  assert(thing, `a saved schema refers only to its own entities, not to ${key}`)
  return thing
}
