/**
 * The removal of grants that have ended. The index allows nothing by them any more; this takes their rows. Nobody called for it: the
 * audit entry says that they expired, and the commit is made once however many nodes try.
 */
import { addServiceEntry } from '#management/commands/audit.ts'
import { presentInstant, type WriteContext } from '#management/commands/context.ts'
import type { Resumable } from '#management/commands/resumable.ts'
import { findAssignment, partsOf, removeAssignment } from '#management/facts/assignments/role-assignments.ts'
import { instanceKeyOf } from '#management/facts/instances/resource-instances.ts'
import { findTuple, removeTuple } from '#management/facts/tuples/relationship-tuples.ts'
import { assert } from '#model/assert.ts'
import type { Attributes, Change, InstanceKey } from '#model/change.ts'
import { formatInstanceReference } from '#model/instance-reference.ts'
import type { AssignmentRecord, InstanceRecord, TupleRecord } from '#model/records.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'
import { decodeAs, endOf } from '#store/keyspace/record-codec.ts'

/** What an audit entry of such a removal has as its operation. */
export const EXPIRY = 'expireGrants'
/** Grants removed by one commit, so that its audit entry can name them all. */
export const EXPIRED_PER_COMMIT = 100
/** Rows looked at between two stops. */
const YIELD_ROWS = 64

/** What an index has ended: removals, and the newest commit that it had then. */
export interface EndedFacts {
  readonly removals: readonly Change[]
  readonly sequence: number
}

type Fact = AssignmentRecord | TupleRecord

/**
 * Removes those of them that have ended by the time of this operation. One that got a later end meanwhile stays. One that the index had
 * with a later end, which it can only if the clock was set back, is told to it again. Returns how many were removed.
 */
export function* expireFacts(context: WriteContext, { removals, sequence }: EndedFacts): Resumable<number> {
  const expired: Attributes[] = []
  for (const [index, removal] of removals.entries()) {
    if (index % YIELD_ROWS === YIELD_ROWS - 1) yield
    const record = factOf(context, removal)
    if (!record) continue
    if (hasEnded(record, context.now)) expired.push(remove(context, record))
    else if (context.records.versionOf(record) <= sequence) tellAgain(context, record, removal)
  }
  note(context, expired)
  return expired.length
}

/** The same for those that the lists of what ends have, some of them. O(facts that end). */
export function* expireListed(context: WriteContext): Resumable<number> {
  const { records, now } = context
  const expired: Attributes[] = []
  let looked = 0
  for (const kind of ['assignment', 'tuple'] as const) {
    const list = kind === 'assignment' ? lists.endingAssignments() : lists.endingTuples()
    for (const row of records.storedRows(list)) {
      if (expired.length === EXPIRED_PER_COMMIT) break
      if (++looked % YIELD_ROWS === 0) yield
      if ((endOf(row) ?? Infinity) > now) continue
      const record: Fact | null = records.get(kind, row.key)
      if (record) expired.push(remove(context, decodeAs(kind, row)))
    }
  }
  note(context, expired)
  return expired.length
}

function hasEnded({ expiresAt }: Fact, now: number): boolean {
  return expiresAt !== null && expiresAt <= now
}

/** The stored fact that a removal names; null if it is not there. */
function factOf(context: WriteContext, removal: Change): Fact | null {
  if (removal.kind === 'tuple-removed') {
    const subject = instanceOf(context, removal.subject)
    const object = instanceOf(context, removal.object)
    const { records } = context
    const relation = object && records.get('relation', rowKeys.relation(object.typeId, removal.relation))
    return subject && relation ? findTuple(context, { subject, relation, object }) : null
  }
  assert(removal.kind === 'assignment-removed', 'an index ends assignments and tuples')
  const { user, role, scope } = removal
  return 'tenant' in scope
    ? roleInTenant(context, { user, role, tenant: scope.tenant })
    : roleOnInstance(context, { user, role, instance: scope.instance })
}

function roleInTenant(
  context: WriteContext,
  named: { readonly user: string; readonly role: string; readonly tenant: string },
): AssignmentRecord | null {
  const { records } = context
  const user = records.get('user', rowKeys.user(named.user))
  const tenant = records.get('tenant', rowKeys.tenant(named.tenant))
  const role = records.get('role', rowKeys.role(null, named.role))
  return user && tenant && role ? findAssignment(context, { user, role, tenant, instance: null }) : null
}

function roleOnInstance(
  context: WriteContext,
  named: { readonly user: string; readonly role: string; readonly instance: InstanceKey },
): AssignmentRecord | null {
  const { records } = context
  const user = records.get('user', rowKeys.user(named.user))
  const instance = instanceOf(context, named.instance)
  const role = instance && records.get('role', rowKeys.role(instance.typeId, named.role))
  const tenant = instance && records.byId('tenant', instance.tenantId)
  return user && role && tenant ? findAssignment(context, { user, role, tenant, instance }) : null
}

function instanceOf({ records }: WriteContext, { type, key }: InstanceKey): InstanceRecord | null {
  const known = records.get('type', rowKeys.type(type))
  return known && records.get('instance', rowKeys.instance(known.id, key))
}

/** Returns what its audit entry says of it. */
function remove(context: WriteContext, record: Fact): Attributes {
  const { records } = context
  const nameOf = (instance: InstanceRecord): string =>
    formatInstanceReference(instanceKeyOf(records, instance))
  const expires_at = presentInstant(record.expiresAt!)
  if (record.kind === 'tuple') {
    const subject = records.byId('instance', record.subjectId)
    const relation = records.byId('relation', record.relationId)
    const object = records.byId('instance', record.objectId)
    assert(subject && relation && object, 'a live tuple has its sides and its relation')
    removeTuple(context, record, { subject, relation, object })
    return { subject: nameOf(subject), relation: relation.key, object: nameOf(object), expires_at }
  }
  const parts = partsOf(records, record)
  removeAssignment(context, record, parts)
  const { user, role, tenant, instance } = parts
  const where = instance ? { resource_instance: nameOf(instance) } : {}
  return { user: user.key, role: role.key, tenant: tenant.key, ...where, expires_at }
}

function tellAgain({ records }: WriteContext, record: Fact, removal: Change): void {
  const until = record.expiresAt ?? undefined
  const ending = until === undefined ? {} : { until }
  if (removal.kind === 'tuple-removed') records.put(record, { ...removal, kind: 'tuple-put', ...ending })
  else if (removal.kind === 'assignment-removed')
    records.put(record, { ...removal, kind: 'assignment-put', ...ending })
}

function note(context: WriteContext, grants: readonly Attributes[]): void {
  if (grants.length > 0) addServiceEntry(context, EXPIRY, { cause: 'expired', grants })
}
