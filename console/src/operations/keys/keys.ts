/** API keys, as the API lists them. A list and the query cache never contain secrets. */
import { useQuery } from '@tanstack/react-query'
import { answerOf, type Schemas, service } from '../../interface/client.ts'
import { useTexts } from '../../texts/texts.tsx'

export type ApiKey = Schemas['ApiKey']

/** First element of all query keys that are about API keys. */
export const KEYS = 'keys'

/** Name of a key for use in a sentence. */
export function useKeyName({ id, name }: ApiKey): string {
  const { unnamed } = useTexts().operations.keys
  return name ?? unnamed(id.slice(0, 8))
}

/**
 * Names of the project and environment to which a key is scoped. IDs are returned if the names are not loaded
 * yet or cannot be read.
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
