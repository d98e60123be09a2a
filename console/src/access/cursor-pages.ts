/** Lists whose pages say where the next one begins, as `usePages` has those with numbers. */
import type { QueryKey } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Pages } from '../interface/pages.ts'
import { useSeenPages, withoutRepeats } from '../interface/seen-pages.ts'

export interface CursorPage<Item, Cursor> {
  readonly items: readonly Item[]
  /** Where the next page begins; null: this is the last. */
  readonly next: Cursor | null
  /** How many there are in all; null: nobody knows. */
  readonly total: number | null
  /** Whether it is not full although there may be more. */
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

/** The pages one after the other, to be written somewhere. */
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
