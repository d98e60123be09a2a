/**
 * Pagination. The first page is loaded immediately, and further pages when the user requests them. A list is
 * never loaded as a whole. A `Page` is a list response of the API, which has one of two forms.
 */
import type { QueryKey } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type See, useSeenPages, withoutRepeats } from './seen-pages.ts'

export const PAGE_SIZE = 50

/** List response of the API: an array, or an object with a total. */
type Page<Item> =
  | readonly Item[]
  | {
      readonly data: readonly Item[]
      readonly total_count?: number | undefined
      readonly page_count?: number | undefined
    }

export interface Pages<Item> {
  readonly items: readonly Item[]
  /** The items of each page separately. Needed by lists that report which pages are visible. */
  readonly parts?: readonly (readonly Item[])[]
  /**
   * Reports which pages are visible. If a list does not call it, only its first pages and its last page are
   * reloaded after a change.
   */
  readonly see?: See
  /** Total number of items; null if the API does not report it. */
  readonly total: number | null
  readonly isLoading: boolean
  readonly isLoadingMore: boolean
  readonly hasMore: boolean
  readonly error: Error | null
  readonly loadMore: () => void
}

/** `load` returns a page; the first page is 1. `isEnabled` states whether requests are made. */
export function usePages<Item>(
  key: QueryKey,
  load: (
    page: { readonly page: number; readonly per_page: number },
    signal: AbortSignal,
  ) => Promise<Page<Item>>,
  isEnabled = true,
): Pages<Item> {
  const { query, pages, see } = useSeenPages<Page<Item>, number>({
    key,
    first: 1,
    next: (last, page) => (itemsOf(last).length < PAGE_SIZE ? null : page + 1),
    load: (page, signal) => load({ page, per_page: PAGE_SIZE }, signal),
    isEnabled,
    // While the user types a search text, the former list stays until the new one has loaded.
    keepsFormer: true,
  })
  const parts = useMemo(() => withoutRepeats(pages.map(itemsOf), idOf), [pages])
  const [first] = pages
  return {
    items: useMemo(() => parts.flat(), [parts]),
    parts,
    see,
    total: first !== undefined && 'data' in first ? (first.total_count ?? null) : null,
    isLoading: query.isPending && isEnabled,
    isLoadingMore: query.isFetchingNextPage,
    hasMore: query.hasNextPage,
    error: query.error,
    loadMore: () => void query.fetchNextPage(),
  }
}

/** Identifies an item: by its ID, or by its JSON if it has no ID. */
function idOf(item: unknown): string {
  return typeof item === 'object' && item !== null && 'id' in item ? String(item.id) : JSON.stringify(item)
}

function itemsOf<Item>(page: Page<Item>): readonly Item[] {
  return 'data' in page ? page.data : page
}
