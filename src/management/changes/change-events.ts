/**
 * Derives the change events of a commit: its changes, one by one, in the terms of the management API. Pure:
 * the log entry contains all data. The only exception is the key of a resource type whose role was changed by
 * the removal of another entity; `typeKeyOf` looks it up.
 */
import { presentEventActor } from '#management/audit/audited-actors.ts'
import { type EnvironmentScope, presentInstant } from '#management/drafts/context.ts'
import { EXPIRY } from '#management/facts/expiry.ts'
import type { Change, Permission, TakenAlong } from '#model/change.ts'
import { formatInstanceReference } from '#model/instance-reference.ts'
import { formatRevision } from '#model/revision.ts'
import type { AuditRecord, StoredRecord } from '#entities/records.ts'
import type {
  ChangeCause,
  ChangeKind,
  ChangeNoun,
  ChangeOrigin,
  ChangeVerb,
  RemovedWith,
  WholeItem,
} from '#entities/change-event.ts'
import { presentTupleFields } from '#management/facts/relationship-tuple-presenter.ts'
import { presentInstanceFields } from '#management/facts/resource-instance-presenter.ts'
import { presentAssignmentFields } from '#management/facts/role-assignments.ts'
import { presentTenant } from '#management/facts/tenants.ts'
import { presentUserFields } from '#management/facts/user-presenter.ts'
import { presentSetFields } from '#management/schema/condition-sets/condition-set-presenter.ts'
import { presentRuleFields } from '#management/schema/condition-sets/set-rules.ts'
import { presentProxyConfig } from '#management/schema/proxy-configs/proxy-configs.ts'
import { presentRelationFields } from '#management/schema/relations.ts'
import { presentTypeFields } from '#management/schema/resource-presenter.ts'
import { presentTenantRole } from '#management/schema/roles.ts'
import { recordsBegin } from '#store/keyspace/keyspace.ts'
import { decodeRecord } from '#store/keyspace/record-codec.ts'
import { type LogEntry, isNewIn, type Row } from '#store/ledger.ts'
import {
  deletedItem,
  isRemoval,
  namesOfAssignment,
  namesOfTuple,
  type Removal,
  tenantOfAssignment,
} from './deleted-items.ts'

/** The members of an event that filters examine. */
export interface FilteredChange {
  readonly noun: ChangeNoun | 'access'
  readonly verb: ChangeVerb | 'changed'
  /** Permission whose holders changed; absent if an entity changed. */
  readonly permission?: Permission
  /** Keys of the affected resource types; empty if the event is not about a type. */
  readonly types: readonly string[]
  /** Key of the affected tenant; null if the event is not about a tenant. */
  readonly tenant: string | null
}

/** An event before it is serialized. */
export interface SourceEvent extends FilteredChange {
  /** Serializes the `data:` of the event. Events that a resuming reader skips are not serialized. */
  readonly json: () => string
}

/** Thrown for an entry of an older release that logged too little about its changes. */
export class OlderReleaseError extends Error {}

export interface EventScope {
  readonly scope: EnvironmentScope
  /** Key of the resource type with that id; null if it no longer exists. */
  typeKeyOf(id: string): string | null
}

interface Put {
  readonly record: StoredRecord
  readonly isNew: boolean
}

/** The records that an entry put. */
interface ReadPuts {
  /** The put records by their ids. */
  readonly puts: ReadonlyMap<string, Put>
  /** The put records by the index of their row in the entry. */
  readonly rows: readonly (Put | undefined)[]
  readonly audit: AuditRecord | null
}

/** Content of an event without its verb and origin. */
type EventSubject = Pick<SourceEvent, 'types' | 'tenant'> & {
  readonly noun: ChangeNoun
  readonly item: WholeItem | ReturnType<typeof deletedItem>
}

const QUIET_KINDS: ReadonlySet<number> = new Set([
  recordsBegin('purge'),
  recordsBegin('schema'),
  recordsBegin('schema-size'),
])
const AUDIT_KIND = recordsBegin('audit')
/** Rows decoded between two pauses. */
const ROWS_AT_ONCE = 32

/**
 * Yields the events of a commit in order, and null for each change or row without an event. Therefore, the
 * number of steps up to an event depends only on the entry. Throws `OlderReleaseError` at the first change
 * that lacks its id.
 */
