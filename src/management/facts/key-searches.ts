/**
 * Searches for entities with a text in the key, name or e-mail address. There is no index for that, so each
 * entity has to be examined. The search of a list examines all rows up to the end of its page. This search
 * examines a bounded number and returns where to continue. Between two requests, other work can run, and the
 * client stops when it has enough.
 */
import { searchedTexts } from '#entities/entity.ts'
import type { ReadContext } from '#management/drafts/context.ts'
import { findTenant, findType } from '#management/drafts/lookups.ts'
import { matchesSearch } from '#management/paging/paging.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import { type Resumable, YIELD_ROWS } from '#scheduling/resumable.ts'
import { assert } from '#model/assert.ts'
import { AuthzError } from '#model/errors.ts'
import { COMPLETIONS_DEFAULT, KEY_SEARCH_ROWS_MAX } from '#model/limits.ts'
import type { RecordOf } from '#entities/records.ts'
import type { KeyCompletion } from '#entities/key-completion.ts'
import type { KeySearch, KeySearchQuery, SearchedKind } from '#entities/key-search.ts'
import { TENANT } from '#entities/tenant.ts'
import { USER } from '#entities/user.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import type { ListName } from '#store/view.ts'
import { presentCompletion } from './key-completions.ts'

const RECORD_KINDS = {
  user: 'user',
  tenant: 'tenant',
  resource_instance: 'instance',
  group: 'instance',
} as const satisfies Record<SearchedKind, unknown>

type Searched = RecordOf<(typeof RECORD_KINDS)[SearchedKind]>

/** The rows to search. */
interface Ground {
  readonly list: ListName
  /** Id of the wanted resource type; null for any. */
  readonly typeId: string | null
}

export function* searchKeys(
  { records }: ReadContext,
  { query }: { readonly query: KeySearchQuery },
): Resumable<KeySearch> {
  const { kind, text = '', limit = COMPLETIONS_DEFAULT } = query
  const ground = groundOf(records, query)
  if (ground === null) return { data: [], next: null }
  const data: KeyCompletion[] = []
  let after = query.after ?? -1
  let rows = 0
  for (const { record, created, isDead } of records.foundIn(RECORD_KINDS[kind], [ground.list], { after })) {
    if (rows === KEY_SEARCH_ROWS_MAX || data.length === limit) return { data, next: after }
    const found: Searched = record
    if (!isDead && isOf(found, ground.typeId) && matchesSearch(text, textsOf(found))) {
      data.push(presentCompletion(records, { record: found, resource: resourceOf(records, found) }))
    }
    after = created
    rows += 1
    // The pause comes last: records found before a pause may no longer exist after it.
    if (rows % YIELD_ROWS === 0) yield
  }
  return { data, next: null }
}

/** The rows that a query searches; null if there is no resource type, or no tenant, with that name yet. */
function groundOf(records: RecordReader, { kind, resource, tenant }: KeySearchQuery): Ground | null {
  if (kind === 'user' || kind === 'tenant') {
    if (resource === undefined && tenant === undefined) return { list: lists.all(kind), typeId: null }
    throw new AuthzError(
      'INVALID_SHAPE',
      `entities of kind ${kind} belong to no resource and no tenant: omit both`,
    )
  }
  const isOfGroups = kind === 'group'
  const type = resource === undefined ? null : findType(records, resource)
  const its = tenant === undefined ? null : findTenant(records, tenant)
  if ((resource !== undefined && type === null) || (tenant !== undefined && its === null)) return null
  if (its !== null) {
    const list = isOfGroups ? lists.groupsOfTenant(its.id) : lists.instancesOfTenant(its.id)
    return { list, typeId: type?.id ?? null }
  }
  if (type === null) return { list: isOfGroups ? lists.groups() : lists.all('instance'), typeId: null }
  return { list: isOfGroups ? lists.groupsOfType(type.id) : lists.instancesOfType(type.id), typeId: null }
}

function isOf(record: Searched, typeId: string | null): boolean {
  return typeId === null || (record.kind === 'instance' && record.typeId === typeId)
}

function textsOf(record: Searched): readonly (string | null)[] {
  switch (record.kind) {
    case 'user':
      return searchedTexts(USER, record)
    case 'tenant':
      return searchedTexts(TENANT, record)
    default:
      return [record.key]
  }
}

function resourceOf(records: RecordReader, record: Searched): string | null {
  if (record.kind !== 'instance') return null
  const type = records.byId('type', record.typeId)
  assert(type, 'the resource of an instance exists')
  return type.key
}

export const reads = { searchKeys }
