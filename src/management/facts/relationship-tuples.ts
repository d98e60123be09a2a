/**
 * Relationship tuples (native.md B.10). Through derivations, roles on the subject of a tuple give roles on
 * its object. Tuples are checked against the model here, and in `content/import-rows.ts` for imports of
 * whole environments.
 */
import type { ElementPlace } from '#management/operations/bulk.ts'
import type { WriteContext } from '#management/drafts/context.ts'
import {
  locateInstance,
  type NamedInstance,
  requireRelation,
  requireTenant,
} from '#management/drafts/lookups.ts'
import { checkExpiry, expiresAtIn, expirationOf, type Granted } from '#management/drafts/fact-expiry.ts'
import { checkGrant } from '#management/conditional/grant-conditions.ts'
import { addInstance, instanceKeyOf } from './resource-instances.ts'
import { keepRelation } from '#management/schema/relations.ts'
import { assert } from '#model/assert.ts'
import { AuthzError } from '#model/errors.ts'
import type { InstanceRecord, RelationRecord, TenantRecord, TupleRecord } from '#entities/records.ts'
import type { Instant } from '#entities/instant.ts'
import type {
  RelationshipTuple,
  RelationshipTupleCreate,
  RelationshipTupleDelete,
} from '#entities/relationship-tuple.ts'
import { rowKeys } from '#store/keyspace/keyspace.ts'
import { presentTuple } from './relationship-tuple-presenter.ts'

interface TupleParts {
  readonly subject: InstanceRecord
  readonly relation: RelationRecord
  readonly object: InstanceRecord
}

export function createRelationshipTuple(
  context: WriteContext,
  input: { readonly body: RelationshipTupleCreate },
): RelationshipTuple {
  const { body } = input
  checkExpiry(context, body, ['body'])
  const parts = settleParts(context, body)
  const { record, outcome } = grantTuple(context, parts, expiresAtIn(body))
  if (outcome === 'unchanged') {
    throw new AuthzError(
      'DUPLICATE_ENTITY',
      `${body.subject} ${parts.relation.key} ${body.object} already exists`,
    )
  }
  return presentTuple(context, record)
}

/** Ensures that the tuple exists with that expiration time. `place` is its location in the request. */
export function ensureTuple(context: WriteContext, body: RelationshipTupleCreate, place: ElementPlace): void {
  checkExpiry(context, body, place)
  grantTuple(context, settleParts(context, body), expiresAtIn(body))
}

export function deleteRelationshipTuple(
  context: WriteContext,
  input: { readonly body: RelationshipTupleDelete },
): void {
  const { body } = input
  const named = findNamed(context, body)
  if (!named) {
    const name = `${body.subject} ${body.relation} ${body.object}`
    throw new AuthzError('NOT_FOUND', `there is no relationship ${JSON.stringify(name)}`)
  }
  removeTuple(context, named.record, named.parts)
}

/**
 * The tuple that a body names, if it exists. Throws `NOT_FOUND` for a type or a relation that does not exist.
 */
export function findNamed(context: WriteContext, body: RelationshipTupleDelete) {
  const { records } = context
  const subject = locateInstance(records, body.subject)
  const object = locateInstance(records, body.object)
  const relation = requireRelation(records, object.type, body.relation)
  if (!subject.record || !object.record) return null
  const parts = { subject: subject.record, relation, object: object.record }
  const record = findTuple(context, parts)
  return record && { record, parts }
}

/** The entities that a body names, checked against the model. Missing instances are created. */
function settleParts(context: WriteContext, body: RelationshipTupleCreate): TupleParts {
  const { records } = context
  const subject = locateInstance(records, body.subject)
  const object = locateInstance(records, body.object)
  const relation = requireRelation(records, object.type, body.relation)
  const tenant = tenantOfSides(context, subject, object, body.tenant ?? null)
  if (relation.subjectTypeId !== subject.type.id) {
    const expected = records.byId('type', relation.subjectTypeId)
    throw new AuthzError(
      'MISMATCH_RELATION_TYPE',
      `relation ${JSON.stringify(relation.key)} has subjects of ${JSON.stringify(expected?.key)}, ` +
        `not of ${JSON.stringify(subject.type.key)}`,
    )
  }
  return {
    subject: settle(context, subject, tenant),
    relation,
    object: settle(context, object, tenant),
  }
}

