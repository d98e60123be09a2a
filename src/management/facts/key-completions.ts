/**
 * Completes keys: returns keys with a given prefix, in key order. Rows are stored in that order, so no list
 * is needed. The number of examined rows is small and bounded. The operation never pauses for other work:
 * after a pause, it would have to wait for the long reads of the environment, which could take seconds.
 */
import type { ReadContext } from '#management/drafts/context.ts'
import { findType } from '#management/drafts/lookups.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import { assert } from '#model/assert.ts'
import { isBuiltInTypeKey } from '#model/built-in-types.ts'
import { AuthzError } from '#model/errors.ts'
import { COMPLETION_RESOURCES_MAX, COMPLETION_ROWS_MAX, COMPLETIONS_DEFAULT } from '#model/limits.ts'
import type { RecordOf, UserRecord } from '#entities/records.ts'
import { compareUtf8 } from '#model/text/utf8-order.ts'
import type {
  CompletedKind,
  KeyCompletion,
  KeyCompletions,
  KeyCompletionsQuery,
} from '#entities/key-completion.ts'
import { lists, recordsBegin, rowKeys, typeNamedIn } from '#store/keyspace/keyspace.ts'

/** A row counts as one examined row per started block of this many bytes. */
const BYTES_A_ROW = 1_024

const RECORD_KINDS = {
  user: 'user',
  tenant: 'tenant',
  resource_instance: 'instance',
  group: 'instance',
  resource: 'type',
  role: 'role',
  condition_set: 'condition-set',
} as const satisfies Record<CompletedKind, unknown>

type Completed = RecordOf<(typeof RECORD_KINDS)[CompletedKind]>

/** A range of adjacent rows in key order. */
interface Shelf {
  readonly prefix: Uint8Array
  /** Key of the resource type that the rows belong to; null if they belong to none. */
  readonly resource: string | null
}

interface Shelves {
  readonly shelves: readonly Shelf[]
  readonly isWhole: boolean
}

interface FoundKey {
  readonly record: Completed
  readonly resource: string | null
}

export function completeKeys(
  { records }: ReadContext,
  { query }: { readonly query: KeyCompletionsQuery },
): KeyCompletions {
  const { limit = COMPLETIONS_DEFAULT } = query
  const { shelves, isWhole } = shelvesOf(records, query)
  const looks = new Looks()
  const data: KeyCompletion[] = []
  for (const found of merged(shelves.map(shelf => foundOn(records, shelf, query.kind, looks)))) {
    if (data.length === limit) return { data, has_more: true }
    data.push(presentCompletion(records, found))
  }
  return { data, has_more: looks.areOver || !isWhole }
}

/** Row key prefixes of the kinds that belong to no resource type. */
const SHELF_OF = {
  user: rowKeys.user,
  tenant: rowKeys.tenant,
  resource: rowKeys.type,
  condition_set: rowKeys.conditionSet,
}

/** `isWhole`: whether the result includes all ranges. */
function shelvesOf(records: RecordReader, query: KeyCompletionsQuery): Shelves {
  const { kind, prefix = '', resource } = query
  if (kind !== 'resource_instance' && kind !== 'group' && kind !== 'role') {
    if (resource === undefined)
      return { shelves: [{ prefix: SHELF_OF[kind](prefix), resource: null }], isWhole: true }
    throw new AuthzError(
      'INVALID_SHAPE',
      `keys of kind ${kind} do not belong to a resource: omit the parameter resource`,
    )
  }
  const rowKey = kind === 'role' ? rowKeys.role : rowKeys.instance
  const shelfOf = ({ id, key }: { readonly id: string; readonly key: string }): Shelf => ({
    prefix: rowKey(id, prefix),
    resource: key,
  })
  if (resource !== undefined) {
    // While the user types its key, the resource type may not exist yet.
    const type = findType(records, resource)
    return { shelves: type === null ? [] : [shelfOf(type)], isWhole: true }
  }
  const { types, isWhole } = firstTypes(records, kind)
  const ofTenants = { prefix: rowKeys.role(null, prefix), resource: null }
  return { shelves: [...(kind === 'role' ? [ofTenants] : []), ...types.map(shelfOf)], isWhole }
}

/** The first types; for groups, only types that have groups. */
function firstTypes(records: RecordReader, kind: CompletedKind) {
  const types: ReturnType<typeof typeNamedIn>[] = []
  let looks = 0
  for (const row of records.storedBeginningWith(Uint8Array.of(recordsBegin('type')))) {
    if (looks++ === COMPLETION_RESOURCES_MAX) return { types, isWhole: false }
    const type = typeNamedIn(row)
    if (isBuiltInTypeKey(type.key)) continue
    if (kind !== 'group' || records.count(lists.groupsOfType(type.id)) > 0) types.push(type)
  }
  return { types, isWhole: true }
}

/** Budget of rows to examine. */
class Looks {
  #left = COMPLETION_ROWS_MAX
  /** Whether rows were skipped because the budget was exhausted. */
  areOver = false

  /** Whether a row of that size may be examined. */
  take(bytes: number): boolean {
    if (this.#left <= 0) {
      this.areOver = true
      return false
    }
    this.#left -= Math.max(1, Math.ceil(bytes / BYTES_A_ROW))
    return true
  }
}

function* foundOn(
  records: RecordReader,
  { prefix, resource }: Shelf,
  kind: CompletedKind,
  looks: Looks,
): Generator<FoundKey, void> {
  for (const row of records.storedBeginningWith(prefix)) {
    if (!looks.take(row.value.length)) return
    const record: Completed | null = records.recordIn(RECORD_KINDS[kind], row)
    if (record !== null && isMeant(record, kind)) yield { record, resource }
  }
}

function isMeant(record: Completed, kind: CompletedKind): boolean {
  if (record.kind === 'type') return !isBuiltInTypeKey(record.key)
  return kind !== 'group' || (record.kind === 'instance' && record.isGroup)
}

/** All results in key order. Equal keys are in the order of their ranges. */
function* merged(shelves: readonly Generator<FoundKey, void>[]): Iterable<FoundKey> {
  try {
    const heads = shelves.map(shelf => shelf.next())
    for (;;) {
      let first: FoundKey | null = null
      let at = -1
      heads.forEach((head, index) => {
        if (head.done) return
        if (first !== null && compareUtf8(head.value.record.key, first.record.key) >= 0) return
        first = head.value
        at = index
      })
      if (first === null) return
      yield first
      heads[at] = shelves[at]!.next()
    }
  } finally {
    for (const shelf of shelves) shelf.return()
  }
}

export function presentCompletion(records: RecordReader, { record, resource }: FoundKey): KeyCompletion {
  const plain = {
    id: record.id,
    key: record.key,
    name: null,
    email: null,
    resource,
    tenant: null,
    type: null,
  }
  switch (record.kind) {
    case 'user':
      return { ...plain, name: nameOf(record), email: record.email }
    case 'instance': {
      const tenant = records.byId('tenant', record.tenantId)
      assert(tenant, 'the tenant of an instance exists')
      return { ...plain, tenant: tenant.key }
    }
    case 'condition-set':
      return { ...plain, name: record.name, type: record.side === 'user' ? 'userset' : 'resourceset' }
    default:
      return { ...plain, name: record.name }
  }
}

function nameOf({ firstName, lastName }: UserRecord): string | null {
  const names = [firstName, lastName].filter(name => name !== null && name !== '')
  return names.length === 0 ? null : names.join(' ')
}

export const reads = { completeKeys }
