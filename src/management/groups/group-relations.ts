/**
 * Relations that the groups API creates (native.md C.4). There is one relation per (group type, role) that is
 * granted on a type, so that a tuple grants exactly one role. There is one relation per group type for
 * nesting. Each relation is created with the derivation entry that gives it its meaning. Both are removed
 * with the last tuple (native.md C.5).
 */
import type { WriteContext } from '#management/drafts/context.ts'
import type { Draft } from '#management/drafts/draft.ts'
import { findRole } from '#management/drafts/lookups.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import { takesAway } from '#management/drafts/removal.ts'
import { type Resumable, YIELD_ROWS } from '#scheduling/resumable.ts'
import { addRelation } from '#management/schema/relations.ts'
import { isSameDerivation } from '#management/schema/role-rules.ts'
import { putRole } from '#management/schema/roles.ts'
import { removeRelations } from '#management/schema/schema-removals.ts'
import { assert } from '#model/assert.ts'
import { SHORT_KEY_LENGTH_MAX } from '#model/limits.ts'
import type { DerivationRecord, GroupUse, RelationRecord, RoleRecord, TypeRecord } from '#entities/records.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'
import { MEMBER_ROLE } from './group-lookup.ts'

/** Maximum number of dead tuples to skip when searching for a live one: about a millisecond. */
const DEAD_TUPLES_MAX = 256
/** Space for `_` and a number after a key that is in use. */
const SUFFIX_LENGTH = 6

/** The relations by which groups of `groupType` are granted roles, on any type. */
export function* grantRelations(records: RecordReader, groupType: TypeRecord): Iterable<RelationRecord> {
  for (const relation of records.list('relation', lists.relationsFromType(groupType.id))) {
    if (relation.groupUse?.use === 'grant') yield relation
  }
}

/**
 * The relation that grants `role` of `objectType` to groups of `groupType`, if it exists and still has that
 * meaning.
 */
export function findGrantRelation(
  records: RecordReader,
  groupType: TypeRecord,
  objectType: TypeRecord,
  role: RoleRecord,
): RelationRecord | null {
  const relation = madeForGrants(records, groupType, objectType, role)
  return relation && isStillDerived(relation, groupType, role) ? relation : null
}

/** The nesting relation of a group type, if it exists and still has that meaning. */
export function findNestingRelation(records: RecordReader, groupType: TypeRecord): RelationRecord | null {
  const relation = madeForNesting(records, groupType)
  return relation && isStillDerived(relation, groupType, findRole(records, groupType, MEMBER_ROLE))
    ? relation
    : null
}

export function* ensureGrantRelation(
  context: WriteContext,
  groupType: TypeRecord,
  objectType: TypeRecord,
  role: RoleRecord,
): Resumable<RelationRecord> {
  const found = madeForGrants(context.records, groupType, objectType, role)
  if (found && isStillDerived(found, groupType, role)) return found
  if (found) yield* giveUp(context, found, objectType)
  const key = `${groupType.key}_group_${role.key}`
  return addGroupRelation(context, groupType, objectType, key, { use: 'grant', role: role.key })
}

export function* ensureNestingRelation(
  context: WriteContext,
  groupType: TypeRecord,
): Resumable<RelationRecord> {
  const found = madeForNesting(context.records, groupType)
  if (found && isStillDerived(found, groupType, findRole(context.records, groupType, MEMBER_ROLE)))
    return found
  if (found) yield* giveUp(context, found, groupType)
  return addGroupRelation(context, groupType, groupType, groupType.key, { use: 'nesting' })
}

function madeForGrants(
  records: RecordReader,
  groupType: TypeRecord,
  objectType: TypeRecord,
  role: RoleRecord,
): RelationRecord | null {
  for (const relation of grantRelations(records, groupType)) {
    const isOfRole = relation.groupUse?.use === 'grant' && relation.groupUse.role === role.key
    if (relation.typeId === objectType.id && isOfRole) return relation
  }
  return null
}

function madeForNesting(records: RecordReader, groupType: TypeRecord): RelationRecord | null {
  for (const relation of records.list('relation', lists.relationsOfType(groupType.id))) {
    if (relation.groupUse?.use === 'nesting') return relation
  }
  return null
}

/**
 * Whether the role for which the relation was created is still derived from `member` over it. Only then do
 * its tuples have their original meaning.
 */
export function isStillDerived(
  relation: RelationRecord,
  groupType: TypeRecord,
  role: RoleRecord | null,
): role is RoleRecord {
  return role !== null && hasDerivation(role, memberDerivation(groupType, relation))
}

/**
 * Removes a relation whose derivation entry was removed by a caller, together with its grants, which have
 * lost their effect. If these grants stayed, a new derivation entry would restore all of them (native.md C.4,
 * D-40). If a caller has defined other derivations over the relation, it becomes an ordinary relation.
 */
function* giveUp(context: WriteContext, relation: RelationRecord, objectType: TypeRecord): Resumable<void> {
  const { records } = context
  // This requirement precedes the first pause. A command that concurrently adds a derivation over the
  // relation writes the relation, and this command runs again.
  records.requireUnchanged(relation)
  let looks = 0
  for (const role of records.list('role', lists.rolesOfType(objectType.id))) {
    if (++looks % YIELD_ROWS === 0) yield
    if (!role.grantedTo.entries.some(entry => entry.relation === relation.key)) continue
    records.put({ ...relation, groupUse: null, updatedAt: context.now })
    return
  }
  yield* removeRelations(context, [relation], objectType)
}

/**
 * Adds a relation. If the key is in use, `_2`, `_3`, … is appended (native.md D-37); a key that would be too
 * long is cut first.
 */
