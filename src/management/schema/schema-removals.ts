/**
 * Removes parts of the schema with their references (native.md C.7), in the same commit: afterwards, no
 * stored role, action group or relation references the part. Its facts have no effect from that commit on and
 * are purged afterwards.
 *
 * Lists are not a requirement of a commit, so a reference that is added concurrently could be missed. This
 * cannot happen: a command that adds a reference to an entity also writes the entity's row (`Draft.touch`),
 * and the removal of the entity requires that row to be unwritten.
 */
import type { WriteContext } from '#management/drafts/context.ts'
import { dependantsOf, dependantsOfType, removeDependants } from '#management/drafts/removal.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { assert } from '#model/assert.ts'
import type {
  ConditionSetRecord,
  DerivationRecord,
  RelationRecord,
  RoleRecord,
  TypeRecord,
} from '#entities/records.ts'
import { lists, rowKeyOf } from '#store/keyspace/keyspace.ts'
import type { ListName } from '#store/view.ts'
import { requireNoneAdded } from './schema-ceilings.ts'
import { putType } from './types.ts'

/** Removes actions of `type`, with the permissions, rules and action group entries that reference them. */
export function* removeActions(
  context: WriteContext,
  type: TypeRecord,
  keys: ReadonlySet<string>,
): Resumable<TypeRecord> {
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
  removeRulesOn(context, type, keys)
  yield* rewriteRoles(context, type, ({ permissions }) => ({
    permissions: permissions.filter(action => !keys.has(action)),
  }))
  const names = new Set([...keys].map(key => `${type.key}:${key}`))
  yield* rewriteRoles(context, null, ({ permissions }) => ({
    permissions: permissions.filter(name => !names.has(name)),
  }))
  return updated
}

/**
 * Removes the rules on these actions. The engine receives no change, because it drops the rules together with
 * the actions.
 */
function removeRulesOn(context: WriteContext, type: TypeRecord, actions: ReadonlySet<string>): void {
  const { records } = context
  requireNoneAdded(context)
  const ruled = type.actions.filter(
    ({ key, id }) => actions.has(key) && records.storedCount(lists.rulesOfAction(id)) > 0,
  )
  removeDependants(
    context,
    ruled.map(({ id }) => dependantsOf({ kind: 'action', id })),
  )
}

/**
 * Removes roles of one type, or tenant roles, with all references to them. A relation that the groups API
 * created for such a role is also removed. Otherwise, a later role with the same key would get the grants of
 * the removed one.
 */
export function* removeRoles(
  context: WriteContext,
  roles: readonly RoleRecord[],
  type: TypeRecord | null,
): Resumable<void> {
  if (roles.length === 0) return
  const { records } = context
  const gone = new Set(roles.map(({ key }) => key))
  for (const role of roles) {
    records.delete(role, { kind: 'role-removed', type: type?.key ?? null, role: role.key })
  }
  yield* rewriteRoles(context, type, role => ({ extends: role.extends.filter(key => !gone.has(key)) }))
  if (type !== null) {
    const isDropped = (entry: DerivationRecord): boolean => entry.onType === type.key && gone.has(entry.role)
    for (const objectType of typesLinkedFrom(context, type)) {
      yield* dropEntries(context, objectType, isDropped)
    }
    const grants = relationsOf(context, type).filter(({ groupUse }) => {
      return groupUse?.use === 'grant' && gone.has(groupUse.role)
    })
    yield* removeRelations(context, grants, type)
  }
  removeDependants(context, roles.map(dependantsOf))
}

/** Removes relations of one object type with the derivation entries over them. */
export function* removeRelations(
  context: WriteContext,
  relations: readonly RelationRecord[],
  objectType: TypeRecord,
): Resumable<void> {
  yield* takeOutRelations(context, relations, objectType)
  yield
  removeDependants(context, relations.map(dependantsOf))
}

/** Removes the relations and the derivation entries over them, without the tuples. */
function* takeOutRelations(
  context: WriteContext,
  relations: readonly RelationRecord[],
  objectType: TypeRecord,
): Resumable<void> {
  if (relations.length === 0) return
  const gone = new Set(relations.map(({ key }) => key))
  for (const relation of relations) {
    yield
    const named = { type: objectType.key, relation: relation.key }
    context.records.delete(relation, { kind: 'relation-removed', ...named })
  }
  yield* dropEntries(context, objectType, entry => gone.has(entry.relation))
}

