/**
 * Which pages of a long list are loaded anew when something changes: the first and the last, and those in sight. The others are as they were
 * when they were loaded, until somebody sees them. So a change costs a few requests, however far somebody has paged.
 */
import { type InfiniteData, keepPreviousData, type QueryKey, useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'

/** Of a list that does not tell what is in sight: its first pages. */
const FIRST = 3
/** Who scrolls on has passed by what was in sight for a moment. */
const SEEN_MS = 200

/** Told by whoever shows a page, counted from 0. */
export type See = (page: number, isInSight: boolean) => void

interface List<Page, Place> {
  readonly key: QueryKey
  readonly first: Place
  /** Null: there is no further page. */
  readonly next: (last: Page, place: Place) => Place | null
  readonly load: (place: Place, signal: AbortSignal) => Promise<Page>
  readonly isEnabled: boolean
  /** Whether the list before stays until the first page of this one is there. */
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
    // One that is under way may have passed the page already.
    if (sight.hasStale)
      void refetch({ cancelRefetch: false }).then(({ isError }) => isError || loadSeen.current())
  }
  useEffect(() => () => clearTimeout(timer.current), [])
  return { query, pages: (query.data?.pages ?? []) as readonly Page[], see }
}

/** What is in sight of a list, and which of its pages were passed over. */
class Sight {
  readonly #inSight = new Set<number>()
  readonly #stale = new Set<number>()
  /** How many pages each load has come to. */
  readonly #loads = new WeakMap<AbortSignal, number>()
  #isTold = false

  see(page: number, isInSight: boolean): void {
    this.#isTold = true
    if (isInSight) this.#inSight.add(page)
    else this.#inSight.delete(page)
  }

  /** Whether a page is in sight that was passed over. */
  get hasStale(): boolean {
    return [...this.#inSight].some(page => this.#stale.has(page))
  }

  /** Which page of the list a load is at, that loads the list anew; null: it loads the page behind those that are there. */
  placeIn(load: AbortSignal, isFirst: boolean): number | null {
    const former = this.#loads.get(load)
    if (!isFirst && former === undefined) return null
    const page = isFirst ? 0 : former! + 1
    this.#loads.set(load, page)
    return page
  }

  /** Whether a page of so many is loaded anew; from then on it is known to be as it should be, or not. */
  takes(page: number, count: number): boolean {
    const isTaken = page === 0 || page >= count - 1 || (this.#isTold ? this.#inSight.has(page) : page < FIRST)
    if (isTaken) this.#stale.delete(page)
    else this.#stale.add(page)
    return isTaken
  }

  /** It is another list now. */
  forget(): void {
    this.#stale.clear()
  }
}

/** Items page by page, each once: what moved from a page that was not loaded anew to one that was is in both. */
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
