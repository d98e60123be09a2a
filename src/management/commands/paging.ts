/** Pages and envelopes of management lists (native.md B.1). */
import { AuthzError } from '#model/errors.ts'
import { jsonBytes } from '#model/json-text.ts'
import { PAGE_BYTES_MAX, PAGE_SIZE_DEFAULT } from '#model/limits.ts'
import type { RecordKind, RecordOf } from '#model/records.ts'
import { runAtOnce } from '#model/resumable.ts'
import type { Paging } from '#model/wire/building-blocks.ts'
import type { ListName } from '#store/view.ts'
import type { RecordReader } from './record-reader.ts'
import { type Resumable, YIELD_ROWS } from './resumable.ts'

/** Rows skipped in one go: some 2.5 ms. */
const SKIP_ROWS_MAX = 100_000
/** The same where several lists are merged: some tenths of a millisecond. */
const SKIP_MERGED_ROWS_MAX = 128

/** Reading and measuring an item of this size takes as long as reading some tens of small rows. */
const LARGE_ITEM_BYTES = 16_384

/** With fewer rows a list, strides are no faster than going row by row. */
const STRIDE_MIN = 32

export interface Page<Item> {
  readonly data: Item[]
  readonly total_count: number
  readonly page_count: number
}

export interface PageRequest<Kind extends RecordKind, Item> {
  readonly kind: Kind
  readonly list: ListName
  readonly paging: Paging
  /** Narrows the list further, which makes the page linear in the list; null: the whole list matches. */
  readonly matches: ((record: RecordOf<Kind>) => Verdict) | null
  present(record: RecordOf<Kind>): Item
}

/** What a filter says of a record. A filter that has to read much is resumable. */
export type Verdict = boolean | Resumable<boolean>

/** One page of a short list, in creation order. */
export function pageOf<Kind extends RecordKind, Item>(
  records: RecordReader,
  request: PageRequest<Kind, Item>,
): Page<Item> {
  return runAtOnce(pageOfLists(records, { ...request, lists: [request.list] }))
}

export interface ListsRequest<Kind extends RecordKind, Item> {
  readonly kind: Kind
  /** The lists to merge. They share no record. */
  readonly lists: readonly ListName[]
  readonly paging: Paging
  readonly matches: ((record: RecordOf<Kind>) => Verdict) | null
  /** For lists whose rows stand for others, too: whether a dead row still stands for some that are alive. */
  readonly standsForLive?: (record: RecordOf<Kind>) => Verdict
  /** Items that may be looked at; absent: all there are. Beyond, the request is refused (`LIMIT_EXCEEDED`). */
  readonly rowsMax?: number
  /** Whether the caller asks for the total. Otherwise a narrowed list is read only up to the end of the page. */
  readonly hasTotal?: boolean
  /**
   * Called in the turn in which the record was found alive, so what it refers to exists; unless a filter took several turns
   * to match.
   */
  present(record: RecordOf<Kind>): Item
}

/**
 * One page over lists, in creation order. O(page) and, for each skipped row, 25 ns in one list and some 2 us in several,
 * without `matches`; O(list) with `matches` and total, or while a purge is going on.
 */
export function* pageOfLists<Kind extends RecordKind, Item>(
  records: RecordReader,
  request: ListsRequest<Kind, Item>,
): Resumable<Page<Item>> {
  const { matches, standsForLive, hasTotal = true, rowsMax = Number.POSITIVE_INFINITY } = request
  const { offset, limit } = windowOf(request.paging)
  const [only] = request.lists
  const isCounted = matches === null && !records.hasDead
  let after: number | null = -1
  if (isCounted && only && offset > 0) {
    const isMerged = request.lists.length > 1
    after = yield* isMerged ? placeInMerged(records, request.lists, offset) : placeOf(records, only, offset)
  }
  // A dead row that stands for others may still be one of the list: it has to be looked at.
  const isNarrowed = matches !== null || (standsForLive !== undefined && records.hasDead)
  const data: Item[] = []
  const bytes = new PageBytes()
  let matched = after === -1 ? 0 : offset
  let rows = 0
  if (after !== null) {
    for (const { record, isDead } of records.foundIn(request.kind, request.lists, { after })) {
      if (rows === rowsMax) throw tooManyRows(rowsMax)
      let isLarge = false
      const isShown = !isDead || (standsForLive !== undefined && (yield* settled(standsForLive(record))))
      if (isShown && (matches === null || (yield* settled(matches(record))))) {
        matched += 1
        if (matched > offset && data.length < limit) {
          const item = request.present(record)
          isLarge = bytes.add(item) >= LARGE_ITEM_BYTES
          data.push(item)
        }
        if (matched >= offset + limit && !(isNarrowed && hasTotal)) break
      }
      // The stop comes last: what was found before a stop may be gone after it.
      if (++rows % YIELD_ROWS === 0 || isLarge) yield
    }
  }
  if (isNarrowed || !hasTotal) return pageFrom(data, matched, limit)
  let total = 0
  for (const list of request.lists) total += yield* records.liveCount(request.kind, list)
  return pageFrom(data, total, limit)
}

