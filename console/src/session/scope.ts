/** Scope of the session key: an environment, a project or the organization. */
import { useQuery } from '@tanstack/react-query'
import { answerOf, service } from '../interface/client.ts'

export function useScope() {
  return useQuery({
    queryKey: ['scope'],
    queryFn: ({ signal }) => answerOf(service.GET('/v2/api-key/scope', { signal })),
    staleTime: Number.POSITIVE_INFINITY,
  })
}
