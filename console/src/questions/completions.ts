/** What may be meant while one types a question: the service is asked for the first that match. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { answerOf, type Schemas, service } from '../interface/client.ts'
import { type Complete, itemsOf } from '../interface/completions.ts'
import { useSettled } from '../parts/settled.ts'
import { type Place, usePlace } from '../shell/place.tsx'

const SHOWN_MAX = 20
/** Types that are looked at for one of a name. */
const TYPES_MAX = 100

/** Actions of the type; of the first types while none is chosen. */
export function actionsOf(place: Place, type: string): Complete {
  return async (search, signal) => {
    const types = await typesLike(place, type, TYPES_MAX, signal)
    const meant = types.some(({ key }) => key === type) ? types.filter(({ key }) => key === type) : types
    const actions = new Set(meant.flatMap(({ actions: of }) => Object.keys(of ?? {})))
    const wanted = search.toLowerCase()
    return [...actions]
      .filter(action => action.toLowerCase().includes(wanted))
      .slice(0, SHOWN_MAX)
      .map(id => ({ id }))
  }
}

/** The type of that name; null: there is none; undefined: not known yet. */
export function useType(name: string): Schemas['Resource'] | null | undefined {
  const place = usePlace()
  const type = useSettled(name)
  const { data } = useQuery({
    queryKey: place.key('resource', 'type', type),
    queryFn: async ({ signal }) => {
      const types = await typesLike(place, type, TYPES_MAX, signal)
      return types.find(({ key }) => key === type) ?? null
    },
    placeholderData: keepPreviousData,
    enabled: type !== '',
  })
  return type === name ? data : undefined
}

async function typesLike({ path }: Place, search: string, count: number, signal: AbortSignal) {
  const query = { search, per_page: count, include_built_in: true }
  return itemsOf(
    await answerOf(
      service.GET('/v2/schema/{proj_id}/{env_id}/resources', { params: { path, query }, signal }),
    ),
  )
}
