/** How the node that answers is, and which nodes there are: asked again and again while somebody looks. */
import { useQuery } from '@tanstack/react-query'
import { answerOf, type Schemas, service } from '../interface/client.ts'
import { Problem } from '../interface/problem.ts'
import type { Place } from '../shell/place.tsx'

/** As far apart as samples are. Not while the page is hidden. */
export const AGAIN_MS = 5_000

/** Whether something is as it should be; where not, what the service says. */
interface Standing {
  readonly isGood: boolean
  readonly reason: string | null
  /** Why changes are refused; null: they are not, or nobody knows. */
  readonly writeRefusal: string | null
}

/** `/ready`: decisions are made. `/fresh`: what other nodes change is heard. A 503 is an answer. */
export function useStanding(path: '/ready' | '/fresh') {
  return useQuery({
    queryKey: ['standing', path],
    queryFn: async ({ signal }): Promise<Standing> => {
      const { data, error, response } = await service.GET(path, { signal })
      if (response.ok) return { isGood: true, reason: null, writeRefusal: data?.changes ?? null }
      const problem = Problem.of(response, error)
      if (response.status !== 503) throw problem
      return { isGood: false, reason: problem.message, writeRefusal: null }
    },
    refetchInterval: AGAIN_MS,
  })
}

export type Node = Schemas['NodeList']['nodes'][number]

export function useNodes() {
  return useQuery({
    queryKey: ['nodes'],
    queryFn: ({ signal }) => answerOf(service.GET('/v2/nodes', { signal })),
    refetchInterval: AGAIN_MS,
  })
}

/** Where the environment stands, as every answer about it says. No place: it is about none. */
export function useRevision(place: Place | null) {
  return useQuery({
    queryKey: place === null ? ['revision'] : place.key('any', 'revision'),
    queryFn: async ({ signal }) => {
      const { error, response } = await service.GET('/v2/schema/{proj_id}/{env_id}/resources', {
        params: { path: place!.path, query: { per_page: 1 } },
        signal,
      })
      if (!response.ok) throw Problem.of(response, error)
      return response.headers.get('x-revision')
    },
    enabled: place !== null,
  })
}
