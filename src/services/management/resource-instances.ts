/** Resource instances (contract B.9): made on their own, or on the way by what is said about them. */
import { assert } from '#model/assert.ts'
import { DEFAULT_TENANT } from '#model/decision.ts'
import { AuthzError } from '#model/errors.ts'
import { formatInstanceReference } from '#model/instance-reference.ts'
import type { InstanceRecord, TenantRecord, TypeRecord } from '#model/records.ts'
import type { ResourceInstance, ResourceInstanceCreate } from '#model/wire/resource-instance.ts'
import { presentScope, presentTimes, type ReadContext, type WriteContext } from './context.ts'
import { locateInstanceOf, requireTenant, requireType } from './lookups.ts'
import type { RecordReader } from './record-reader.ts'

interface NewInstance {
  readonly type: TypeRecord
  readonly key: string
  readonly tenant: TenantRecord
  readonly attributes?: Readonly<Record<string, unknown>>
  readonly isGroup?: boolean
}

/** Adds an instance. The caller has made sure that the place is free. */
export function addInstance(context: WriteContext, instance: NewInstance): InstanceRecord {
  const { type, key, tenant } = instance
  const record: InstanceRecord = {
    kind: 'instance',
    id: context.newId(),
    typeId: type.id,
    key,
    tenantId: tenant.id,
    attributes: instance.attributes ?? {},
    isGroup: instance.isGroup ?? false,
    createdAt: context.now,
    updatedAt: context.now,
  }
  context.records.put(record, {
    kind: 'instance-put',
    instance: { type: type.key, key },
    tenant: tenant.key,
    attributes: record.attributes,
  })
  return record
}

export function createResourceInstance(
  context: WriteContext,
  input: { readonly body: ResourceInstanceCreate },
): ResourceInstance {
  const { records } = context
  const { body } = input
  const type = requireType(records, body.resource)
  const tenant = requireTenant(records, body.tenant ?? DEFAULT_TENANT)
  const place = locateInstanceOf(records, type, body.key)
  if (place.record) {
    const name = formatInstanceReference({ type: type.key, key: body.key })
    throw new AuthzError('DUPLICATE_ENTITY', `there is a resource instance ${JSON.stringify(name)} already`)
  }
  const instance = addInstance(context, { type, key: body.key, tenant, attributes: body.attributes ?? {} })
  return presentResourceInstance(context, instance)
}

/** An instance as texts and engine keys name it. */
export function instanceKeyOf(records: RecordReader, instance: InstanceRecord) {
  const type = records.byId('type', instance.typeId)
  assert(type, 'an instance that is read lives no longer than its type')
  return { type: type.key, key: instance.key }
}

export function presentResourceInstance(context: ReadContext, instance: InstanceRecord): ResourceInstance {
  const tenant = context.records.byId('tenant', instance.tenantId)
  assert(tenant, 'an instance that is read lives no longer than its tenant')
  return {
    id: instance.id,
    key: instance.key,
    ...presentScope(context.scope),
    ...presentTimes(instance),
    resource: instanceKeyOf(context.records, instance).type,
    resource_id: instance.typeId,
    tenant: tenant.key,
    tenant_id: tenant.id,
    attributes: instance.attributes,
    relationships: null,
  }
}
