/**
 * Filters that the lists of facts have in common. References are keys or ids. An undefined reference means
 * that the filter was not given; an unknown one matches nothing.
 *
 * Facts have no list by type. A role or a relation belongs to one type, so the facts of a type are in the
 * lists of its roles or relations. This saves a field and a list for each fact.
 */
import { AuthzError } from '#model/errors.ts'
import type {
  AssignmentRecord,
  InstanceRecord,
  RelationRecord,
  RoleRecord,
  TupleRecord,
} from '#entities/records.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'
import type { ListName } from '#store/view.ts'
import type { Expiring } from '#management/drafts/fact-expiry.ts'
import { findTenant, findType, findUser, locateInstance } from '#management/drafts/lookups.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import { type Filter, idFilter } from './selection.ts'

type ListOf = (id: string) => ListName
type References = string | readonly string[] | undefined

function idsOf(found: readonly ({ readonly id: string } | null)[]): string[] {
  return found.flatMap(record => (record ? [record.id] : []))
}

/**
 * Facts and instances that belong to one of the tenants. A delegate must name its tenants
 * (administration.md D3).
 */
export function tenantFilter(
  records: RecordReader,
  references: References,
  listOf: ListOf,
): Filter<{ readonly tenantId: string }> | null {
  if (references === undefined) {
    if (!records.isLimited) return null
    throw new AuthzError('FORBIDDEN', 'this grant is limited to tenants: name one of them in `tenant`')
  }
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

/** Assignments of one of the roles. A tenant role and roles of several types can have the same key. */
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

/**
 * The tenant role and all resource roles with that key. If there are none, the role with that id. O(types).
 */
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

/** Tuples of a relation. Relations of several types can have the same key. O(types). */
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

/** Tuples whose object, or subject, has a given type: those of the relations that `relationsOf` lists. */
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

/**
 * Filters for facts that expire before a time. All expiring facts are in one list, and each of them is
 * examined.
 */
export function expiryFilters(
  before: string | undefined,
  expiring: () => ListName,
): readonly (Filter<Expiring> | null)[] {
  if (before === undefined) return []
  const beforeMs = Date.parse(before)
  return [
    { lists: [expiring()], matches: ({ expiresAt }) => expiresAt !== null },
    { lists: null, matches: ({ expiresAt }) => expiresAt !== null && expiresAt < beforeMs },
  ]
}