/**
 * Removes a type with its roles, relations and condition sets, relations of other types that reference it,
 * its permissions, and rules on any of them.
 */
export function* removeType(context: WriteContext, type: TypeRecord): Resumable<void> {
  const { records } = context
  const own = relationsOf(context, type)
  const foreign = listed(context, lists.relationsFromType(type.id)).filter(
    relation => relation.typeId !== type.id,
  )
  // These types are read before the first pause. If a concurrent removal deletes one of them, this command
  // runs again.
  const objectTypes = Array.from(new Set(foreign.map(({ typeId }) => typeId)), id => typeById(context, id))
  const roles: RoleRecord[] = []
  yield* records.visit('role', lists.rolesOfType(type.id), role => {
    roles.push(records.get('role', rowKeyOf(role))!)
  })
  const sets: ConditionSetRecord[] = []
  requireNoneAdded(context)
  yield* records.visit('condition-set', lists.setsOfType(type.id), set => {
    sets.push(records.get('condition-set', rowKeyOf(set))!)
  })
  for (const objectType of objectTypes) {
    const ofType = foreign.filter(({ typeId }) => typeId === objectType.id)
    yield* takeOutRelations(context, ofType, objectType)
  }
  const prefix = `${type.key}:`
  yield* rewriteRoles(context, null, ({ permissions }) => ({
    permissions: permissions.filter(name => !name.startsWith(prefix)),
  }))
  for (const part of [...own, ...roles, ...sets]) records.delete(part)
  records.delete(type, { kind: 'type-removed', type: type.key })
  removeDependants(context, [dependantsOfType(type, roles, [...own, ...foreign])])
}

/**
 * The relations whose objects have that type. Returned as an array, because removing them changes the list.
 */
export function relationsOf(context: WriteContext, type: TypeRecord): RelationRecord[] {
  return listed(context, lists.relationsOfType(type.id))
}

/**
 * The relations in a list. Each is read through the draft, so that the commit requires it to exist: a
 * concurrent command may remove it.
 */
function listed(context: WriteContext, list: ListName): RelationRecord[] {
  const { records } = context
  return [...records.list('relation', list)].map(record => records.get('relation', rowKeyOf(record))!)
}

/**
 * The types that have relations whose subjects are of `type`. Their roles have the derivation entries whose
 * source is a role of `type`.
 */
function typesLinkedFrom(context: WriteContext, type: TypeRecord): TypeRecord[] {
  const typeIds = [...context.records.list('relation', lists.relationsFromType(type.id))].map(
    ({ typeId }) => typeId,
  )
  return Array.from(new Set(typeIds), typeId => typeById(context, typeId))
}

function typeById(context: WriteContext, typeId: string): TypeRecord {
  const objectType = context.records.byId('type', typeId)
  assert(objectType, 'the object type of a relation exists')
  return objectType
}

function dropEntries(
  context: WriteContext,
  objectType: TypeRecord,
  isDropped: (entry: DerivationRecord) => boolean,
): Resumable<void> {
  return rewriteRoles(context, objectType, ({ grantedTo }) => ({
    grantedTo: { ...grantedTo, entries: grantedTo.entries.filter(entry => !isDropped(entry)) },
  }))
}

/**
 * Writes the roles of a type, or the tenant roles, from which `listsOf` removes entries. There is no change
 * for the engine, which drops references to a removed entity itself (native.md C.7).
 */
function rewriteRoles(
  context: WriteContext,
  type: TypeRecord | null,
  listsOf: (role: RoleRecord) => Partial<Pick<RoleRecord, 'permissions' | 'extends' | 'grantedTo'>>,
): Resumable<void> {
  const { records, now } = context
  return records.visit('role', lists.rolesOfType(type?.id ?? null), role => {
    const left = { ...role, ...listsOf(role), updatedAt: now }
    const isSame =
      left.permissions.length === role.permissions.length &&
      left.extends.length === role.extends.length &&
      left.grantedTo.entries.length === role.grantedTo.entries.length
    if (!isSame) records.put(left)
  })
}
