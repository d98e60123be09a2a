/** Loads the type whose name is in the form, while the user is typing. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { Schemas } from '../interface/client.ts'
import { typesLike } from '../interface/completions.ts'
import { useDebounced } from '../parts/debounce.ts'
import { useCurrentEnvironment } from '../shell/current-environment.tsx'

/** The type with this name. Null if it does not exist, and undefined if it is not known yet. */
export function useType(name: string): Schemas['Resource'] | null | undefined {
  const environment = useCurrentEnvironment()
  const type = useDebounced(name)
  const { data } = useQuery({
    queryKey: environment.key('resource', 'type', type),
    queryFn: async ({ signal }) => {
      const types = await typesLike(environment, type, signal)
      return types.find(({ key }) => key === type) ?? null
    },
    placeholderData: keepPreviousData,
    enabled: type !== '',
  })
  return type === name ? data : undefined
}
