/**
 * The relations the groups API makes (native.md C.4): one per (group type, role) granted on a type, so that a
 * tuple carries exactly one role and grants never leak into each other; one per group type for nesting. Each
 * comes with the derivation entry that gives it its meaning, and both go when the last tuple does (native.md
 * C.5).
 */
import type { WriteContext } from '#management/commands/context.ts'
import type { Draft } from '#management/commands/draft.ts'
import { findRole } from '#management/commands/lookups.ts'
import type { RecordReader } from '#management/commands/record-reader.ts'
import { takesAway } from '#management/commands/removal.ts'
import { type Resumable, YIELD_ROWS } from '#management/commands/resumable.ts'
import { addRelation } from '#management/schema/relations.ts'
import { isSameDerivation } from '#management/schema/role-rules.ts'
import { putRole } from '#management/schema/roles.ts'
import { removeRelations } from '#management/schema/schema-removals.ts'
import { assert } from '#model/assert.ts'
import { SHORT_KEY_LENGTH_MAX } from '#model/limits.ts'
import type { DerivationRecord, GroupUse, RelationRecord, RoleRecord, TypeRecord } from '#model/records.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'
import { MEMBER_ROLE } from './group-lookup.ts'

/** Dead tuples of a relation that are passed over to find a live one: about a millisecond. */
const DEAD_TUPLES_MAX = 256
/** Room for `_` and a number after a key that is taken. */
const SUFFIX_LENGTH = 6

/** The relations by which groups of `groupType` are granted roles, on any type. */
export function* grantRelations(records: RecordReader, groupType: TypeRecord): Iterable<RelationRecord> {
  for (const relation of records.list('relation', lists.relationsFromType(groupType.id))) {
    if (relation.groupUse?.use === 'grant') yield relation
  }
}

/** The relation that grants `role` of `objectType` to groups of `groupType`, if there is one with that meaning. */
export function findGrantRelation(
  records: RecordReader,
  groupType: TypeRecord,
  objectType: TypeRecord,
  role: RoleRecord,
): RelationRecord | null {
  const relation = madeForGrants(records, groupType, objectType, role)
  return relation && isStanding(relation, groupType, role) ? relation : null
}

/** The relation by which groups of a type contain each other, if there is one with that meaning. */
export function findNestingRelation(records: RecordReader, groupType: TypeRecord): RelationRecord | null {
  const relation = madeForNesting(records, groupType)
  return relation && isStanding(relation, groupType, findRole(records, groupType, MEMBER_ROLE))
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
  if (found && isStanding(found, groupType, role)) return found
  if (found) yield* giveUp(context, found, objectType)
  const key = `${groupType.key}_group_${role.key}`
  return addGroupRelation(context, groupType, objectType, key, { use: 'grant', role: role.key })
}

export function* ensureNestingRelation(
  context: WriteContext,
  groupType: TypeRecord,
): Resumable<RelationRecord> {
  const found = madeForNesting(context.records, groupType)
  if (found && isStanding(found, groupType, findRole(context.records, groupType, MEMBER_ROLE))) return found
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
 * Whether the role for which the relation was made still derives from `member` over it, so that its tuples still mean what
 * they were made for.
 */
export function isStanding(
  relation: RelationRecord,
  groupType: TypeRecord,
  role: RoleRecord | null,
): role is RoleRecord {
  return role !== null && hasDerivation(role, memberDerivation(groupType, relation))
}

/**
 * Removes a relation whose entry somebody has removed, with the grants that ended thereby. A new entry over it, made for a
 * new grant, would bring them all back (native.md C.4, D-40). If somebody else derives over the relation, it
 * belongs to them from now on.
 */
function* giveUp(context: WriteContext, relation: RelationRecord, objectType: TypeRecord): Resumable<void> {
  const { records } = context
  // Read before the first stop: whoever begins to derive over it meanwhile writes it, and this command runs again.
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
 * Adds a relation. A key that is taken gets `_2`, `_3`, … (native.md D-37); a key that would be too long is
 * cut first.
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

/** "Whoever holds `member` on the subject of `relation` holds `role` on its object." */
export function memberDerivation(groupType: TypeRecord, relation: RelationRecord): DerivationRecord {
  return { role: MEMBER_ROLE, onType: groupType.key, relation: relation.key, guarded: false }
}

function hasDerivation(role: RoleRecord, entry: DerivationRecord): boolean {
  return role.grantedTo.entries.some(other => isSameDerivation(other, entry))
}

/** Adds the entry to the role unless it is there. */
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
  assert(source && relation, 'an entry names a role and a relation that are there')
  // Read again, since a role may derive from itself. A removal of either role that is under way must run again.
  records.touch(source)
  records.touch(relation)
  const entries = [...role.grantedTo.entries, entry]
  putRole(context, { ...role, grantedTo: { ...role.grantedTo, entries }, updatedAt: context.now }, type)
}

/**
 * Whether what a draft takes away may be the last that a relation made by the groups API was needed for: a tuple, or an entry that
 * somebody else derives by. Seen in its rows, whichever command wrote them. O(facts, purges and roles that it has met), with a stop
 * after each role.
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
 * The ids of the relations made by the groups API that nobody needs any more, with a stop after each that is looked at. O(group
 * relations × roles of their types).
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
 * Whether the relation has no tuples, and no derivation entries that somebody else has put on it (native.md
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

/** After very many dead tuples none is looked for any more: the relation is looked at again when they have been purged. */
function hasTuples(records: RecordReader, relation: RelationRecord): boolean {
  let dead = 0
  for (const { isDead } of records.foundIn('tuple', [lists.tuplesOver(relation.id)])) {
    if (!isDead || ++dead === DEAD_TUPLES_MAX) return true
  }
  return false
}

/** Whether the groups API put the entry there, with the relation. */
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
 * First step of the removal of a group relation without tuples (native.md C.5): marks it. Counts of lists are
 * no requirement of a commit, so a tuple may appear between the count and the commit. But a command that adds
 * a tuple requires the relation to be unwritten: it runs again after the mark and removes the mark. So the
 * second step requires the mark.
 */
export function retireRelation(context: WriteContext, relationId: string): void {
  const relation = context.records.byId('relation', relationId)
  if (!relation || relation.retiring || !isUnused(context.records, relation)) return
  context.records.put({ ...relation, retiring: true })
}

/** Second step: removes the relation, if it is still marked and unused, with the entries that refer to it. */
export function removeRetiredRelation(context: WriteContext, relationId: string): void {
  const { records } = context
  const relation = records.byId('relation', relationId)
  if (!relation?.retiring || !isUnused(records, relation)) return
  const type = records.byId('type', relation.typeId)
  assert(type, 'a relation that is read lives no longer than its type')
  for (const role of records.list('role', lists.rolesOfType(type.id))) {
    const entries = role.grantedTo.entries.filter(entry => entry.relation !== relation.key)
    if (entries.length === role.grantedTo.entries.length) continue
    putRole(context, { ...role, grantedTo: { ...role.grantedTo, entries }, updatedAt: context.now }, type)
  }
  records.delete(relation, { kind: 'relation-removed', type: type.key, relation: relation.key })
}