function addGroupRelation(
  context: WriteContext,
  groupType: TypeRecord,
  objectType: TypeRecord,
  wantedKey: string,
  groupUse: GroupUse,
): RelationRecord {
  const base = wantedKey.slice(0, SHORT_KEY_LENGTH_MAX - SUFFIX_LENGTH)
  let key = base
  for (let number = 2; context.records.get('relation', rowKeys.relation(objectType.id, key)); number += 1) {
    key = `${base}_${number}`
  }
  const added = addRelation(context, {
    objectType,
    subjectType: groupType,
    key,
    name: key,
    description: null,
    groupUse,
  })
  return added
}

/** The entry "users who hold `member` on the subject of `relation` hold `role` on its object". */
export function memberDerivation(groupType: TypeRecord, relation: RelationRecord): DerivationRecord {
  return { role: MEMBER_ROLE, onType: groupType.key, relation: relation.key, guarded: false }
}

function hasDerivation(role: RoleRecord, entry: DerivationRecord): boolean {
  return role.grantedTo.entries.some(other => isSameDerivation(other, entry))
}

/** Adds the entry to the role unless it exists. */
export function ensureDerivation(
  context: WriteContext,
  type: TypeRecord,
  role: RoleRecord,
  entry: DerivationRecord,
): void {
  const { records } = context
  records.requireUnchanged(role)
  if (hasDerivation(role, entry)) return
  const sourceType = records.get('type', rowKeys.type(entry.onType))
  const source = sourceType && records.get('role', rowKeys.role(sourceType.id, entry.role))
  const relation = records.get('relation', rowKeys.relation(type.id, entry.relation))
  assert(source && relation, 'the role and the relation of an entry exist')
  // Both become requirements, because a role can be derived from itself. This causes a conflict with a
  // concurrent removal of either, which then runs again.
  records.touch(source)
  records.touch(relation)
  const entries = [...role.grantedTo.entries, entry]
  putRole(context, { ...role, grantedTo: { ...role.grantedTo, entries }, updatedAt: context.now }, type)
}

/**
 * Whether a draft may have removed the last use of a relation that the groups API created: a tuple, or a
 * derivation entry of a caller. The result depends only on the changed rows, so it is available for every
 * command. O(facts, purges and roles that the draft has read), with a pause after each role.
 */
export function* mayLeaveRelationsUnused(records: Draft): Resumable<boolean> {
  if (takesAway(records, 'tuple')) return true
  for (const [before, after] of records.written('role')) {
    yield
    if (before?.grantedTo.entries.some(entry => after === null || !hasDerivation(after, entry))) return true
  }
  return false
}

/**
 * The ids of unused relations that the groups API created. Pauses after each relation. O(group relations ×
 * roles of their types).
 */
export function* unusedGroupRelations(records: RecordReader): Resumable<string[]> {
  const unused: string[] = []
  for (const relation of records.list('relation', lists.groupRelations())) {
    if (isUnused(records, relation)) unused.push(relation.id)
    yield
  }
  return unused
}

/**
 * Whether the relation has no tuples, and no derivation entries that callers have defined over it (native.md
 * C.5: "unchanged").
 */
function isUnused(records: RecordReader, relation: RelationRecord): boolean {
  if (relation.groupUse === null || hasTuples(records, relation)) return false
  for (const role of records.list('role', lists.rolesOfType(relation.typeId))) {
    for (const entry of role.grantedTo.entries) {
      if (entry.relation === relation.key && !isOwnEntry(records, { relation, role, entry })) return false
    }
  }
  return true
}

/**
 * Whether the relation has a live tuple. After many dead tuples, assumes that there is one; the relation is
 * checked again after the purge.
 */
function hasTuples(records: RecordReader, relation: RelationRecord): boolean {
  let dead = 0
  for (const { isDead } of records.foundIn('tuple', [lists.tuplesOver(relation.id)])) {
    if (!isDead || ++dead === DEAD_TUPLES_MAX) return true
  }
  return false
}

/** Whether the groups API created the entry together with the relation. */
function isOwnEntry(
  records: RecordReader,
  { relation, role, entry }: { relation: RelationRecord; role: RoleRecord; entry: DerivationRecord },
): boolean {
  const groupType = records.byId('type', relation.subjectTypeId)
  if (!groupType) return false
  const roleKey = relation.groupUse?.use === 'grant' ? relation.groupUse.role : MEMBER_ROLE
  return role.key === roleKey && isSameDerivation(entry, memberDerivation(groupType, relation))
}

/**
 * First step of removing a group relation without tuples (native.md C.5): marks it. Counts of lists are not a
 * requirement of a commit, so a tuple can be added between the count and the commit. But a command that adds
 * a tuple requires the relation to be unwritten. If the mark was written, that command runs again and removes
 * the mark. The second step does nothing without the mark.
 */
export function retireRelation(context: WriteContext, relationId: string): void {
  const relation = context.records.byId('relation', relationId)
  if (!relation || relation.retiring || !isUnused(context.records, relation)) return
  context.records.put({ ...relation, retiring: true })
}

/** Second step: removes the relation with the entries that refer to it, if it is still marked and unused. */
export function removeRetiredRelation(context: WriteContext, relationId: string): void {
  const { records } = context
  const relation = records.byId('relation', relationId)
  if (!relation?.retiring || !isUnused(records, relation)) return
  const type = records.byId('type', relation.typeId)
  assert(type, 'the type of a relation exists')
  for (const role of records.list('role', lists.rolesOfType(type.id))) {
    const entries = role.grantedTo.entries.filter(entry => entry.relation !== relation.key)
    if (entries.length === role.grantedTo.entries.length) continue
    putRole(context, { ...role, grantedTo: { ...role.grantedTo, entries }, updatedAt: context.now }, type)
  }
  records.delete(relation, { kind: 'relation-removed', type: type.key, relation: relation.key })
}
