/** The types of the environment, page after page, up to a ceiling that the pages name. What is beyond it is found by search. */
import { type InfiniteData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { answerOf, type Schemas, service } from '../interface/client.ts'
import { usePlace } from '../shell/place.tsx'

export type ModelType = Schemas['Resource']
export type ModelRole = Schemas['ResourceRole']
export type TenantRole = Schemas['TenantRole']

/** More types than anybody reads in one picture. */
export const TYPES_MAX = 500
/** What of the stream of changes touches types. */
export const MODEL_NOUNS = ['resource', 'role', 'relation'] as const
const TYPES_A_PAGE = 100

interface TypePage {
  readonly data: readonly ModelType[]
  readonly total_count?: number | undefined
}

interface KnownTypes {
  readonly types: readonly ModelType[]
  /** How many there are in all. */
  readonly total: number
  /** Whether pages are still to come. */
  readonly isLoading: boolean
  readonly error: Error | null
}

/** Loads one page after the other, and shows each when it is there. */
export function useTypes(): KnownTypes {
  const place = usePlace()
  const query = useInfiniteQuery({
    queryKey: place.key(MODEL_NOUNS, 'types'),
    queryFn: async ({ pageParam, signal }): Promise<TypePage> => {
      const page = await answerOf(
        service.GET('/v2/schema/{proj_id}/{env_id}/resources', {
          params: {
            path: place.path,
            query: { page: pageParam, per_page: TYPES_A_PAGE, include_total_count: true },
          },
          signal,
        }),
      )
      return 'data' in page ? page : { data: page }
    },
    initialPageParam: 1,
    getNextPageParam: (last: TypePage, _all, page) =>
      last.data.length < TYPES_A_PAGE || page * TYPES_A_PAGE >= TYPES_MAX ? null : page + 1,
    select: joined,
  })
  const { hasNextPage, isFetchingNextPage, isFetching, isError, fetchNextPage } = query
  useEffect(() => {
    if (hasNextPage && !isFetching && !isError) void fetchNextPage()
  }, [hasNextPage, isFetching, isError, fetchNextPage])
  return {
    ...(query.data ?? NONE),
    isLoading: query.isPending || hasNextPage || isFetchingNextPage,
    error: query.error,
  }
}

const NONE = { types: [], total: 0 } as const

function joined({ pages }: InfiniteData<TypePage>): { types: readonly ModelType[]; total: number } {
  const types = pages.flatMap(({ data }) => data)
  return { types, total: pages[0]?.total_count ?? types.length }
}

/** One type, with all of it. */
export function useType(key: string, isEnabled = true) {
  const place = usePlace()
  return useQuery({
    queryKey: place.key(MODEL_NOUNS, 'type', key),
    queryFn: ({ signal }) =>
      answerOf(
        service.GET('/v2/schema/{proj_id}/{env_id}/resources/{resource_id}', {
          params: { path: { ...place.path, resource_id: key } },
          signal,
        }),
      ),
    enabled: isEnabled,
  })
}