function tooManyRows(rowsMax: number): AuthzError {
  const message = `filters by attributes look at ${rowsMax} items of a list at most, and this list has more: narrow it by another filter`
  return new AuthzError('LIMIT_EXCEEDED', message, { limit: 'list' })
}

/**
 * Bounds the bytes of a page. What one thing shows is bounded, but a hundred resources with all their parts are not. A page
 * is whole or refused: a page shorter than asked for would pass for the last one (native.md B.1).
 */
export class PageBytes {
  #bytes = 0
  #items = 0

  /**
   * Returns the bytes of the item. Throws `LIMIT_EXCEEDED` when the page becomes too long with it. A single item never is
   * too long.
   */
  add(item: unknown): number {
    const bytes = jsonBytes(item, PAGE_BYTES_MAX)
    this.#bytes += bytes
    this.#items += 1
    if (this.#bytes <= PAGE_BYTES_MAX || this.#items === 1) return bytes
    const message = `this page would have more than ${PAGE_BYTES_MAX} bytes: ask for a smaller one (per_page), ${this.#items - 1} or fewer`
    throw new AuthzError('LIMIT_EXCEEDED', message, { limit: 'page' })
  }
}

export function* settled(verdict: Verdict): Resumable<boolean> {
  return typeof verdict === 'boolean' ? verdict : yield* verdict
}

/** The place of the last of the first `count` rows; null when there are fewer. 25 ns a row. */
function* placeOf(records: RecordReader, list: ListName, count: number): Resumable<number | null> {
  let after = -1
  for (let left = count; left > 0; left -= SKIP_ROWS_MAX) {
    const [row] = takeFirst(records.storedRows(list, { after, offset: Math.min(left, SKIP_ROWS_MAX) - 1 }), 1)
    if (!row) return null
    after = row.created
    yield
  }
  return after
}

/**
 * As `placeOf` for several lists side by side: the place of the last of the first `count` rows of all of them. Goes in
 * strides while many rows are to be skipped, then row by row. Reads none of the rows.
 */
function* placeInMerged(
  records: RecordReader,
  names: readonly ListName[],
  count: number,
): Resumable<number | null> {
  const skipped = yield* strideInMerged(records, names, count)
  return skipped && (yield* walkInMerged(records, names, skipped))
}

interface Skipped {
  /** The last place skipped in each list. */
  readonly afters: readonly number[]
  readonly left: number
}

/**
 * Strides of s rows in the list whose stride ends first: as long as s times the number of lists are still to be skipped, no
 * row beyond them can be among those. 25 ns a row, and some microseconds a stride. Null when there are fewer rows.
 */
function* strideInMerged(
  records: RecordReader,
  names: readonly ListName[],
  count: number,
): Resumable<Skipped | null> {
  const afters = names.map(() => -1)
  let left = count
  while (left > names.length * STRIDE_MIN) {
    const stride = Math.min(Math.floor(left / names.length / 2), SKIP_ROWS_MAX)
    const end = (index: number): number =>
      takeFirst(records.places(names[index]!, { after: afters[index]!, offset: stride - 1 }), 1)[0] ??
      Number.POSITIVE_INFINITY
    const ends = names.map((_, index) => end(index))
    const before = left
    while (left >= names.length * stride) {
      const first = Math.min(...ends)
      if (first === Number.POSITIVE_INFINITY) break
      const at = ends.indexOf(first)
      afters[at] = first
      ends[at] = end(at)
      left -= stride
      yield
    }
    // No list has as many rows left, and all together have less than half of what is to be skipped.
    if (left === before) return null
  }
  return { afters, left }
}

/** Row by row. Some 2 us a row. */
function* walkInMerged(
  records: RecordReader,
  names: readonly ListName[],
  { afters, left: count }: Skipped,
): Resumable<number | null> {
  if (count === 0) return Math.max(...afters)
  const sources = names.map((list, index) =>
    records.places(list, { after: afters[index]! })[Symbol.iterator](),
  )
  try {
    const heads = sources.map(nextPlace)
    for (let left = count; ; left -= 1) {
      const place = Math.min(...heads)
      if (place === Number.POSITIVE_INFINITY) return null
      if (left === 1) return place
      const at = heads.indexOf(place)
      heads[at] = nextPlace(sources[at]!)
      if (left % SKIP_MERGED_ROWS_MAX === 0) yield
    }
  } finally {
    for (const source of sources) source.return?.(undefined)
  }
}

function nextPlace(source: Iterator<number>): number {
  const step = source.next()
  return step.done ? Number.POSITIVE_INFINITY : step.value
}

/** The items of one page of an array that is kept inside one record. */
export function pageOfArray<Item>(items: readonly Item[], paging: Paging): Item[] {
  const { offset, limit } = windowOf(paging)
  return items.slice(offset, offset + limit)
}

/** The part of a list that a page shows. */
export function windowOf(paging: Paging): { readonly offset: number; readonly limit: number } {
  const limit = paging.per_page ?? PAGE_SIZE_DEFAULT
  return { offset: paging.offset ?? ((paging.page ?? 1) - 1) * limit, limit }
}

export function pageFrom<Item>(data: Item[], total: number, limit: number): Page<Item> {
  return { data, total_count: total, page_count: Math.ceil(total / limit) }
}

/** Lists that are a bare array unless the caller asks for the count. */
export function arrayOrEnvelope<Item>(
  page: Page<Item>,
  includeTotalCount: boolean | undefined,
): Page<Item> | Item[] {
  return includeTotalCount ? page : page.data
}

export function takeFirst<Item>(items: Iterable<Item>, limit: number): Item[] {
  const taken: Item[] = []
  if (limit === 0) return taken
  for (const item of items) {
    taken.push(item)
    if (taken.length === limit) break
  }
  return taken
}

/** As `takeFirst` after the first `offset` of them, and with stops: what was found before a stop may be gone after it. */
export function* takeInSlices<Item>(
  items: Iterable<Item>,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Resumable<Item[]> {
  const taken: Item[] = []
  let seen = 0
  for (const item of items) {
    if (seen === offset + limit) break
    if (seen >= offset) taken.push(item)
    if (++seen % YIELD_ROWS === 0) yield
  }
  return taken
}

/** Where a search must stand in a text. */
type SearchOperator = 'contains' | 'startswith' | 'endswith'

/**
 * Case-insensitive substring in any of the texts; `*` stands for any run of characters (native.md B.1).
 * Matched piece by piece from the left, so that no text makes it slow.
 */
export function matchesSearch(
  search: string,
  texts: readonly (string | null)[],
  operator: SearchOperator = 'contains',
): boolean {
  const pieces = search.toLowerCase().split('*')
  return texts.some(text => {
    if (text === null) return false
    const lower = text.toLowerCase()
    if (operator === 'startswith' && !lower.startsWith(pieces[0]!)) return false
    const last = pieces.length - 1
    let from = 0
    return pieces.every((piece, index) => {
      const isEnd = operator === 'endswith' && index === last
      const at = isEnd ? lower.lastIndexOf(piece) : lower.indexOf(piece, from)
      if (at < from || (isEnd && at + piece.length !== lower.length)) return false
      from = at + piece.length
      return true
    })
  })
}

/** Whether a text is what the pattern says; `*` stands for any run of characters. Every other character counts. */
export function matchesPattern(pattern: string, text: string): boolean {
  const pieces = pattern.split('*')
  const first = pieces[0]!
  const last = pieces.at(-1)!
  if (pieces.length === 1) return text === pattern
  if (text.length < first.length + last.length) return false
  if (!text.startsWith(first) || !text.endsWith(last)) return false
  const end = text.length - last.length
  let from = first.length
  return pieces.slice(1, -1).every(piece => {
    const at = text.indexOf(piece, from)
    from = at + piece.length
    return at >= 0 && from <= end
  })
}
