/** What can be chosen while one types a key: the first that match, found by the service. */
import { useMemo } from 'react'
import { answerOf, service } from '../interface/client.ts'
import type { Option } from '../parts/fields.tsx'
import { type Place, usePlace } from '../shell/place.tsx'
import { referenceOf } from './group-calls.ts'

type Load = (search: string, signal: AbortSignal) => Promise<readonly Option[]>

interface Completion {
  readonly queryKey: readonly unknown[]
  readonly load: Load
}

const FIRST = { page: 1, per_page: 12 } as const

export function useCompletions() {
  const { path, key } = usePlace()
  return useMemo(() => completions(path, key), [path, key])
}

function completions(path: Place['path'], key: Place['key']) {
  const searched = (search: string) => ({ ...FIRST, ...(search !== '' && { search }) })
  return {
    users: {
      queryKey: key('user', 'completion'),
      load: async (search, signal) => {
        const params = { path, query: searched(search) }
        const { data } = await answerOf(service.GET('/v2/facts/{proj_id}/{env_id}/users', { params, signal }))
        return data.map(user => ({
          id: user.key,
          note: [user.first_name, user.last_name].filter(Boolean).join(' ') || (user.email ?? undefined),
        }))
      },
    } satisfies Completion,
    tenants: {
      queryKey: key('tenant', 'completion'),
      load: async (search, signal) => {
        const params = { path, query: searched(search) }
        const tenants = itemsOf(
          await answerOf(service.GET('/v2/facts/{proj_id}/{env_id}/tenants', { params, signal })),
        )
        return tenants.map(tenant => named(tenant))
      },
    } satisfies Completion,
    groups: (tenant: string): Completion => ({
      queryKey: key('resource_instance', 'groups', 'completion', tenant),
      load: async (search, signal) => {
        const params = { path, query: { ...searched(search), tenant } }
        const groups = itemsOf(
          await answerOf(service.GET('/v2/schema/{proj_id}/{env_id}/groups/direct', { params, signal })),
        )
        return groups.map(group => ({ id: referenceOf(group) }))
      },
    }),
    types: {
      queryKey: key('resource', 'completion'),
      load: async (search, signal) => {
        const params = { path, query: searched(search) }
        const types = itemsOf(
          await answerOf(service.GET('/v2/schema/{proj_id}/{env_id}/resources', { params, signal })),
        )
        return types.map(type => named(type))
      },
    } satisfies Completion,
    roles: (type: string): Completion => ({
      queryKey: key('role', 'of', type),
      load: async (search, signal) => {
        if (type === '') return []
        const roles = itemsOf(
          await answerOf(
            service.GET('/v2/schema/{proj_id}/{env_id}/resources/{resource_id}/roles', {
              params: { path: { ...path, resource_id: type }, query: { page: 1, per_page: 100 } },
              signal,
            }),
          ),
        )
        const wanted = search.toLowerCase()
        return roles
          .filter(role => `${role.key} ${role.name}`.toLowerCase().includes(wanted))
          .map(role => named(role))
      },
    }),
    instances: (type: string, tenant: string): Completion => ({
      queryKey: key('resource_instance', 'of', type, tenant),
      load: async (search, signal) => {
        if (type === '') return []
        const params = { path, query: { ...searched(search), resource: type, tenant } }
        const instances = itemsOf(
          await answerOf(service.GET('/v2/facts/{proj_id}/{env_id}/resource_instances', { params, signal })),
        )
        return instances.map(instance => ({ id: instance.key }))
      },
    }),
  }
}

function itemsOf<Item>(page: readonly Item[] | { readonly data: readonly Item[] }): readonly Item[] {
  return 'data' in page ? page.data : page
}

/** The name is said where it says more than the key. */
function named({ key, name }: { readonly key: string; readonly name: string }): Option {
  return { id: key, note: name.toLowerCase() === key.toLowerCase() ? undefined : name }
}
