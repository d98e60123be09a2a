/**
 * Finds the entities that a request refers to, by key first and then by id (native.md B.1). If an entity is
 * missing, throws `NOT_FOUND` with its name. Every lookup through a draft becomes a requirement of its
 * commit.
 */
import { isBuiltInTypeKey } from '#model/built-in-types.ts'
import { AuthzError } from '#model/errors.ts'
import { parseInstanceReference } from '#model/instance-reference.ts'
import {
  type InstanceRecord,
  type RelationRecord,
  type RoleRecord,
  type TenantRecord,
  type TypeRecord,
  type UserRecord,
} from '#entities/records.ts'
import { isLongKey } from '#model/wire/references.ts'
import { rowKeys } from '#store/keyspace/keyspace.ts'
import type { RecordReader } from './record-reader.ts'

const BUILT_IN_HINT = '; this resource is built in and has only attributes'

export function notFound(what: string, reference: string, hint = ''): AuthzError {
  return new AuthzError('NOT_FOUND', `there is no ${what} ${JSON.stringify(reference)}${hint}`)
}

/** A type that was created by callers. A built-in type is not found. */
export function findType(records: RecordReader, reference: string): TypeRecord | null {
  const type = findStoredType(records, reference)
  return type && isBuiltInTypeKey(type.key) ? null : type
}

/** A stored type, built in or not. A built-in type is stored as soon as it gets an attribute. */
export function findStoredType(records: RecordReader, reference: string): TypeRecord | null {
  return records.get('type', rowKeys.type(reference)) ?? records.byReference('type', reference)
}

export function requireType(records: RecordReader, reference: string): TypeRecord {
  const type = findType(records, reference)
  if (!type) throw notFound('resource', reference, isBuiltInTypeKey(reference) ? BUILT_IN_HINT : '')
  return type
}

/**
 * The tenant, or null. A delegate can name only its own tenants: for any other reference, throws `FORBIDDEN`,
 * which does not reveal whether such a tenant exists (administration.md D3).
 */
export function findTenant(records: RecordReader, reference: string): TenantRecord | null {
  const tenant = records.get('tenant', rowKeys.tenant(reference)) ?? records.byReference('tenant', reference)
  if (tenant === null && records.isLimited) {
    throw new AuthzError('FORBIDDEN', `this grant is not valid for a tenant ${JSON.stringify(reference)}`)
  }
  return tenant
}

export function requireTenant(records: RecordReader, reference: string): TenantRecord {
  const tenant = findTenant(records, reference)
  if (!tenant) throw notFound('tenant', reference)
  return tenant
}

export function findUser(records: RecordReader, reference: string): UserRecord | null {
  return records.get('user', rowKeys.user(reference)) ?? records.byReference('user', reference)
}

export function requireUser(records: RecordReader, reference: string): UserRecord {
  const user = findUser(records, reference)
  if (!user) throw notFound('user', reference)
  return user
}

/** A role of that resource type, or a tenant role if `type` is null. */
export function findRole(
  records: RecordReader,
  type: TypeRecord | null,
  reference: string,
): RoleRecord | null {
  const typeId = type?.id ?? null
  const byKey = records.get('role', rowKeys.role(typeId, reference))
  if (byKey) return byKey
  const byId = records.byReference('role', reference)
  return byId?.typeId === typeId ? byId : null
}

export function requireRole(records: RecordReader, type: TypeRecord | null, reference: string): RoleRecord {
  const role = findRole(records, type, reference)
  if (!role) throw notFound('role', reference, type ? ` on resource ${JSON.stringify(type.key)}` : '')
  return role
}

/** A relation whose object type is that type. */
export function requireRelation(
  records: RecordReader,
  objectType: TypeRecord,
  reference: string,
): RelationRecord {
  const byKey = records.get('relation', rowKeys.relation(objectType.id, reference))
  if (byKey) return byKey
  const byId = records.byReference('relation', reference)
  if (byId?.typeId === objectType.id) return byId
  throw notFound('relation', reference, ` on resource ${JSON.stringify(objectType.key)}`)
}

/** An instance that a request names: its record, or the type and key of a missing one. */
export type NamedInstance =
  | { readonly record: InstanceRecord; readonly type: TypeRecord; readonly key: string }
  | { readonly record: null; readonly type: TypeRecord; readonly key: string }

/** Finds `type:key` or an id. Throws `NOT_FOUND` if the type, or an instance with that id, does not exist. */
export function locateInstance(records: RecordReader, reference: string): NamedInstance {
  const named = parseInstanceReference(reference)
  if (named) return locateInstanceOf(records, requireType(records, named.type), named.key)
  const record = records.byReference('instance', reference)
  const type = record && records.byId('type', record.typeId)
  if (!record || !type) throw notFound('resource instance', reference, '; use type:key or an id')
  return { record, type, key: record.key }
}

/** The instance of that type and key. Throws `INVALID_SHAPE` if the text is not a valid instance key. */
export function locateInstanceOf(records: RecordReader, type: TypeRecord, key: string): NamedInstance {
  if (!isLongKey(key)) {
    throw new AuthzError(
      'INVALID_SHAPE',
      'an instance key must have 1 to 512 bytes and no control characters',
    )
  }
  return { record: records.get('instance', rowKeys.instance(type.id, key)), type, key }
}

export function requireInstance(records: RecordReader, reference: string): InstanceRecord {
  const { record } = locateInstance(records, reference)
  if (!record) throw notFound('resource instance', reference)
  return record
}
