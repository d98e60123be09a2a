/** Completes keys in the dialogs about groups. */
import { useMemo } from 'react'
import {
  type Complete,
  completeInstances,
  completeRoles,
  completeTenants,
  completeTypes,
  completeUsers,
  isEnough,
  keysIn,
  keysWith,
} from '../interface/completions.ts'
import { type CurrentEnvironment, useCurrentEnvironment } from '../shell/current-environment.tsx'
import { referenceOf } from './group-calls.ts'

interface Completed {
  readonly queryKey: readonly unknown[]
  readonly load: Complete
}

export function useCompletions() {
  const { path, key } = useCurrentEnvironment()
  return useMemo(() => completions({ path, key }), [path, key])
}

function completions({ path, key }: Pick<CurrentEnvironment, 'path' | 'key'>) {
  const users: Completed = { queryKey: key('user', 'completion'), load: completeUsers({ path }) }
  const tenants: Completed = { queryKey: key('tenant', 'completion'), load: completeTenants({ path }) }
  const types: Completed = { queryKey: key('resource', 'completion'), load: completeTypes({ path }) }
  return {
    users,
    tenants,
    types,
    groups: (tenant: string): Completed => ({
      queryKey: key('resource_instance', 'groups', 'completion', tenant),
      load: completeGroups({ path }, tenant),
    }),
    roles: (type: string): Completed => ({
      queryKey: key('role', 'of', type),
      load: completeRoles({ path }, type),
    }),
    instances: (type: string, tenant: string): Completed => ({
      queryKey: key('resource_instance', 'of', type, tenant),
      load: completeInstances({ path }, type, tenant),
    }),
  }
}

/** The user can name a group by its key or by `type:key`. */
function completeGroups({ path }: Pick<CurrentEnvironment, 'path'>, tenant: string): Complete {
  return async (text, signal) => {
    const colon = text.indexOf(':')
    const prefix = text.slice(colon + 1)
    const of = { kind: 'group', ...(colon > 0 && { resource: text.slice(0, colon) }) } as const
    const found = await keysIn({ path }, { ...of, prefix }, tenant, signal)
    const groups = isEnough(found, text, tenant)
      ? found
      : await keysWith({ path }, { ...of, text: prefix, tenant }, signal)
    return groups.map(({ key, resource }) => ({
      id: referenceOf({ group_instance_key: key, group_resource_type_key: resource! }),
    }))
  }
}
