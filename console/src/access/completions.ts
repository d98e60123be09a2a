/** What completes the fields of filters: the service is asked for the first that match. */
import { useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { answerOf, type Schemas, service } from '../interface/client.ts'
import type { Option } from '../parts/fields.tsx'
import { type Place, usePlace } from '../shell/place.tsx'
import { type LoadTypes, TYPES_A_PAGE } from './searches.ts'

const OPTIONS_MAX = 20

type Load = (search: string, signal: AbortSignal) => Promise<readonly Option[]>

function asked(search: string) {
  return { per_page: OPTIONS_MAX, ...(search === '' ? {} : { search }) }
}

export const usersLike =
  ({ path }: Place): Load =>
  async (search, signal) => {
    const params = { path, query: asked(search) }
    const { data } = await answerOf(service.GET('/v2/facts/{proj_id}/{env_id}/users', { params, signal }))
    return data.map(user => ({ id: user.key, note: nameOf(user) }))
  }

export function nameOf({ first_name, last_name, email }: Schemas['User']): string | undefined {
  const names = [first_name, last_name].filter(name => name !== null && name !== '')
  return names.length > 0 ? names.join(' ') : (email ?? undefined)
}

export const tenantsLike =
  ({ path }: Place): Load =>
  async (search, signal) => {
    const params = { path, query: asked(search) }
    const tenants = listed(
      await answerOf(service.GET('/v2/facts/{proj_id}/{env_id}/tenants', { params, signal })),
    )
    return tenants.map(({ key, name }) => ({ id: key, ...(name === key ? {} : { note: name }) }))
  }

export const typesLike =
  ({ path }: Place): Load =>
  async (search, signal) => {
    const types = await typesOf(path, asked(search), signal)
    return types.map(({ key, name }) => ({ id: key, ...(name === key ? {} : { note: name }) }))
  }

/** Actions of that type; where there is no such type, of all. */
export const actionsOf =
  ({ path }: Place, type: string): Load =>
  async (search, signal) => {
    const query = { per_page: TYPES_A_PAGE, ...(type === '' ? {} : { search: type }) }
    const found = await typesOf(path, query, signal)
    const types = found.filter(({ key }) => type === '' || key === type)
    const actions = new Set(types.flatMap(({ actions: its }) => Object.keys(its)))
    return [...actions].filter(action => action.includes(search)).map(id => ({ id }))
  }

export const instancesLike =
  ({ path }: Place, type: string): Load =>
  async (search, signal) => {
    if (type === '') return []
    const params = { path, query: { ...asked(search), resource: type } }
    const instances = listed(
      await answerOf(service.GET('/v2/facts/{proj_id}/{env_id}/resource_instances', { params, signal })),
    )
    return instances.map(({ key, tenant }) => ({ id: key, note: tenant }))
  }

function typesOf(
  path: Place['path'],
  query: { readonly per_page: number; readonly page?: number; readonly search?: string },
  signal?: AbortSignal,
): Promise<readonly Schemas['Resource'][]> {
  const params = { path, query }
  const answer = service.GET('/v2/schema/{proj_id}/{env_id}/resources', {
    params,
    ...(signal === undefined ? {} : { signal }),
  })
  return answerOf(answer).then(listed)
}

/** The types page by page, each page asked for once while the model stays. */
export function useLoadTypes(): LoadTypes {
  const queries = useQueryClient()
  const { path, key } = usePlace()
  return useMemo(
    () => page =>
      queries.fetchQuery({
        queryKey: key('resource', 'types', page),
        queryFn: ({ signal }) => typesOf(path, { per_page: TYPES_A_PAGE, page }, signal),
        staleTime: 60_000,
      }),
    [queries, path, key],
  )
}

/** A list that is bare, or with how many there are. */
function listed<Item>(list: readonly Item[] | { readonly data: readonly Item[] }): readonly Item[] {
  return 'data' in list ? list.data : list
}
