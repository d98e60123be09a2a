/** Loads the resource types of the environment in pages. */
import { useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { answerOf, type Schemas, service } from '../interface/client.ts'
import { itemsOf } from '../interface/completions.ts'
import { type CurrentEnvironment, useCurrentEnvironment } from '../shell/current-environment.tsx'
import { type LoadTypes, TYPES_A_PAGE } from './searches.ts'

function typesOf(
  path: CurrentEnvironment['path'],
  query: { readonly per_page: number; readonly page?: number; readonly search?: string },
  signal?: AbortSignal,
): Promise<readonly Schemas['Resource'][]> {
  const params = { path, query }
  const answer = service.GET('/v2/schema/{proj_id}/{env_id}/resources', {
    params,
    ...(signal === undefined ? {} : { signal }),
  })
  return answerOf(answer).then(itemsOf)
}

/** Returns a function that loads one page of types. Loaded pages are cached until the model changes. */
export function useLoadTypes(): LoadTypes {
  const queries = useQueryClient()
  const { path, key } = useCurrentEnvironment()
  return useMemo(
    () => page =>
      queries.fetchQuery({
        queryKey: key('resource', 'types', page),
        queryFn: ({ signal }) => typesOf(path, { per_page: TYPES_A_PAGE, page }, signal),
        staleTime: 60_000,
      }),
    [queries, path, key],
  )
}
