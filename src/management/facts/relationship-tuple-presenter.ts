/**
 * Relationship tuples in the form of responses (native.md B.10), plain or with the details of both instances.
 */
import { presentScope, presentTimes, type ReadContext, type Scoped } from '#management/drafts/context.ts'
import { presentExpiry } from '#management/drafts/fact-expiry.ts'
import { namesOf } from './resource-instance-presenter.ts'
import { instanceKeyOf } from './resource-instances.ts'
import { assert } from '#model/assert.ts'
import type { InstanceRecord, TenantRecord, TupleRecord } from '#entities/records.ts'
import type { RelationshipTuple } from '#entities/relationship-tuple.ts'

export function presentTuple(context: ReadContext, record: TupleRecord): RelationshipTuple {
  const { records } = context
  const tenant = records.byId('tenant', record.tenantId)
  assert(tenant, 'the tenant of a tuple exists')
  return {
    ...presentTupleFields(context, record, { ...namesOf(records, record), tenant: tenant.key }),
    subject_details: null,
    relation_details: null,
    object_details: null,
    tenant_details: null,
  }
}

/** The fields of a tuple, without the details of the entities that it connects. */
export function presentTupleFields(
  { scope }: Scoped,
  record: TupleRecord,
  names: Pick<RelationshipTuple, 'subject' | 'relation' | 'object' | 'tenant'>,
) {
  return {
    id: record.id,
    ...names,
    subject_id: record.subjectId,
    relation_id: record.relationId,
    object_id: record.objectId,
    tenant_id: record.tenantId,
    ...presentScope(scope),
    ...presentTimes({ createdAt: record.createdAt, updatedAt: record.createdAt }),
    ...presentExpiry(record),
  }
}

export function presentDetailedTuple(context: ReadContext, record: TupleRecord): RelationshipTuple {
  const { records } = context
  const subject = records.byId('instance', record.subjectId)
  const object = records.byId('instance', record.objectId)
  const relation = records.byId('relation', record.relationId)
  const tenant = records.byId('tenant', record.tenantId)
  assert(subject && object && relation && tenant, 'the instances of a tuple exist')
  const { id, key, name, attributes } = tenant
  return {
    ...presentTuple(context, record),
    subject_details: detailsOf(context, subject, tenant),
    relation_details: { id: relation.id, key: relation.key, name: relation.name },
    object_details: detailsOf(context, object, tenant),
    tenant_details: { id, key, name, attributes },
  }
}

/** Details of one instance of a tuple. Both instances are in the tenant of the tuple. */
function detailsOf({ records }: ReadContext, instance: InstanceRecord, tenant: TenantRecord) {
  const { id, key, attributes } = instance
  return { id, key, tenant: tenant.key, resource: instanceKeyOf(records, instance).type, attributes }
}
