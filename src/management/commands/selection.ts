/**
 * Lists narrowed by filters. The filter that lets the fewest rows through gives the list, and when it is the only one,
 * page and total come from that list's order and counter; the others are asked row by row. A filter by something
 * unknown lets nothing through.
 */
import type { RecordKind, RecordOf } from '#model/records.ts'
import type { Paging } from '#model/wire/building-blocks.ts'
import type { ListName } from '#store/view.ts'
import { matchesSearch, type Page, pageOfLists } from './paging.ts'
import type { RecordReader } from './record-reader.ts'
import type { Resumable } from './resumable.ts'

export interface Filter<Item> {
  /** The lists of what the filter lets through; none shares a record with another. Null: there are no such lists. */
  readonly lists: readonly ListName[] | null
  matches(record: Item): boolean
}

export interface Selection<Kind extends RecordKind, Item> {
  readonly kind: Kind
  /** The list of everything, for when no filter has lists. */
  readonly all: ListName
  /** Null: the filter was not given. */
  readonly filters: readonly (Filter<RecordOf<Kind>> | null)[]
  readonly paging: Paging
  readonly hasTotal?: boolean
  present(record: RecordOf<Kind>): Item
}

/** O(page) with at most one filter that has lists; with more, or a search, O(the shortest of their lists). */
export function pageOfSelection<Kind extends RecordKind, Item>(
  records: RecordReader,
  selection: Selection<Kind, Item>,
): Resumable<Page<Item>> {
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
    matches: others.length === 0 ? null : record => others.every(filter => filter.matches(record)),
  })
}

/** Lets through records that have one of the ids where `idOf` looks. `listOf` names the list of each id. */
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

/** Lets through records that have the search in one of their texts. */
export function searchFilter<Item>(
  search: string | undefined,
  textsOf: (record: Item) => readonly (string | null)[],
): Filter<Item> | null {
  if (search === undefined) return null
  return { lists: null, matches: record => matchesSearch(search, textsOf(record)) }
}
