/** The type that a question names, while it is being typed. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { Schemas } from '../interface/client.ts'
import { typesLike } from '../interface/completions.ts'
import { useSettled } from '../parts/settled.ts'
import { usePlace } from '../shell/place.tsx'

/** The type of that name; null: there is none; undefined: not known yet. */
export function useType(name: string): Schemas['Resource'] | null | undefined {
  const place = usePlace()
  const type = useSettled(name)
  const { data } = useQuery({
    queryKey: place.key('resource', 'type', type),
    queryFn: async ({ signal }) => {
      const types = await typesLike(place, type, signal)
      return types.find(({ key }) => key === type) ?? null
    },
    placeholderData: keepPreviousData,
    enabled: type !== '',
  })
  return type === name ? data : undefined
}
