/**
 * Lists that come in pages: the first shows at once, the next when somebody asks for it. A list is never loaded whole. A `Page` is what the
 * interface answers, in either of its two forms.
 */
import type { QueryKey } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type See, useSeenPages, withoutRepeats } from './seen-pages.ts'

export const PAGE_SIZE = 50

/** A list as the interface answers it: bare, or with how many there are. */
type Page<Item> =
  | readonly Item[]
  | {
      readonly data: readonly Item[]
      readonly total_count?: number | undefined
      readonly page_count?: number | undefined
    }

export interface Pages<Item> {
  readonly items: readonly Item[]
  /** The same page by page, where it matters which of them are in sight. */
  readonly parts?: readonly (readonly Item[])[]
  /** To be told which of the parts are in sight. Where nobody tells, the first and the last are loaded anew when something changes. */
  readonly see?: See
  /** How many there are in all; null: the interface does not say. */
  readonly total: number | null
  readonly isLoading: boolean
  readonly isLoadingMore: boolean
  readonly hasMore: boolean
  readonly error: Error | null
  readonly loadMore: () => void
}

/** `load` answers a page, from 1; `isEnabled`: whether to ask at all. */
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
    // While one types a search, the former list stays until the next is there.
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

/** What the interface lists has an id, most of it. */
function idOf(item: unknown): string {
  return typeof item === 'object' && item !== null && 'id' in item ? String(item.id) : JSON.stringify(item)
}

function itemsOf<Item>(page: Page<Item>): readonly Item[] {
  return 'data' in page ? page.data : page
}
