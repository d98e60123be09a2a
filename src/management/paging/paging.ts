/** Pages and envelopes of management lists (native.md B.1). */
import { AuthzError } from '#model/errors.ts'
import { jsonBytes } from '#model/text/json-text.ts'
import { PAGE_BYTES_MAX, PAGE_SIZE_DEFAULT } from '#model/limits.ts'
import type { RecordKind, RecordOf } from '#entities/records.ts'
import { runAtOnce, type Resumable, YIELD_ROWS } from '#scheduling/resumable.ts'
import type { Paging } from '#model/wire/paging.ts'
import type { ListName } from '#store/view.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'

/** Rows skipped without a pause: about 2.5 ms. */
const SKIP_ROWS_MAX = 100_000
/** Rows skipped without a pause in merged lists: a few tenths of a millisecond. */
const SKIP_MERGED_ROWS_MAX = 128

/** Reading and measuring an item of this size takes about as long as reading some tens of small rows. */
const LARGE_ITEM_BYTES = 16_384

/** With fewer rows per list, strides are not faster than single rows. */
const STRIDE_MIN = 32

export interface Page<Item> {
  readonly data: Item[]
  readonly total_count: number
  readonly page_count: number
}

export interface ListPageRequest<Kind extends RecordKind, Item> {
  readonly kind: Kind
  readonly list: ListName
  readonly paging: Paging
  /** Filter; null if all records match. With a filter, a page costs O(list). */
  readonly matches: ((record: RecordOf<Kind>) => MatchResult) | null
  present(record: RecordOf<Kind>): Item
}

/** Result of a filter for a record. A filter that has to read many rows is resumable. */
export type MatchResult = boolean | Resumable<boolean>

/** One page of a short list, in creation order. */
export function pageOf<Kind extends RecordKind, Item>(
  records: RecordReader,
  request: ListPageRequest<Kind, Item>,
): Page<Item> {
  return runAtOnce(pageOfLists(records, { ...request, lists: [request.list] }))
}

export interface ListsRequest<Kind extends RecordKind, Item> {
  readonly kind: Kind
  /** The lists to merge. They share no record. */
  readonly lists: readonly ListName[]
  readonly paging: Paging
  readonly matches: ((record: RecordOf<Kind>) => MatchResult) | null
  /**
   * For lists in which one row represents several records: whether a dead row still represents a live record.
   */
  readonly standsForLive?: (record: RecordOf<Kind>) => MatchResult
  /** Maximum number of items to examine; absent: unlimited. If there are more, throws `LIMIT_EXCEEDED`. */
  readonly rowsMax?: number
  /**
   * Whether the caller needs the total. Otherwise, a filtered list is read only up to the end of the page.
   */
  readonly hasTotal?: boolean
  /**
   * Called in the event-loop iteration in which the record was found alive, so entities that it references
   * exist. This does not hold if a resumable filter took several iterations.
   */
  present(record: RecordOf<Kind>): Item
}

/**
 * One page over lists, in creation order. Without `matches`, O(page), plus 25 ns per skipped row in one list
 * and about 2 µs in several. O(list) with `matches` and the total, or while a purge is running.
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
  // A dead row can represent other, live records of the list, so it has to be examined.
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
      // The pause comes last, because records found before a pause may no longer exist after it.
      if (++rows % YIELD_ROWS === 0 || isLarge) yield
    }
  }
  if (isNarrowed || !hasTotal) return pageFrom(data, matched, limit)
  let total = 0
  for (const list of request.lists) total += yield* records.liveCount(request.kind, list)
  return pageFrom(data, total, limit)
}

function tooManyRows(rowsMax: number): AuthzError {
  const message = `filters by attributes examine at most ${rowsMax} items, and this list has more: add another filter`
  return new AuthzError('LIMIT_EXCEEDED', message, { limit: 'list' })
}

/**
 * Limits the bytes of a page. The size of one entity is bounded, but not that of a hundred resource types
 * with all their parts. A page is complete or rejected: a page shorter than requested would look like the
 * last one (native.md B.1).
 */
export class PageBytes {
  #bytes = 0
  #items = 0

  /**
   * Returns the bytes of the item. Throws `LIMIT_EXCEEDED` if the page becomes too large with it. A single
   * item is always allowed.
   */
  add(item: unknown): number {
    const bytes = jsonBytes(item, PAGE_BYTES_MAX)
    this.#bytes += bytes
    this.#items += 1
    if (this.#bytes <= PAGE_BYTES_MAX || this.#items === 1) return bytes
    const message = `this page would have more than ${PAGE_BYTES_MAX} bytes: request a smaller one, with per_page of at most ${this.#items - 1}`
    throw new AuthzError('LIMIT_EXCEEDED', message, { limit: 'page' })
  }
}

export function* settled(verdict: MatchResult): Resumable<boolean> {
  return typeof verdict === 'boolean' ? verdict : yield* verdict
}

/** `created` of the last of the first `count` rows; null if there are fewer. 25 ns per row. */
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
 * Like `placeOf`, for several merged lists: `created` of the last of the first `count` rows of all lists
 * together. Skips in strides while many rows are left, then row by row. Reads no rows.
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
  /** `created` of the last skipped row in each list. */
  readonly afters: readonly number[]
  readonly left: number
}

/**
 * Skips a stride of s rows in the list whose next stride ends first. As long as at least s rows per list are
 * left to skip, all rows of that stride are among them. 25 ns per row, and a few microseconds per stride.
 * Returns null if there are fewer rows.
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
    // No list has a full stride left, and all lists together have less than half of the rows to skip.
    if (left === before) return null
  }
  return { afters, left }
}

/** Skips row by row. About 2 µs per row. */
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

/** The items of one page of an array that is stored inside one record. */
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

/** Response of lists that are a bare array unless the caller requests the count. */
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

/**
 * Like `takeFirst` after skipping `offset` items, but with pauses: items found before a pause may no longer
 * exist after it.
 */
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

/** Position of a search string in a text. */
type SearchOperator = 'contains' | 'startswith' | 'endswith'

/**
 * Case-insensitive substring search in any of the texts; `*` matches any run of characters (native.md B.1).
 * Matches piece by piece from the left, so that the time is bounded for every text.
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

/** Whether the whole text matches the pattern; `*` matches any run of characters. Case-sensitive. */
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
