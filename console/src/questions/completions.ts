/** What may be meant while one types a question: the service is asked for the first that match. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { answerOf, type Schemas, service } from '../interface/client.ts'
import type { Option } from '../parts/fields.tsx'
import { useSettled } from '../parts/settled.ts'
import { type Place, usePlace } from '../shell/place.tsx'

const SHOWN_MAX = 20
/** Types that are looked at for one of a name. */
const TYPES_MAX = 100

type Load = (search: string, signal: AbortSignal) => Promise<readonly Option[]>

export function usersOf({ path }: Place): Load {
  return async (search, signal) => {
    const query = { search, per_page: SHOWN_MAX }
    const { data } = await answerOf(
      service.GET('/v2/facts/{proj_id}/{env_id}/users', { params: { path, query }, signal }),
    )
    return data.map(({ key, email, first_name: first, last_name: last }) => {
      const name = [first, last].filter(Boolean).join(' ')
      return { id: key, note: name || email || undefined }
    })
  }
}

/** `type`: null while it is none that there is. */
export function instancesOf({ path }: Place, type: string | null): Load {
  return async (search, signal) => {
    if (type === null) return []
    const query = { resource: type, search, per_page: SHOWN_MAX }
    const found = await answerOf(
      service.GET('/v2/facts/{proj_id}/{env_id}/resource_instances', { params: { path, query }, signal }),
    )
    return itemsOf(found).map(({ key, tenant }) => ({ id: key, note: tenant ?? undefined }))
  }
}

export function tenantsOf({ path }: Place): Load {
  return async (search, signal) => {
    const query = { search, per_page: SHOWN_MAX }
    const found = await answerOf(
      service.GET('/v2/facts/{proj_id}/{env_id}/tenants', { params: { path, query }, signal }),
    )
    return itemsOf(found).map(({ key, name }) => ({ id: key, note: name === key ? undefined : name }))
  }
}

export function typesOf(place: Place): Load {
  return async (search, signal) => {
    const types = await typesLike(place, search, SHOWN_MAX, signal)
    return types.map(({ key, name }) => ({ id: key, note: name === key ? undefined : name }))
  }
}

/** Actions of the type; of the first types while none is chosen. */
export function actionsOf(place: Place, type: string): Load {
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

function itemsOf<Item>(found: readonly Item[] | { readonly data: readonly Item[] }) {
  return 'data' in found ? found.data : found
}
