/**
 * Loads the types of the environment page by page, up to a maximum number. If there are more types, the page
 * states the maximum, and the user can search for the other types.
 */
import { type InfiniteData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { answerOf, type Schemas, service } from '../interface/client.ts'
import { useCurrentEnvironment } from '../shell/current-environment.tsx'

export type ModelType = Schemas['Resource']
export type ModelRole = Schemas['ResourceRole']
export type TenantRole = Schemas['TenantRole']

/** Maximum number of types in the graph. A graph with more types would not be readable. */
export const TYPES_MAX = 500
/** Kinds of change events that affect types. */
export const MODEL_NOUNS = ['resource', 'role', 'relation'] as const
const TYPES_A_PAGE = 100

interface TypePage {
  readonly data: readonly ModelType[]
  readonly total_count?: number | undefined
}

interface KnownTypes {
  readonly types: readonly ModelType[]
  /** Number of types in the environment, including those that are not loaded. */
  readonly total: number
  /** Whether further pages are being loaded. */
  readonly isLoading: boolean
  readonly error: Error | null
}

/** Loads all pages one after the other. Each page is shown when it has arrived. */
export function useTypes(): KnownTypes {
  const environment = useCurrentEnvironment()
  const query = useInfiniteQuery({
    queryKey: environment.key(MODEL_NOUNS, 'types'),
    queryFn: async ({ pageParam, signal }): Promise<TypePage> => {
      const page = await answerOf(
        service.GET('/v2/schema/{proj_id}/{env_id}/resources', {
          params: {
            path: environment.path,
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

/** Loads one type with all its parts. */
export function useType(key: string, isEnabled = true) {
  const environment = useCurrentEnvironment()
  return useQuery({
    queryKey: environment.key(MODEL_NOUNS, 'type', key),
    queryFn: ({ signal }) =>
      answerOf(
        service.GET('/v2/schema/{proj_id}/{env_id}/resources/{resource_id}', {
          params: { path: { ...environment.path, resource_id: key } },
          signal,
        }),
      ),
    enabled: isEnabled,
  })
}