/**
 * The tenant of the tuple. Existing sides determine it and must agree. A missing side is created in the named
 * tenant, or in the tenant of the other side (native.md B.10).
 */
function tenantOfSides(
  context: WriteContext,
  subject: NamedInstance,
  object: NamedInstance,
  named: string | null,
): TenantRecord {
  const { records } = context
  const tenantIds = [subject, object].flatMap(({ record }) => (record ? [record.tenantId] : []))
  // If both sides exist, the named tenant has no effect, but a delegate must not name that of others.
  const isRead = named !== null && (tenantIds.length < 2 || records.isLimited)
  const wanted = isRead ? requireTenant(records, named) : null
  if (wanted !== null && tenantIds.length < 2) tenantIds.push(wanted.id)
  const [tenantId] = tenantIds
  if (tenantId === undefined) {
    throw new AuthzError('NOT_FOUND', 'neither instance exists; name a tenant in which to create them')
  }
  const tenant = records.byId('tenant', tenantId)
  assert(tenant, 'the tenant of an instance exists')
  if (tenantIds.some(id => id !== tenantId)) {
    throw new AuthzError(
      'MISMATCH_RESOURCE_INSTANCES_TENANTS',
      'the two instances of a tuple must be in the same tenant',
    )
  }
  return tenant
}

/**
 * The instance, which is created if it does not exist. If both sides of a tuple are the same missing
 * instance, the second call finds the one that the first created.
 */
function settle(context: WriteContext, place: NamedInstance, tenant: TenantRecord): InstanceRecord {
  if (place.record) return place.record
  const { type, key } = place
  const created = context.records.get('instance', rowKeys.instance(type.id, key))
  return created ?? addInstance(context, { type, key, tenant })
}

export function findTuple(context: WriteContext, parts: TupleParts): TupleRecord | null {
  const { object, relation, subject } = parts
  return context.records.get('tuple', rowKeys.tuple(object.id, relation.id, subject.id))
}

/** Creates the tuple, or sets the expiration time of the existing one, and notifies the engine. */
export function grantTuple(
  context: WriteContext,
  parts: TupleParts,
  expiresAt: Instant | null,
): Granted<TupleRecord> {
  const { subject, relation, object } = parts
  const held = findTuple(context, parts)
  checkGrant(context.grantCondition, held)
  if (held?.expiresAt === expiresAt) return { record: held, outcome: 'unchanged' }
  const record: TupleRecord = held
    ? { ...held, expiresAt }
    : {
        kind: 'tuple',
        id: context.newId(),
        subjectId: subject.id,
        relationId: relation.id,
        objectId: object.id,
        tenantId: object.tenantId,
        createdAt: context.now,
        expiresAt,
      }
  keepRelation(context, relation)
  context.records.put(record, { kind: 'tuple-put', ...tupleChange(context, parts), ...expirationOf(record) })
  return { record, outcome: held ? 'moved' : 'added' }
}

export function removeTuple(context: WriteContext, record: TupleRecord, parts: TupleParts): void {
  checkGrant(context.grantCondition, record)
  context.records.delete(record, { kind: 'tuple-removed', ...tupleChange(context, parts) })
}

function tupleChange(context: WriteContext, parts: TupleParts) {
  const tenant = context.records.byId('tenant', parts.object.tenantId)
  assert(tenant, 'the tenant of an instance exists')
  return {
    subject: instanceKeyOf(context.records, parts.subject),
    relation: parts.relation.key,
    object: instanceKeyOf(context.records, parts.object),
    tenant: tenant.key,
  }
}

export const writes = { createRelationshipTuple, deleteRelationshipTuple }
