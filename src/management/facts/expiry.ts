/**
 * Deletes the rows of expired grants, which the index already ignores. This is done by the service and not by
 * a caller: the audit entry states that the grants expired. If several nodes try, only one commit is made.
 */
import { addServiceEntry } from '#management/audit/audit.ts'
import { presentInstant, type WriteContext } from '#management/drafts/context.ts'
import { expirationOf } from '#management/drafts/fact-expiry.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { findAssignment, partsOf, removeAssignment } from './role-assignments.ts'
import { instanceKeyOf } from './resource-instances.ts'
import { findTuple, removeTuple } from './relationship-tuples.ts'
import { assert } from '#model/assert.ts'
import type { Attributes, Change, InstanceKey } from '#model/change.ts'
import { jsonBytes } from '#model/text/json-text.ts'
import { formatInstanceReference } from '#model/instance-reference.ts'
import type { AssignmentRecord, InstanceRecord, TupleRecord } from '#entities/records.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'
import { expiresAtOf } from '#store/keyspace/record-codec.ts'

/** Operation of the audit entry for such a deletion. */
export const EXPIRY = 'expireGrants'
/** Maximum number of grants that one commit deletes, so that its audit entry can name all of them. */
export const EXPIRED_PER_COMMIT = 100
/**
 * Maximum JSON size of the names of the grants that one commit deletes. Its audit entry contains these
 * names.
 */
export const NAMES_BYTES_MAX = 16_384
/** Rows examined before the operation pauses for other work. */
const YIELD_ROWS = 64
/** Maximum number of list rows that one commit examines. */
const LISTED_ROWS = 10_000
const LISTED = [
  { kind: 'assignment', list: lists.expiringAssignments() },
  { kind: 'tuple', list: lists.expiringTuples() },
] as const

/** An expired fact in an index: its removal, and the newest commit that the index had applied. */
export interface ExpiredFact {
  readonly removal: Change
  readonly sequence: number
}

/** Position of a scan of the lists of expiring facts. */
export interface ListedPlace {
  readonly kind: GrantRecord['kind']
  /** Position in the list after which the scan continues. */
  readonly after: number
}

type GrantRecord = AssignmentRecord | TupleRecord

/**
 * Deletes the facts that have expired at the time of this operation. A fact whose expiration time was
 * postponed in the meantime stays. If the index knew the later expiration time already, the clock was set
 * back. In that case, the fact is sent to the index again. Returns the number of deleted facts.
 */
export function* expireFacts(context: WriteContext, facts: readonly ExpiredFact[]): Resumable<number> {
  const expired: Attributes[] = []
  for (const [index, { removal, sequence }] of facts.entries()) {
    if (index % YIELD_ROWS === YIELD_ROWS - 1) yield
    const record = factOf(context, removal)
    if (!record) continue
    if (hasExpired(record, context.now)) expired.push(remove(context, record))
    else if (context.records.versionOf(record) <= sequence) repeatRemoval(context, record, removal)
  }
  note(context, expired)
  return expired.length
}

/**
 * Like `expireFacts`, for a batch of facts from the lists of expiring facts: those that expired at least
 * `holdMs` ago. Returns the position at which to continue; null at the end of the lists.
 */
export function* expireListed(
  context: WriteContext,
  from: ListedPlace | null,
  holdMs: number,
): Resumable<ListedPlace | null> {
  const { records } = context
  const expiredAt = context.now - holdMs
  const expired: Attributes[] = []
  let [looked, bytes] = [0, 0]
  for (const { kind, list } of from?.kind === 'tuple' ? LISTED.slice(1) : LISTED) {
    for (const row of records.storedRows(list, from?.kind === kind ? { after: from.after } : {})) {
      if (++looked % YIELD_ROWS === 0) yield
      const record: GrantRecord | null =
        (expiresAtOf(row) ?? Infinity) <= expiredAt ? records.get(kind, row.key) : null
      if (record && hasExpired(record, expiredAt)) {
        const name = remove(context, record)
        expired.push(name)
        bytes += jsonBytes(name, NAMES_BYTES_MAX)
      }
      if (expired.length < EXPIRED_PER_COMMIT && bytes < NAMES_BYTES_MAX && looked < LISTED_ROWS) continue
      note(context, expired)
      return { kind, after: row.created }
    }
  }
  note(context, expired)
  return null
}

function hasExpired({ expiresAt }: GrantRecord, now: number): boolean {
  return expiresAt !== null && expiresAt <= now
}

/** The stored fact that a removal names; null if it does not exist. */
function factOf(context: WriteContext, removal: Change): GrantRecord | null {
  if (removal.kind === 'tuple-removed') {
    const subject = instanceOf(context, removal.subject)
    const object = instanceOf(context, removal.object)
    const { records } = context
    const relation = object && records.get('relation', rowKeys.relation(object.typeId, removal.relation))
    return subject && relation ? findTuple(context, { subject, relation, object }) : null
  }
  assert(removal.kind === 'assignment-removed', 'an index expires only assignments and tuples')
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

/** Deletes the fact and returns its description for the audit entry. */
function remove(context: WriteContext, record: GrantRecord): Attributes {
  const { records } = context
  const nameOf = (instance: InstanceRecord): string =>
    formatInstanceReference(instanceKeyOf(records, instance))
  const expires_at = presentInstant(record.expiresAt!)
  if (record.kind === 'tuple') {
    const subject = records.byId('instance', record.subjectId)
    const relation = records.byId('relation', record.relationId)
    const object = records.byId('instance', record.objectId)
    assert(subject && relation && object, 'a tuple has its sides and its relation')
    removeTuple(context, record, { subject, relation, object })
    return { subject: nameOf(subject), relation: relation.key, object: nameOf(object), expires_at }
  }
  const parts = partsOf(records, record)
  removeAssignment(context, record, parts)
  const { user, role, tenant, instance } = parts
  const where = instance ? { resource_instance: nameOf(instance) } : {}
  return { user: user.key, role: role.key, tenant: tenant.key, ...where, expires_at }
}

function repeatRemoval({ records }: WriteContext, record: GrantRecord, removal: Change): void {
  const expiration = expirationOf(record)
  if (removal.kind === 'tuple-removed') records.put(record, { ...removal, kind: 'tuple-put', ...expiration })
  else if (removal.kind === 'assignment-removed')
    records.put(record, { ...removal, kind: 'assignment-put', ...expiration })
}

function note(context: WriteContext, grants: readonly Attributes[]): void {
  if (grants.length > 0) addServiceEntry(context, EXPIRY, { cause: 'expired', grants })
}
