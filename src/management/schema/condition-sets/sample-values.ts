/** Entities that a sample names for the trial of a condition set. */
import { findType, findUser, notFound } from '#management/drafts/lookups.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import { parseInstanceReference } from '#model/instance-reference.ts'
import type { InstanceRecord, UserRecord } from '#entities/records.ts'
import type { SetSample } from '#entities/tried-set.ts'
import { rowKeys } from '#store/keyspace/keyspace.ts'

/** A user as a check names it. */
export interface NamedUser {
  readonly key: string
  /** Null if the user is not stored. */
  readonly record: UserRecord | null
}

export interface SampleInstance {
  readonly type: string
  /** Null if there is no such resource type. */
  readonly typeId: string | null
  readonly key: string
  /** Null if the instance is not stored. */
  readonly record: InstanceRecord | null
}

export interface NamedThings {
  /** Null if the sample names no user. */
  readonly user: NamedUser | null
  readonly instance: SampleInstance | null
}

/**
 * The entities that a sample names. Throws `NOT_FOUND` for an unknown instance id. An instance that is named
 * by its key need not exist.
 */
export function namedIn(records: RecordReader, { user, resource_instance }: SetSample): NamedThings {
  return {
    user: user ? namedUser(records, user) : null,
    instance: resource_instance ? namedInstance(records, resource_instance) : null,
  }
}

function namedUser(records: RecordReader, reference: string): NamedUser {
  const record = findUser(records, reference)
  return { key: record?.key ?? reference, record }
}

function namedInstance(records: RecordReader, reference: string): SampleInstance {
  const named = parseInstanceReference(reference)
  if (named === null) {
    const record = records.byReference('instance', reference)
    const type = record && records.byId('type', record.typeId)
    if (!type) throw notFound('resource instance', reference, '; use type:key or an id')
    return { type: type.key, typeId: type.id, key: record.key, record }
  }
  const type = findType(records, named.type)
  const record = type && records.get('instance', rowKeys.instance(type.id, named.key))
  return { type: type?.key ?? named.type, typeId: type?.id ?? null, key: named.key, record }
}
