/**
 * Lists narrowed by filters. The filter that lets the fewest rows through gives the list, and when it is the only one,
 * page and total come from that list's order and counter; the others are asked row by row. A filter by something
 * unknown lets nothing through.
 */
import type { Attributes } from '#model/change.ts'
import { ATTRIBUTE_FILTER_ROWS_MAX } from '#model/limits.ts'
import type { RecordKind, RecordOf } from '#model/records.ts'
import type { Paging } from '#model/wire/building-blocks.ts'
import type { ListName } from '#store/view.ts'
import { matchesSearch, type Page, pageOfLists, type Verdict } from './paging.ts'
import type { RecordReader } from './record-reader.ts'
import type { Resumable } from './resumable.ts'

export interface Filter<Item> {
  /** The lists of what the filter lets through; none shares a record with another. Null: there are no such lists. */
  readonly lists: readonly ListName[] | null
  matches(record: Item): boolean
  /** Items of a list that may be looked at for its sake; absent: all there are. */
  readonly rowsMax?: number
}

export interface Selection<Kind extends RecordKind, Item> {
  readonly kind: Kind
  /** The list of everything, for when no filter has lists. */
  readonly all: ListName
  /** Null: the filter was not given. */
  readonly filters: readonly (Filter<RecordOf<Kind>> | null)[]
  readonly paging: Paging
  readonly hasTotal?: boolean
  /** Asked last of what the filters let through: it may have to read. Absent: there is nothing to ask. */
  readonly narrow?: ((record: RecordOf<Kind>) => Verdict) | undefined
  present(record: RecordOf<Kind>): Item
}

/** O(page) with at most one filter that has lists; with more, or a search, O(the shortest of their lists). */
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

/** Whether all filters let a record through. */
export function matchesAll<Item>(filters: readonly Filter<Item>[], record: Item): boolean {
  return filters.every(filter => filter.matches(record))
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

/** Attributes that are wanted, by name: each value as the text in which it was asked for. */
export type WantedAttributes = Readonly<Record<string, string>>

/** Something that has attributes. */
interface Attributed {
  readonly attributes: Attributes | null
}

/**
 * Lets through records that have all the attributes. Strings are compared as they are, numbers and booleans as JSON writes them;
 * nothing else has any value that could be asked for. There is no list of what has an attribute, so every item is looked at.
 */
export function attributeFilter(
  wanted: WantedAttributes | undefined,
  rowsMax = ATTRIBUTE_FILTER_ROWS_MAX,
): Filter<Attributed> | null {
  if (wanted === undefined) return null
  const entries = Object.entries(wanted)
  const matches = ({ attributes }: Attributed): boolean =>
    attributes !== null && entries.every(([name, text]) => textOf(attributes, name) === text)
  return { lists: null, matches, rowsMax }
}

/** Null: it has no such attribute, or one that is no plain value. */
function textOf(attributes: Attributes, name: string): string | null {
  const value = Object.hasOwn(attributes, name) ? attributes[name] : null
  const isPlain =
    typeof value === 'string' ||
    typeof value === 'number' ||
    typeof value === 'bigint' ||
    typeof value === 'boolean'
  return isPlain ? String(value) : null
}

/** Of the parts of one record those that have all the attributes. */
export function withAttributes<Part extends Attributed>(
  parts: readonly Part[],
  wanted: WantedAttributes | undefined,
): readonly Part[] {
  const filter = attributeFilter(wanted)
  return filter === null ? parts : parts.filter(part => filter.matches(part))
}
