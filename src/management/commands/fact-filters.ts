/**
 * The filters that lists of facts have in common. References are keys or ids; undefined stands for a filter that was not
 * given, and something unknown lets nothing through.
 *
 * Facts have no list by type: a role or a relation belongs to one, so what is of a type is in the lists of its roles or
 * relations. That saves every fact a field and a list.
 */
import { AuthzError } from '#model/errors.ts'
import type {
  AssignmentRecord,
  InstanceRecord,
  RelationRecord,
  RoleRecord,
  TupleRecord,
} from '#model/records.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'
import type { ListName } from '#store/view.ts'
import { findTenant, findType, findUser, locateInstance } from './lookups.ts'
import type { RecordReader } from './record-reader.ts'
import { type Filter, idFilter } from './selection.ts'

type ListOf = (id: string) => ListName
type References = string | readonly string[] | undefined

function idsOf(found: readonly ({ readonly id: string } | null)[]): string[] {
  return found.flatMap(record => (record ? [record.id] : []))
}

/** Facts and instances that live in one of the tenants. */
export function tenantFilter(
  records: RecordReader,
  references: References,
  listOf: ListOf,
): Filter<{ readonly tenantId: string }> | null {
  if (references === undefined) return null
  const found = [references].flat().map(reference => findTenant(records, reference))
  return idFilter(idsOf(found), listOf, record => record.tenantId)
}

/** Instances of a type. */
export function typeFilter(
  records: RecordReader,
  reference: string | undefined,
  listOf: ListOf,
): Filter<InstanceRecord> | null {
  if (reference === undefined) return null
  return idFilter(idsOf([findType(records, reference)]), listOf, record => record.typeId)
}

/** Assignments to one of the users. */
export function userFilter(
  records: RecordReader,
  references: readonly string[] | undefined,
): Filter<AssignmentRecord> | null {
  if (references === undefined) return null
  const found = references.map(reference => findUser(records, reference))
  return idFilter(idsOf(found), lists.assignmentsOfUser, record => record.userId)
}

/** Assignments of one of the roles: a key may be that of a tenant role and of roles of several types. */
export function roleFilter(
  records: RecordReader,
  references: readonly string[] | undefined,
): Filter<AssignmentRecord> | null {
  if (references === undefined) return null
  return ofRoles(references.flatMap(reference => rolesNamed(records, reference)))
}

/** Assignments on instances of a type. */
export function typeRolesFilter(
  records: RecordReader,
  reference: string | undefined,
): Filter<AssignmentRecord> | null {
  if (reference === undefined) return null
  const type = findType(records, reference)
  return ofRoles(type ? [...records.list('role', lists.rolesOfType(type.id))] : [])
}

function ofRoles(roles: readonly RoleRecord[]): Filter<AssignmentRecord> {
  return idFilter(idsOf(roles), lists.assignmentsOfRole, record => record.roleId)
}

/** The roles of that key, of whatever type or of none; else the one of that id. O(types). */
export function rolesNamed(records: RecordReader, reference: string): RoleRecord[] {
  const tenantRole = records.get('role', rowKeys.role(null, reference))
  const named = tenantRole ? [tenantRole] : []
  for (const type of records.list('type', lists.all('type'))) {
    const role = records.get('role', rowKeys.role(type.id, reference))
    if (role) named.push(role)
  }
  if (named.length > 0) return named
  const byId = records.byReference('role', reference)
  return byId ? [byId] : []
}

/** Facts on, from or to one instance. */
export function instanceFilter<Item>(
  records: RecordReader,
  reference: string | undefined,
  listOf: ListOf,
  idOf: (record: Item) => string | null,
): Filter<Item> | null {
  if (reference === undefined) return null
  return idFilter(idsOf([findInstance(records, reference)]), listOf, idOf)
}

function findInstance(records: RecordReader, reference: string): InstanceRecord | null {
  try {
    return locateInstance(records, reference).record
  } catch (error) {
    if (error instanceof AuthzError && error.code === 'NOT_FOUND') return null
    throw error
  }
}

/** Tuples over a relation: a key may be that of relations of several types. O(types). */
export function relationFilter(
  records: RecordReader,
  reference: string | undefined,
): Filter<TupleRecord> | null {
  if (reference === undefined) return null
  const types = [...records.list('type', lists.all('type'))]
  const named = types.flatMap(({ id }) => records.get('relation', rowKeys.relation(id, reference)) ?? [])
  if (named.length > 0) return overRelations(named)
  const byId = records.byReference('relation', reference)
  return overRelations(byId ? [byId] : [])
}

/** Tuples whose object, or subject, is of a type: those over the relations that `relationsOf` lists. */
export function sideTypeFilter(
  records: RecordReader,
  reference: string | undefined,
  relationsOf: ListOf,
): Filter<TupleRecord> | null {
  if (reference === undefined) return null
  const type = findType(records, reference)
  return overRelations(type ? [...records.list('relation', relationsOf(type.id))] : [])
}

function overRelations(relations: readonly RelationRecord[]): Filter<TupleRecord> {
  return idFilter(idsOf(relations), lists.tuplesOver, record => record.relationId)
}
