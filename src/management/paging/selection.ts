/**
 * Lists narrowed by filters. The filter with the fewest rows supplies the list. If it is the only filter, the
 * page and total come from the order and count of its list; otherwise, the other filters are evaluated for
 * each row. A filter by an unknown reference matches nothing.
 */
import type { Attributes } from '#model/change.ts'
import { ATTRIBUTE_FILTER_ROWS_MAX } from '#model/limits.ts'
import type { RecordKind, RecordOf } from '#entities/records.ts'
import type { Paging } from '#model/wire/paging.ts'
import type { ListName } from '#store/view.ts'
import { matchesSearch, type Page, pageOfLists, type MatchResult } from './paging.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import type { Resumable } from '#scheduling/resumable.ts'

export interface Filter<Item> {
  /**
   * Lists that together contain the matching records, each record once. Null if the filter has no such lists.
   */
  readonly lists: readonly ListName[] | null
  matches(record: Item): boolean
  /** Maximum number of items of a list to examine for this filter; absent: unlimited. */
  readonly rowsMax?: number
}

export interface Selection<Kind extends RecordKind, Item> {
  readonly kind: Kind
  /** The list of all records, for use if no filter has lists. */
  readonly all: ListName
  /** Null for a filter that was not given. */
  readonly filters: readonly (Filter<RecordOf<Kind>> | null)[]
  readonly paging: Paging
  readonly hasTotal?: boolean
  /**
   * Evaluated last, for records that match all filters, because it may have to read other records. Absent if
   * there is no such condition.
   */
  readonly narrow?: ((record: RecordOf<Kind>) => MatchResult) | undefined
  present(record: RecordOf<Kind>): Item
}

/**
 * One page of the records that match all filters. O(page) with at most one filter that has lists. With
 * several such filters, or with a search, O(the shortest of their lists).
 */
export function pageOfSelection<Kind extends RecordKind, Item>(
  records: RecordReader,
  selection: Selection<Kind, Item>,
): Resumable<Page<Item>> {
  const { narrow } = selection
  const filters = selection.filters.filter(filter => filter !== null)
  const sizeOf = (names: readonly ListName[]) => names.reduce((sum, list) => sum + records.count(list), 0)
  let chosen: Filter<RecordOf<Kind>> | null = null
  let chosenSize = Number.POSITIVE_INFINITY
  for (const filter of filters) {
    const size = filter.lists ? sizeOf(filter.lists) : Number.POSITIVE_INFINITY
    if (size < chosenSize) [chosen, chosenSize] = [filter, size]
  }
  const others = filters.filter(filter => filter !== chosen)
  return pageOfLists(records, {
    ...selection,
    lists: chosen?.lists ?? [selection.all],
    rowsMax: Math.min(...filters.map(({ rowsMax = Number.POSITIVE_INFINITY }) => rowsMax)),
    matches:
      others.length === 0
        ? (narrow ?? null)
        : record => matchesAll(others, record) && (narrow?.(record) ?? true),
  })
}

/** Whether a record matches all filters. */
export function matchesAll<Item>(filters: readonly Filter<Item>[], record: Item): boolean {
  return filters.every(filter => filter.matches(record))
}

/** Matches records for which `idOf` returns one of the ids. `listOf` names the list of each id. */
export function idFilter<Item>(
  ids: readonly string[],
  listOf: (id: string) => ListName,
  idOf: (record: Item) => string | null,
): Filter<Item> {
  const wanted = new Set(ids)
  return {
    lists: [...wanted].map(listOf),
    matches: record => {
      const id = idOf(record)
      return id !== null && wanted.has(id)
    },
  }
}

/** Matches records that have the search string in one of their texts. */
export function searchFilter<Item>(
  search: string | undefined,
  textsOf: (record: Item) => readonly (string | null)[],
): Filter<Item> | null {
  if (search === undefined) return null
  return { lists: null, matches: record => matchesSearch(search, textsOf(record)) }
}

/** Requested attributes by name, with each value as text. */
export type AttributeFilter = Readonly<Record<string, string>>

/** A record or part with attributes. */
interface Attributed {
  readonly attributes: Attributes | null
}

/**
 * Matches records that have all the attributes. Strings are compared as they are, numbers and booleans in
 * their JSON form; other values never match. There is no index of attributes, so every item is examined.
 */
export function attributeFilter(
  filter: AttributeFilter | undefined,
  rowsMax = ATTRIBUTE_FILTER_ROWS_MAX,
): Filter<Attributed> | null {
  if (filter === undefined) return null
  const entries = Object.entries(filter)
  const matches = ({ attributes }: Attributed): boolean =>
    attributes !== null && entries.every(([name, text]) => textOf(attributes, name) === text)
  return { lists: null, matches, rowsMax }
}

/** The attribute as text; null if it is missing or not a plain value. */
function textOf(attributes: Attributes, name: string): string | null {
  const value = Object.hasOwn(attributes, name) ? attributes[name] : null
  const isPlain =
    typeof value === 'string' ||
    typeof value === 'number' ||
    typeof value === 'bigint' ||
    typeof value === 'boolean'
  return isPlain ? String(value) : null
}

/** The parts of one record that have all the attributes. */
export function withAttributes<Part extends Attributed>(
  parts: readonly Part[],
  wanted: AttributeFilter | undefined,
): readonly Part[] {
  const filter = attributeFilter(wanted)
  return filter === null ? parts : parts.filter(part => filter.matches(part))
}
