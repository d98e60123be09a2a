/** Scope of the session key: an environment, a project or the organization. Members have none. */
import { useQuery } from '@tanstack/react-query'
import { answerOf, service } from '../interface/client.ts'
import { useSession } from './session.ts'

export function useScope() {
  const { kind } = useSession()
  return useQuery({
    queryKey: ['scope'],
    queryFn: ({ signal }) => answerOf(service.GET('/v2/api-key/scope', { signal })),
    enabled: kind === 'key',
    staleTime: Number.POSITIVE_INFINITY,
  })
}