export function* changeEvents(entry: LogEntry, eventScope: EventScope): Generator<SourceEvent | null> {
  if (entry.changes.length === 0 && !entry.put.some(hasEvent)) return
  const { puts, rows, audit } = yield* readPuts(entry)
  const time = audit?.createdAt ?? newestIn(puts)
  const origin = originOf(entry, audit, time)
  const changedIds = new Set<string>()
  const put = new Set(
    entry.changes.flatMap(change =>
      change.kind === 'instance-put' ? [formatInstanceReference(change.instance)] : [],
    ),
  )
  for (const change of entry.changes) {
    const id = change.row === undefined ? change.id : rows[change.row]?.record.id
    if (id === undefined) {
      // Removal of an earlier instance with the same key. It was already reported.
      if (change.kind === 'instance-removed' && put.has(formatInstanceReference(change.instance))) {
        yield null
        continue
      }
      throw new OlderReleaseError()
    }
    if (isRemoval(change)) {
      yield finished(aboutRemoval(id, change), 'deleted', origin, change.took)
      continue
    }
    const known = puts.get(id)
    // Null if the same commit created and removed the record, or if its event was already yielded.
    const about = known && !changedIds.has(id) ? aboutPut(known.record, change, eventScope) : null
    changedIds.add(id)
    yield about && finished(about, known?.isNew ? 'created' : 'updated', origin)
  }
  // Records that the engine does not need and that therefore have no change.
  for (const [id, { record, isNew }] of puts) {
    const isSilent = changedIds.has(id) || !(isNew || updatedAtOf(record) === time)
    const about = isSilent ? null : aboutPut(record, null, eventScope)
    yield about && finished(about, isNew ? 'created' : 'updated', origin)
  }
}

/** Whether a row can have an event. */
function hasEvent({ key }: Row): boolean {
  return key[0] !== AUDIT_KIND && !QUIET_KINDS.has(key[0]!)
}

function* readPuts(entry: LogEntry): Generator<null, ReadPuts, void> {
  const puts = new Map<string, Put>()
  const rows: (Put | undefined)[] = []
  let audit: AuditRecord | null = null
  for (const [at, row] of entry.put.entries()) {
    if (at % ROWS_AT_ONCE === ROWS_AT_ONCE - 1) yield null
    if (QUIET_KINDS.has(row.key[0]!)) continue
    const record = decodeRecord(row)
    if (record.kind === 'audit') audit = record
    else {
      rows[at] = { record, isNew: isNewIn(row, entry.revision.sequence) }
      puts.set(record.id, rows[at])
    }
  }
  return { puts, rows, audit }
}

/** Returns the author and the time of a commit. O(rows that the commit put), with pauses. */
export function* originOfEntry(entry: LogEntry): Generator<null, ChangeOrigin, void> {
  const { puts, audit } = yield* readPuts(entry)
  return originOf(entry, audit, audit?.createdAt ?? newestIn(puts))
}

function updatedAtOf(record: StoredRecord): number | null {
  if ('updatedAt' in record) return record.updatedAt
  return 'createdAt' in record ? record.createdAt : null
}

function newestIn(puts: ReadonlyMap<string, Put>): number | null {
  const times = [...puts.values()].flatMap(({ record }) => updatedAtOf(record) ?? [])
  return times.length === 0 ? null : times.reduce((newest, each) => Math.max(newest, each))
}

function originOf({ revision }: LogEntry, audit: AuditRecord | null, time: number | null): ChangeOrigin {
  return {
    revision: formatRevision(revision),
    time: time === null ? null : presentInstant(time),
    cause: causeOf(audit),
    operation: audit?.operation ?? null,
    api_key_id: audit?.keyId ?? null,
    actor: audit && presentEventActor(audit),
    // Entries that the service adds on its own have no request.
    request_id: audit?.requestId || null,
  }
}

function causeOf(audit: AuditRecord | null): ChangeCause {
  if (audit === null) return 'service'
  return audit.operation === EXPIRY ? 'expired' : 'request'
}

function finished(
  about: EventSubject,
  verb: ChangeVerb,
  origin: ChangeOrigin,
  took?: TakenAlong,
): SourceEvent {
  const { noun, types, tenant, item } = about
  const kind: ChangeKind = `${noun}.${verb}`
  const removedWith = took && { removed_with: removedWithOf(took) }
  return { noun, verb, types, tenant, json: () => JSON.stringify({ kind, ...origin, item, ...removedWith }) }
}

function removedWithOf({ instance, assignment, tuple, rule }: TakenAlong): RemovedWith {
  return {
    ...(instance !== undefined && { resource_instances: instance }),
    ...(assignment !== undefined && { role_assignments: assignment }),
    ...(tuple !== undefined && { relationship_tuples: tuple }),
    ...(rule !== undefined && { set_rules: rule }),
  }
}

