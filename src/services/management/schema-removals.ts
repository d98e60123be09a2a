/**
 * What goes with a part of the schema (contract C.7), in the commit that removes it: afterwards no stored role, action
 * group or relation mentions it. Its facts have no meaning from that moment on and are purged behind it.
 *
 * Lists are no requirement of a commit, so a mention that is being added while the removal is made would be missed. It
 * is not, because who adds a mention of a thing writes the thing's row as well (`Draft.touch`), and the removal of the
 * thing rests on that row.
 */
import { assert } from '#model/assert.ts'
import type { DerivationRecord, RelationRecord, RoleRecord, TypeRecord } from '#model/records.ts'
import { lists } from '#store/keyspace.ts'
import type { WriteContext } from './context.ts'
import {
  type Dead,
  dependantsOfRelation,
  dependantsOfRole,
  dependantsOfType,
  removeDependants,
  together,
} from './removal.ts'
import { putRole } from './roles.ts'
import { putType } from './types.ts'

/** Removes actions that `type` has, with the permissions and the places in action groups that name them. */
export function removeActions(
  context: WriteContext,
  type: TypeRecord,
  keys: ReadonlySet<string>,
): TypeRecord {
  if (keys.size === 0) return type
  const updated: TypeRecord = {
    ...type,
    actions: type.actions.filter(({ key }) => !keys.has(key)),
    actionGroups: type.actionGroups.map(group =>
      group.actions.some(key => keys.has(key))
        ? { ...group, actions: group.actions.filter(key => !keys.has(key)), updatedAt: context.now }
        : group,
    ),
    updatedAt: context.now,
  }
  putType(context, updated)
  for (const role of rolesOf(context, type)) {
    const permissions = role.permissions.filter(action => !keys.has(action))
    rewriteRole(context, role, type, { permissions })
  }
  const names = new Set([...keys].map(key => `${type.key}:${key}`))
  for (const role of rolesOf(context, null)) {
    rewriteRole(context, role, null, { permissions: role.permissions.filter(name => !names.has(name)) })
  }
  return updated
}

/**
 * Removes roles of one type, or tenant roles, with the mentions of them. A relation that the groups API made for such a
 * role goes too: whoever creates a role of that key later finds none of the grants that were meant for this one.
 */
export function removeRoles(
  context: WriteContext,
  roles: readonly RoleRecord[],
  type: TypeRecord | null,
): void {
  removeDependants(
    context,
    roles.map(role => takeOutRole(context, role, type)),
  )
}

/** Removes relations of one object type with the derivation entries over them. */
export function removeRelations(
  context: WriteContext,
  relations: readonly RelationRecord[],
  objectType: TypeRecord,
): void {
  removeDependants(
    context,
    relations.map(relation => takeOutRelation(context, relation, objectType)),
  )
}

/** The part of the removal that concerns the schema; returns the facts that are left to remove. */
function takeOutRole(context: WriteContext, role: RoleRecord, type: TypeRecord | null): Dead {
  const { records } = context
  for (const sibling of rolesOf(context, type)) {
    if (sibling.id === role.id) continue
    rewriteRole(context, sibling, type, { extends: sibling.extends.filter(key => key !== role.key) })
  }
  const grants: Dead[] = []
  if (type !== null) {
    for (const objectType of typesLinkedFrom(context, type)) {
      dropEntries(context, objectType, entry => entry.onType === type.key && entry.role === role.key)
    }
    for (const relation of relationsOf(context, type)) {
      const use = relation.groupUse
      if (use?.use === 'grant' && use.role === role.key) grants.push(takeOutRelation(context, relation, type))
    }
  }
  records.delete(role, { kind: 'role-removed', type: type?.key ?? null, role: role.key })
  return together([dependantsOfRole(role), ...grants])
}

function takeOutRelation(context: WriteContext, relation: RelationRecord, objectType: TypeRecord): Dead {
  dropEntries(context, objectType, entry => entry.relation === relation.key)
  context.records.delete(relation, {
    kind: 'relation-removed',
    type: objectType.key,
    relation: relation.key,
  })
  return dependantsOfRelation(relation)
}

/** Removes a type with its roles and relations, the relations of others that name it, and its permissions. */
export function removeType(context: WriteContext, type: TypeRecord): void {
  const { records } = context
  const roles = rolesOf(context, type)
  const own = relationsOf(context, type)
  const foreign = [...records.list('relation', lists.relationsFromType(type.id))].filter(
    relation => relation.typeId !== type.id,
  )
  for (const relation of foreign) takeOutRelation(context, relation, objectTypeOf(context, relation))
  const prefix = `${type.key}:`
  for (const role of rolesOf(context, null)) {
    const permissions = role.permissions.filter(name => !name.startsWith(prefix))
    rewriteRole(context, role, null, { permissions })
  }
  for (const part of [...own, ...roles]) records.delete(part)
  records.delete(type, { kind: 'type-removed', type: type.key })
  removeDependants(context, [dependantsOfType(type, roles, [...own, ...foreign])])
}

/** The roles of a type, or the tenant roles; taken out of the list at once, for removing them changes it. */
export function rolesOf(context: WriteContext, type: TypeRecord | null): RoleRecord[] {
  return [...context.records.list('role', lists.rolesOfType(type?.id ?? null))]
}

/** The relations whose objects are of a type, likewise. */
export function relationsOf(context: WriteContext, type: TypeRecord): RelationRecord[] {
  return [...context.records.list('relation', lists.relationsOfType(type.id))]
}

/** The types that have relations whose subjects are of `type`; entries with its roles as source stand on their roles. */
function typesLinkedFrom(context: WriteContext, type: TypeRecord): TypeRecord[] {
  const { records } = context
  const types = new Map<string, TypeRecord>()
  for (const relation of records.list('relation', lists.relationsFromType(type.id))) {
    if (!types.has(relation.typeId)) types.set(relation.typeId, objectTypeOf(context, relation))
  }
  return [...types.values()]
}

function objectTypeOf(context: WriteContext, relation: RelationRecord): TypeRecord {
  const objectType = context.records.byId('type', relation.typeId)
  assert(objectType, 'a relation lives no longer than its object type')
  return objectType
}

function dropEntries(
  context: WriteContext,
  objectType: TypeRecord,
  isDropped: (entry: DerivationRecord) => boolean,
): void {
  for (const role of rolesOf(context, objectType)) {
    const entries = role.grantedTo.entries.filter(entry => !isDropped(entry))
    if (entries.length === role.grantedTo.entries.length) continue
    rewriteRole(context, role, objectType, { grantedTo: { ...role.grantedTo, entries } })
  }
}

/** Writes the role with the lists given, if they lost anything. */
function rewriteRole(
  context: WriteContext,
  role: RoleRecord,
  type: TypeRecord | null,
  lost: Partial<Pick<RoleRecord, 'permissions' | 'extends' | 'grantedTo'>>,
): void {
  const isSame =
    (lost.permissions?.length ?? role.permissions.length) === role.permissions.length &&
    (lost.extends?.length ?? role.extends.length) === role.extends.length &&
    lost.grantedTo === undefined
  if (!isSame) putRole(context, { ...role, ...lost, updatedAt: context.now }, type)
}
