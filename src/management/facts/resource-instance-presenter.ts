/** Resource instances in the form of responses (native.md B.9). */
import { presented } from '#entities/entity.ts'
import { presentIdentity, type ReadContext, type Scoped } from '#management/drafts/context.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import { type Resumable, YIELD_ROWS } from '#scheduling/resumable.ts'
import { assert } from '#model/assert.ts'
import { formatInstanceReference } from '#model/instance-reference.ts'
import { INSTANCE_RELATIONSHIPS_MAX } from '#model/limits.ts'
import type { InstanceRecord, TupleRecord } from '#entities/records.ts'
import { INSTANCE, type ResourceInstance } from '#entities/resource-instance.ts'
import { lists } from '#store/keyspace/keyspace.ts'

export function presentResourceInstance(context: ReadContext, instance: InstanceRecord): ResourceInstance {
  const tenant = context.records.byId('tenant', instance.tenantId)
  const type = context.records.byId('type', instance.typeId)
  assert(tenant && type, 'the tenant and the type of an instance exist')
  return {
    ...presentInstanceFields(context, instance, { type: type.key, tenant: tenant.key }),
    relationships: null,
  }
}

/** The fields of an instance, without its relationships. */
export function presentInstanceFields(
  { scope }: Scoped,
  instance: InstanceRecord,
  { type, tenant }: { readonly type: string; readonly tenant: string },
) {
  return {
    ...presentIdentity(scope, instance),
    resource: type,
    resource_id: instance.typeId,
    tenant,
    tenant_id: instance.tenantId,
    ...presented(INSTANCE, instance),
  }
}

/** An instance with the first of its relationships, at most `INSTANCE_RELATIONSHIPS_MAX`. */
export function* withRelationships(
  context: ReadContext,
  instance: ResourceInstance,
): Resumable<ResourceInstance> {
  const { records } = context
  const relationships: ReturnType<typeof namesOf>[] = []
  let rows = 0
  const from = lists.tuplesFrom(instance.id)
  for (const list of [from, lists.tuplesTo(instance.id)]) {
    for (const { record, isDead } of records.foundIn('tuple', [list])) {
      if (relationships.length === INSTANCE_RELATIONSHIPS_MAX) break
      // A tuple from an instance to itself is in both lists.
      const isKnown = list !== from && record.subjectId === instance.id
      if (!isDead && !isKnown) relationships.push(namesOf(records, record))
      // The pause comes last: records that were read before a pause may no longer exist after it.
      if (++rows % YIELD_ROWS === 0) yield
    }
  }
  return { ...instance, relationships }
}

/** A live tuple with keys instead of ids. */
export function namesOf(records: RecordReader, tuple: TupleRecord) {
  const relation = records.byId('relation', tuple.relationId)
  assert(relation, 'the relation of a tuple exists')
  return {
    subject: nameOfInstance(records, tuple.subjectId),
    relation: relation.key,
    object: nameOfInstance(records, tuple.objectId),
  }
}

function nameOfInstance(records: RecordReader, id: string): string {
  const instance = records.byId('instance', id)
  const type = instance && records.byId('type', instance.typeId)
  assert(type, 'the instances of a tuple exist')
  return formatInstanceReference({ type: type.key, key: instance.key })
}
