/** Resource instances (native.md B.9): created explicitly, or implicitly by facts that name them. */
import { type RecordFields, recordFrom, updated } from '#entities/entity.ts'
import { newIdentity, type ReadContext, type WriteContext } from '#management/drafts/context.ts'
import {
  locateInstanceOf,
  notFound,
  requireInstance,
  requireTenant,
  requireType,
} from '#management/drafts/lookups.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import { dependantsOf, removeDependants } from '#management/drafts/removal.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { assert } from '#model/assert.ts'
import type { Change } from '#model/change.ts'
import { DEFAULT_TENANT } from '#model/decision.ts'
import { AuthzError } from '#model/errors.ts'
import { formatInstanceReference } from '#model/instance-reference.ts'
import type { InstanceRecord, TenantRecord, TypeRecord } from '#entities/records.ts'
import {
  INSTANCE,
  type ResourceInstance,
  type ResourceInstanceCreate,
  type ResourceInstanceQuery,
  type ResourceInstanceUpdate,
} from '#entities/resource-instance.ts'
import { rowKeyOf } from '#store/keyspace/keyspace.ts'
import { presentResourceInstance, withRelationships } from './resource-instance-presenter.ts'

interface InstanceParams {
  readonly instance_id: string
}

interface NewInstance {
  readonly type: TypeRecord
  readonly key: string
  readonly tenant: TenantRecord
  readonly fields?: RecordFields<typeof INSTANCE>
  readonly isGroup?: boolean
}

/**
 * Adds an instance. The caller has checked that the key is not in use. A delegate creates no instances,
 * because it could take the keys that other tenants need: throws `NOT_FOUND` (administration.md D4).
 */
export function addInstance(context: WriteContext, instance: NewInstance): InstanceRecord {
  const { type, key, tenant } = instance
  if (context.records.isLimited) {
    throw notFound('resource instance', formatInstanceReference({ type: type.key, key }))
  }
  const record: InstanceRecord = {
    kind: 'instance',
    ...newIdentity(context, key),
    typeId: type.id,
    tenantId: tenant.id,
    ...(instance.fields ?? recordFrom(INSTANCE, {})),
    isGroup: instance.isGroup ?? false,
  }
  putInstance(context, record, tenant)
  return record
}

/** Writes an instance and notifies the engine. */
function putInstance(context: WriteContext, record: InstanceRecord, tenant: TenantRecord): void {
  const { records } = context
  const { attributes } = record
  const instance = instanceKeyOf(records, record)
  const put = { kind: 'instance-put', instance, tenant: tenant.key, attributes } as const
  // If the engine applies the log again, it may still have an earlier instance with that key, even in another
  // tenant. It must remove that instance first.
  const before: Change[] = records.replacesStored(rowKeyOf(record))
    ? [{ kind: 'instance-removed', instance }]
    : []
  records.put(record, ...before, put)
}

export function createResourceInstance(
  context: WriteContext,
  input: { readonly body: ResourceInstanceCreate },
): ResourceInstance {
  const { type, tenant, found, key } = placeOf(context, input.body)
  if (found) {
    const name = formatInstanceReference({ type: type.key, key })
    throw new AuthzError('DUPLICATE_ENTITY', `there is a resource instance ${JSON.stringify(name)} already`)
  }
  const instance = addInstance(context, { type, key, tenant, fields: recordFrom(INSTANCE, input.body) })
  return presentResourceInstance(context, instance)
}

/** Creates the instance or replaces its attributes. An existing instance keeps its tenant. */
export function writeInstance(context: WriteContext, body: ResourceInstanceCreate): void {
  const { type, key, tenant, found } = placeOf(context, body)
  const fields = recordFrom(INSTANCE, body)
  if (!found) {
    addInstance(context, { type, key, tenant, fields })
    return
  }
  const own = tenantOf(context.records, found)
  if (body.tenant && own.id !== tenant.id) {
    const name = JSON.stringify(formatInstanceReference({ type: type.key, key }))
    throw new AuthzError(
      'MISMATCH_RESOURCE_INSTANCES_TENANTS',
      `${name} is in tenant ${JSON.stringify(own.key)}, not ${JSON.stringify(tenant.key)}`,
    )
  }
  changeInstance(context, found, fields)
}

/** Type, key and tenant of the instance that a body names, whether it exists or not. */
function placeOf({ records }: WriteContext, body: ResourceInstanceCreate) {
  const type = requireType(records, body.resource)
  const place = locateInstanceOf(records, type, body.key)
  // An existing instance determines the tenant.
  const tenant =
    place.record && !body.tenant
      ? tenantOf(records, place.record)
      : requireTenant(records, body.tenant ?? DEFAULT_TENANT)
  return { type, key: body.key, tenant, found: place.record }
}

function tenantOf(records: RecordReader, instance: InstanceRecord): TenantRecord {
  const tenant = records.byId('tenant', instance.tenantId)
  assert(tenant, 'the tenant of an instance exists')
  return tenant
}

function changeInstance(
  context: WriteContext,
  instance: InstanceRecord,
  fields: RecordFields<typeof INSTANCE>,
): InstanceRecord {
  const changed = { ...instance, ...fields, updatedAt: context.now }
  putInstance(context, changed, tenantOf(context.records, instance))
  return changed
}

/** Updates an instance. Each field in the body replaces the whole old value, and null clears it. */
export function updateResourceInstance(
  context: WriteContext,
  input: { readonly params: InstanceParams; readonly body: ResourceInstanceUpdate },
): ResourceInstance {
  const instance = requireInstance(context.records, input.params.instance_id)
  const changed = changeInstance(context, instance, updated(INSTANCE, instance, input.body))
  return presentResourceInstance(context, changed)
}

export function* getResourceInstance(
  context: ReadContext,
  input: { readonly params: InstanceParams; readonly query: ResourceInstanceQuery },
): Resumable<ResourceInstance> {
  const instance = requireInstance(context.records, input.params.instance_id)
  const presented = presentResourceInstance(context, instance)
  return input.query.detailed ? yield* withRelationships(context, presented) : presented
}

export function deleteResourceInstance(
  context: WriteContext,
  input: { readonly params: InstanceParams },
): void {
  removeInstance(context, requireInstance(context.records, input.params.instance_id))
}

/** Removes an instance, which can be a group, with all its dependents (native.md C.7). */
export function removeInstance(context: WriteContext, instance: InstanceRecord): void {
  const { records } = context
  records.delete(instance, instanceRemoved(records, instance))
  removeDependants(context, [dependantsOf(instance)])
}

export function instanceRemoved(records: RecordReader, instance: InstanceRecord): Change {
  const tenant = records.byId('tenant', instance.tenantId)
  assert(tenant, 'the tenant of an instance exists')
  return { kind: 'instance-removed', instance: instanceKeyOf(records, instance), tenant: tenant.key }
}

/** Resource type and key of an instance, in the form that references and changes for the engine use. */
export function instanceKeyOf(records: RecordReader, instance: InstanceRecord) {
  const type = records.byId('type', instance.typeId)
  assert(type, 'the type of an instance exists')
  return { type: type.key, key: instance.key }
}

export const reads = { getResourceInstance }

export const writes = { createResourceInstance, deleteResourceInstance, updateResourceInstance }
