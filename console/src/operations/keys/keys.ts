/** API keys as the interface lists them. Secrets are in no list, and in no query's cache. */
import { useQuery } from '@tanstack/react-query'
import { answerOf, type Schemas, service } from '../../interface/client.ts'
import { useTexts } from '../../texts/texts.tsx'

export type ApiKey = Schemas['ApiKey']

/** The start of the key of each query about keys. */
export const KEYS = 'keys'

/** What it is called in sentences. */
export function useKeyName({ id, name }: ApiKey): string {
  const { unnamed } = useTexts().operations.keys
  return name ?? unnamed(id.slice(0, 8))
}

/** The names of what a key opens; until they are known, or where they may not be read, ids. */
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
