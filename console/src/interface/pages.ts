/**
 * Lists that come in pages: the first shows at once, the next when somebody asks for it. A list is never loaded whole. A `Page` is what the
 * interface answers, in either of its two forms.
 */
import { keepPreviousData, type QueryKey, useInfiniteQuery } from '@tanstack/react-query'

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
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => load({ page: pageParam, per_page: PAGE_SIZE }, signal),
    initialPageParam: 1,
    getNextPageParam: (last: Page<Item>, _all, page) => (itemsOf(last).length < PAGE_SIZE ? null : page + 1),
    // While one types a search, the former list stays until the next is there.
    placeholderData: keepPreviousData,
    enabled: isEnabled,
  })
  const pages = query.data?.pages ?? []
  const [first] = pages
  return {
    items: pages.flatMap(itemsOf),
    total: first !== undefined && 'data' in first ? (first.total_count ?? null) : null,
    isLoading: query.isPending && isEnabled,
    isLoadingMore: query.isFetchingNextPage,
    hasMore: query.hasNextPage,
    error: query.error,
    loadMore: () => void query.fetchNextPage(),
  }
}

function itemsOf<Item>(page: Page<Item>): readonly Item[] {
  return 'data' in page ? page.data : page
}
