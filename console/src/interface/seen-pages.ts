/**
 * Determines which pages of a long list are reloaded after a change: the first pages, the last page and the
 * visible pages. Another page is reloaded when it becomes visible. A change therefore causes only a few
 * requests, even if many pages were loaded.
 */
import { type InfiniteData, keepPreviousData, type QueryKey, useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'

/** Number of pages that are reloaded if a list does not report which pages are visible. */
const FIRST = 3
/**
 * Time in milliseconds for which a page must be visible before it is reloaded. Pages that the user only
 * scrolls past are not reloaded.
 */
const SEEN_MS = 200

/** Called by a component when its page becomes visible or invisible. The first page is 0. */
export type See = (page: number, isInSight: boolean) => void

interface List<Page, Place> {
  readonly key: QueryKey
  readonly first: Place
  /** Position of the page after `last`. Null if there is none. */
  readonly next: (last: Page, place: Place) => Place | null
  readonly load: (place: Place, signal: AbortSignal) => Promise<Page>
  readonly isEnabled: boolean
  /** Whether the former list stays on the screen until the first page of this list has loaded. */
  readonly keepsFormer: boolean
}

export function useSeenPages<Page, Place>(list: List<Page, Place>) {
  const { key, first, next, load, isEnabled, keepsFormer } = list
  const [sight] = useState(() => new Sight())
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: async ({ pageParam, signal, client, queryKey }): Promise<Page> => {
      const page = sight.placeIn(signal, pageParam === first)
      const former = page === null ? undefined : client.getQueryData<InfiniteData<Page>>(queryKey)?.pages
      if (page !== null && former !== undefined && !sight.takes(page, former.length)) return former[page]!
      return load(pageParam as Place, signal)
    },
    initialPageParam: first as unknown,
    getNextPageParam: (last: Page, _all, place) => next(last, place as Place),
    enabled: isEnabled,
    ...(keepsFormer && { placeholderData: keepPreviousData }),
  })
  const { refetch } = query
  const hash = JSON.stringify(key)
  useEffect(() => () => sight.forget(), [sight, hash])
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const [see] = useState((): See => (page, isInSight) => {
    sight.see(page, isInSight)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => loadSeen.current(), SEEN_MS)
  })
  const loadSeen = useRef(() => {})
  loadSeen.current = () => {
    // Does not cancel a reload that is in progress. It might already have skipped the page, so the check is
    // repeated after it.
    if (sight.hasStale)
      void refetch({ cancelRefetch: false }).then(({ isError }) => isError || loadSeen.current())
  }
  useEffect(() => () => clearTimeout(timer.current), [])
  return { query, pages: (query.data?.pages ?? []) as readonly Page[], see }
}

/** Records which pages of a list are visible, and which pages reloads have skipped. */
class Sight {
  readonly #inSight = new Set<number>()
  readonly #stale = new Set<number>()
  /** Number of pages that each load has processed. */
  readonly #loads = new WeakMap<AbortSignal, number>()
  #isReported = false

  see(page: number, isInSight: boolean): void {
    this.#isReported = true
    if (isInSight) this.#inSight.add(page)
    else this.#inSight.delete(page)
  }

  /** Whether a page that was skipped is visible. */
  get hasStale(): boolean {
    return [...this.#inSight].some(page => this.#stale.has(page))
  }

  /**
   * Index of the page that a reload processes next. Null if the load does not reload pages but adds the page
   * after the loaded pages.
   */
  placeIn(load: AbortSignal, isFirst: boolean): number | null {
    const former = this.#loads.get(load)
    if (!isFirst && former === undefined) return null
    const page = isFirst ? 0 : former! + 1
    this.#loads.set(load, page)
    return page
  }

  /**
   * Returns whether a reload of `count` pages includes this page, and records whether the page is now current
   * or stale.
   */
  takes(page: number, count: number): boolean {
    const isTaken =
      page === 0 || page >= count - 1 || (this.#isReported ? this.#inSight.has(page) : page < FIRST)
    if (isTaken) this.#stale.delete(page)
    else this.#stale.add(page)
    return isTaken
  }

  /** Resets the state for another list. */
  forget(): void {
    this.#stale.clear()
  }
}

/**
 * Items of each page, without duplicates. If an item moved from a page that was not reloaded to a page that
 * was reloaded, it is in both pages.
 */
export function withoutRepeats<Item>(
  pages: readonly (readonly Item[])[],
  idOf: (item: Item) => string,
): readonly (readonly Item[])[] {
  if (pages.length === 1) return pages
  const known = new Set<string>()
  return pages.map(items =>
    items.filter(item => {
      const id = idOf(item)
      if (known.has(id)) return false
      known.add(id)
      return true
    }),
  )
}
