/** API keys as listed by the API. Secrets are never in a list or in the query cache. */
import { useQuery } from '@tanstack/react-query'
import { answerOf, type Schemas, service } from '../../interface/client.ts'
import { useTexts } from '../../texts/texts.tsx'

export type ApiKey = Schemas['ApiKey']

/** First element of the query keys for API keys. */
export const KEYS = 'keys'

/** Name of the key within sentences. */
export function useKeyName({ id, name }: ApiKey): string {
  const { unnamed } = useTexts().operations.keys
  return name ?? unnamed(id.slice(0, 8))
}

/**
 * Names of the project and environment that a key is scoped to. Ids, if the names are not loaded yet or
 * cannot be read.
 */
export function useOpenedNames({ project_id, environment_id }: ApiKey): {
  readonly project: string | null
  readonly environment: string | null
} {
  const { data: project } = useQuery({
    queryKey: ['names', project_id],
    queryFn: ({ signal }) =>
      answerOf(service.GET('/v2/projects/{proj_id}', { params: { path: { proj_id: project_id! } }, signal })),
    enabled: project_id !== null,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const { data: environment } = useQuery({
    queryKey: ['names', project_id, environment_id],
    queryFn: ({ signal }) =>
      answerOf(
        service.GET('/v2/projects/{proj_id}/envs/{env_id}', {
          params: { path: { proj_id: project_id!, env_id: environment_id! } },
          signal,
        }),
      ),
    enabled: project_id !== null && environment_id !== null,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return { project: project?.name ?? project_id, environment: environment?.name ?? environment_id }
}
