/** Pages and envelopes of management lists (contract B.1). */
import { PAGE_SIZE_DEFAULT } from '#model/limits.ts'
import type { RecordKind, RecordOf } from '#model/records.ts'
import type { Paging } from '#model/wire/building-blocks.ts'
import type { ListName } from '#store/view.ts'
import type { RecordReader } from './record-reader.ts'

export interface Page<Item> {
  readonly data: Item[]
  readonly total_count: number
  readonly page_count: number
}

interface PageRequest<Kind extends RecordKind, Item> {
  readonly kind: Kind
  readonly list: ListName
  readonly paging: Paging
  /** Narrows the list further, which makes the page linear in it; null when the list itself says it all. */
  readonly matches: ((record: RecordOf<Kind>) => boolean) | null
  present(record: RecordOf<Kind>): Item
}

/** One page of a list, in creation order. O(page) plus 25 ns a skipped row without `matches`, else O(list). */
export function pageOf<Kind extends RecordKind, Item>(
  records: RecordReader,
  request: PageRequest<Kind, Item>,
): Page<Item> {
  const { kind, list, matches } = request
  const { offset, limit } = windowOf(request.paging)
  if (matches === null) {
    const data = takeFirst(records.list(kind, list, { offset }), limit)
    return pageFrom(data.map(request.present), records.count(list), limit)
  }
  const data: Item[] = []
  let total = 0
  for (const record of records.list(kind, list)) {
    if (!matches(record)) continue
    if (total >= offset && data.length < limit) data.push(request.present(record))
    total += 1
  }
  return pageFrom(data, total, limit)
}

/** The part of a list that a page shows. */
export function windowOf(paging: Paging): { readonly offset: number; readonly limit: number } {
  const limit = paging.per_page ?? PAGE_SIZE_DEFAULT
  return { offset: ((paging.page ?? 1) - 1) * limit, limit }
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

/**
 * Case-insensitive substring in any of the texts; `*` stands for any run of characters (contract B.1). Matched
 * piece by piece from the left, so that no text makes it slow.
 */
export function matchesSearch(search: string, texts: readonly (string | null)[]): boolean {
  const pieces = search.toLowerCase().split('*')
  return texts.some(text => {
    if (text === null) return false
    const lower = text.toLowerCase()
    let from = 0
    return pieces.every(piece => {
      const at = lower.indexOf(piece, from)
      from = at + piece.length
      return at >= 0
    })
  })
}
