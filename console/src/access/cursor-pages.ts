/**
 * Pagination for lists in which each page contains a cursor for the next page. For lists with numbered pages,
 * see `usePages`.
 */
import type { QueryKey } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Pages } from '../interface/pages.ts'
import { useSeenPages, withoutRepeats } from '../interface/seen-pages.ts'

export interface CursorPage<Item, Cursor> {
  readonly items: readonly Item[]
  /** Cursor of the next page; null if this is the last page. */
  readonly next: Cursor | null
  /** Total number of items; null if the API does not report it. */
  readonly total: number | null
  /** Whether the page is not full although more items might follow. */
  readonly isCutShort: boolean
}

interface CursorPages<Item> extends Pages<Item> {
  readonly isCutShort: boolean
}

export function useCursorPages<Item, Cursor>(
  key: QueryKey,
  first: Cursor,
  load: (cursor: Cursor, signal: AbortSignal) => Promise<CursorPage<Item, Cursor>>,
): CursorPages<Item> {
  const { query, pages, see } = useSeenPages<CursorPage<Item, Cursor>, Cursor>({
    key,
    first,
    next: ({ next }) => next,
    load,
    isEnabled: true,
    keepsFormer: false,
  })
  const parts = useMemo(
    () =>
      withoutRepeats(
        pages.map(({ items }) => items),
        item => JSON.stringify(item),
      ),
    [pages],
  )
  return {
    items: useMemo(() => parts.flat(), [parts]),
    parts,
    see,
    total: pages[0]?.total ?? null,
    isLoading: query.isPending,
    isLoadingMore: query.isFetchingNextPage,
    hasMore: query.hasNextPage,
    error: query.error,
    loadMore: () => void query.fetchNextPage(),
    isCutShort: pages.at(-1)?.isCutShort ?? false,
  }
}

/** Yields all pages one after the other. Used for exports. */
export async function* eachPage<Item, Cursor>(
  first: Cursor,
  load: (cursor: Cursor) => Promise<CursorPage<Item, Cursor>>,
): AsyncGenerator<readonly Item[]> {
  for (let cursor: Cursor | null = first; cursor !== null;) {
    const { items, next }: CursorPage<Item, Cursor> = await load(cursor)
    yield items
    cursor = next
  }
}
