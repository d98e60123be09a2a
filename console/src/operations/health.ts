/** Health of the node that responds, and the list of nodes. Both are polled while they are displayed. */
import { useQuery } from '@tanstack/react-query'
import { answerOf, type Schemas, service } from '../interface/client.ts'
import { Problem } from '../interface/problem.ts'
import type { CurrentEnvironment } from '../shell/current-environment.tsx'

/** Polling interval, equal to the sampling interval. Polling pauses while the page is hidden. */
export const AGAIN_MS = 5_000

/** Result of a health check, with the reason reported by the service if it fails. */
interface Standing {
  readonly isGood: boolean
  readonly reason: string | null
  /** Reason why changes are rejected; null if they are not or if that is unknown. */
  readonly writeRefusal: string | null
}

/**
 * `/ready`: the node makes decisions. `/fresh`: the node receives the changes of other nodes. A 503 response
 * is a valid result.
 */
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

/**
 * Current revision of the environment, which every response about it contains. There is none without an
 * environment.
 */
export function useRevision(environment: CurrentEnvironment | null) {
  return useQuery({
    queryKey: environment === null ? ['revision'] : environment.key('any', 'revision'),
    queryFn: async ({ signal }) => {
      const { error, response } = await service.GET('/v2/schema/{proj_id}/{env_id}/resources', {
        params: { path: environment!.path, query: { per_page: 1 } },
        signal,
      })
      if (!response.ok) throw Problem.of(response, error)
      return response.headers.get('x-revision')
    },
    enabled: environment !== null,
  })
}
