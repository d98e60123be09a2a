/**
 * Health of the node that responds, and the list of all nodes. Both are requested repeatedly while they are
 * displayed.
 */
import { useQuery } from '@tanstack/react-query'
import { answerOf, type Schemas, service } from '../interface/client.ts'
import { Problem } from '../interface/problem.ts'
import type { CurrentEnvironment } from '../shell/current-environment.tsx'

/**
 * Polling interval in milliseconds. It equals the sampling interval of the service. Polling pauses while the
 * page is hidden.
 */
export const AGAIN_MS = 5_000

/** Result of a health check. If the check fails, it contains the reason that the service reports. */
interface Standing {
  readonly isGood: boolean
  readonly reason: string | null
  /** Reason why changes are rejected. Null if they are not rejected or if the reason is unknown. */
  readonly writeRefusal: string | null
}

/**
 * Requests `/ready` (whether the node makes decisions) or `/fresh` (whether it receives the changes of other
 * nodes). A 503 response is a result and not an error.
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
 * Current revision of the environment. Every response about an environment contains it. Null if the page is
 * not about an environment.
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
