/**
 * Limits which pages of a long list are reloaded after a change: the first, the last and the visible ones.
 * The other pages are reloaded when they become visible. A change therefore costs a few requests, however
 * many pages were loaded.
 */
import { type InfiniteData, keepPreviousData, type QueryKey, useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'

/** Pages that are reloaded for a list that does not report visible pages. */
const FIRST = 3
/** A page must be visible for this long, so that pages that are only scrolled past are not reloaded. */
const SEEN_MS = 200

/** Called by the component that shows a page. Pages are counted from 0. */
export type See = (page: number, isInSight: boolean) => void

interface List<Page, Place> {
  readonly key: QueryKey
  readonly first: Place
  /** Null if there is no further page. */
  readonly next: (last: Page, place: Place) => Place | null
  readonly load: (place: Place, signal: AbortSignal) => Promise<Page>
  readonly isEnabled: boolean
  /** True if the former list stays until the first page of this one has loaded. */
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
    // A reload in progress might already have skipped the page.
    if (sight.hasStale)
      void refetch({ cancelRefetch: false }).then(({ isError }) => isError || loadSeen.current())
  }
  useEffect(() => () => clearTimeout(timer.current), [])
  return { query, pages: (query.data?.pages ?? []) as readonly Page[], see }
}

/** Tracks which pages of a list are visible and which were skipped by reloads. */
class Sight {
  readonly #inSight = new Set<number>()
  readonly #stale = new Set<number>()
  /** Number of pages that each load has processed so far. */
  readonly #loads = new WeakMap<AbortSignal, number>()
  #isReported = false

  see(page: number, isInSight: boolean): void {
    this.#isReported = true
    if (isInSight) this.#inSight.add(page)
    else this.#inSight.delete(page)
  }

  /** True if a skipped page is visible. */
  get hasStale(): boolean {
    return [...this.#inSight].some(page => this.#stale.has(page))
  }

  /** Index of the page that a reload is at; null if the load fetches the page after the loaded ones. */
  placeIn(load: AbortSignal, isFirst: boolean): number | null {
    const former = this.#loads.get(load)
    if (!isFirst && former === undefined) return null
    const page = isFirst ? 0 : former! + 1
    this.#loads.set(load, page)
    return page
  }

  /**
   * Returns whether this page, of `count` pages, is reloaded, and records whether it is now current or stale.
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
 * Items page by page, without duplicates: an item that moved from a page that was not reloaded to one that
 * was appears in both.
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
