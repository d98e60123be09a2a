/**
 * Reports whether the key of the session can request decisions about the environment of the page. An
 * environment key can do so for its own environment, whatever the address says; other keys are for
 * management.
 */
import { useQuery } from '@tanstack/react-query'
import { answerOf, service } from '../interface/client.ts'
import { Problem } from '../interface/problem.ts'
import { useCurrentEnvironment } from '../shell/current-environment.tsx'
import { useScope } from './scope.ts'

/** `elsewhere`: for another environment than that of the page. */
export type Decides = 'here' | 'elsewhere' | 'not'

/** Null if it is not known yet. */
export function useDecides(): Decides | null {
  const { data: scope } = useScope()
  const { path, key } = useCurrentEnvironment()
  const own = scope?.environment_id
  // An address names an environment by key or by id. The management API resolves both, and rejects all
  // environments except that of the key.
  const { isSuccess, error } = useQuery({
    queryKey: key('none', 'decides'),
    queryFn: ({ signal }) =>
      answerOf(
        service.GET('/v2/facts/{proj_id}/{env_id}/tenants', {
          params: { path, query: { per_page: 1 } },
          signal,
        }),
      ),
    enabled: Boolean(own) && own !== path.env_id,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (scope === undefined) return null
  if (!own) return 'not'
  if (own === path.env_id || isSuccess) return 'here'
  return error instanceof Problem && (error.status === 403 || error.status === 404) ? 'elsewhere' : null
}
