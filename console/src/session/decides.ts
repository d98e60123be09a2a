/**
 * Determines whether the session can request decisions about the environment of the page. An environment key
 * can request decisions only about its own environment, whatever the address contains. Other keys cannot
 * request decisions. A member can request them wherever the level of a grant suffices.
 */
import { useQuery } from '@tanstack/react-query'
import { answerOf, service } from '../interface/client.ts'
import { Problem } from '../interface/problem.ts'
import { useCurrentEnvironment } from '../shell/current-environment.tsx'
import { includes, useHeld } from './held.ts'
import { useScope } from './scope.ts'
import { useAccount } from './session.ts'

/**
 * `here`: about the environment of the page. `elsewhere`: only about another environment. `not`: the key is
 * for management, or the level of the member does not suffice.
 */
export type Decides = 'here' | 'elsewhere' | 'not'

/** Null if it is not known yet. */
export function useDecides(): Decides | null {
  const { data: scope } = useScope()
  const environment = useCurrentEnvironment()
  const { path, key } = environment
  const isMember = useAccount() !== null
  const held = useHeld(environment)
  const own = scope?.environment_id
  // The address can contain the key or the ID of the environment, so it cannot be compared with the scope.
  // The management API resolves both, and rejects every environment except that of the key. A request
  // therefore shows whether they match.
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
  if (isMember) return held !== null && includes(held.level, 'decide') ? 'here' : 'not'
  if (scope === undefined) return null
  if (!own) return 'not'
  if (own === path.env_id || isSuccess) return 'here'
  return error instanceof Problem && (error.status === 403 || error.status === 404) ? 'elsewhere' : null
}