const OF_NOTHING = { types: [], tenant: null } as const

/**
 * Returns null for records without events, and for parts of a resource type that no longer exists. `change`
 * is null for records that the engine does not use.
 */
function aboutPut(record: StoredRecord, change: Change | null, context: EventScope): EventSubject | null {
  switch (record.kind) {
    case 'user':
      return { noun: 'user', ...OF_NOTHING, item: presentUserFields(context, record) }
    case 'tenant':
      return { noun: 'tenant', types: [], tenant: record.key, item: presentTenant(context, record) }
    case 'instance':
      if (change?.kind !== 'instance-put') return null
      return {
        noun: 'resource_instance',
        types: [change.instance.type],
        tenant: change.tenant,
        item: presentInstanceFields(context, record, { type: change.instance.type, tenant: change.tenant }),
      }
    case 'assignment':
      if (change?.kind !== 'assignment-put') return null
      return {
        ...whereAssigned(change),
        item: presentAssignmentFields(context, record, namesOfAssignment(change)),
      }
    case 'tuple':
      if (change?.kind !== 'tuple-put') return null
      return { ...whereTied(change), item: presentTupleFields(context, record, namesOfTuple(change)) }
    case 'type':
      return { noun: 'resource', types: [record.key], tenant: null, item: presentTypeFields(context, record) }
    case 'role': {
      const type =
        change?.kind === 'role-put' ? change.type : record.typeId && context.typeKeyOf(record.typeId)
      if (type === null && record.typeId !== null) return null
      return {
        noun: 'role',
        types: type === null ? [] : [type],
        tenant: null,
        item: { ...presentTenantRole(context, record), resource: type, resource_id: record.typeId },
      }
    }
    case 'relation': {
      const isNamed = change?.kind === 'relation-put'
      const object = isNamed ? change.type : context.typeKeyOf(record.typeId)
      const subject = isNamed ? change.subjectType : context.typeKeyOf(record.subjectTypeId)
      if (object === null || subject === null) return null
      const item = presentRelationFields(context, record, { object, subject })
      return { noun: 'relation', types: [object, subject], tenant: null, item }
    }
    case 'condition-set': {
      const type =
        change?.kind === 'condition-set-put' ? change.type : record.typeId && context.typeKeyOf(record.typeId)
      return {
        noun: 'condition_set',
        types: type === null ? [] : [type],
        tenant: null,
        item: presentSetFields(context, record),
      }
    }
    case 'rule':
      if (change?.kind !== 'rule-put') return null
      return {
        noun: 'set_rule',
        types: [change.type],
        tenant: null,
        item: presentRuleFields(context, record, change),
      }
    case 'proxy-config':
      return { noun: 'proxy_config', ...OF_NOTHING, item: presentProxyConfig(context, record) }
    default:
      return null
  }
}

function aboutRemoval(id: string, change: Removal): EventSubject {
  const item = deletedItem(id, change)
  switch (change.kind) {
    case 'user-removed':
      return { noun: 'user', ...OF_NOTHING, item }
    case 'tenant-removed':
      return { noun: 'tenant', types: [], tenant: change.tenant, item }
    case 'instance-removed':
      return { noun: 'resource_instance', types: [change.instance.type], tenant: change.tenant ?? null, item }
    case 'assignment-removed':
      return { ...whereAssigned(change), item }
    case 'tuple-removed':
      return { ...whereTied(change), item }
    case 'type-removed':
      return { noun: 'resource', types: [change.type], tenant: null, item }
    case 'role-removed':
      return { noun: 'role', types: change.type === null ? [] : [change.type], tenant: null, item }
    case 'relation-removed':
      return { noun: 'relation', types: [change.type], tenant: null, item }
    case 'condition-set-removed':
      return { noun: 'condition_set', ...OF_NOTHING, item }
    case 'rule-removed':
      return { noun: 'set_rule', types: [change.type], tenant: null, item }
    case 'mapping-removed':
      return { noun: 'proxy_config', ...OF_NOTHING, item }
  }
}

function whereAssigned(change: Extract<Change, { readonly kind: `assignment-${string}` }>) {
  const { scope } = change
  return {
    noun: 'role_assignment',
    types: 'instance' in scope ? [scope.instance.type] : [],
    tenant: tenantOfAssignment(change),
  } as const
}

function whereTied({ subject, object, tenant = '' }: Extract<Change, { readonly kind: `tuple-${string}` }>) {
  const types = subject.type === object.type ? [object.type] : [object.type, subject.type]
  return { noun: 'relationship_tuple', types, tenant } as const
}
