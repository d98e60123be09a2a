/**
 * Attributes that the model declares, for the completion in conditions. They are loaded when the user starts
 * to type a name.
 */
import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { answerOf, service } from '../../interface/client.ts'
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import type { KnownAttribute } from './editor/completion.ts'

const KEPT_MS = 60_000
const LISTED_MAX = 100
const TENANTS = '__tenant'

/** `resource` is the key of the resource type to which the set is limited, or empty for none. */
export function useAttributes(resource: string): () => Promise<readonly KnownAttribute[]> {
  const environment = useCurrentEnvironment()
  const queries = useQueryClient()
  return useCallback(async () => {
    const query = { per_page: LISTED_MAX }
    const users = () =>
      answerOf(
        service.GET('/v2/schema/{proj_id}/{env_id}/users/attributes', {
          params: { path: environment.path, query },
        }),
      )
    const of = (key: string) => () =>
      answerOf(
        service.GET('/v2/schema/{proj_id}/{env_id}/resources/{resource_id}/attributes', {
          params: { path: { ...environment.path, resource_id: key }, query },
        }),
      )
    const carriers = [
      ['user', 'user', users],
      ['tenant', TENANTS, of(TENANTS)],
      ...(resource === '' ? [] : [['resource', resource, of(resource)] as const]),
    ] as const
    const lists = carriers.map(async ([root, key, load]): Promise<KnownAttribute[]> => {
      const attributes = await queries
        .fetchQuery({
          queryKey: environment.key('resource', 'attributes', root, key),
          queryFn: load,
          staleTime: KEPT_MS,
          retry: false,
        })
        // Completion also works without the attributes, so a failure to load them is ignored.
        .catch(() => [])
      return attributes.map(({ key: name, type, description }) => ({
        path: `${root}.${name}`,
        type,
        description,
      }))
    })
    return (await Promise.all(lists)).flat()
  }, [environment, queries, resource])
}
