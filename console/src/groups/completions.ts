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
import { type Delegated, useHeld } from '../session/held.ts'
import { isDelegate } from '../shell/pages-of.ts'
import { type CurrentEnvironment, useCurrentEnvironment } from '../shell/current-environment.tsx'
import { referenceOf } from './group-calls.ts'

interface Completed {
  readonly queryKey: readonly unknown[]
  readonly load: Complete
}

export function useCompletions() {
  const environment = useCurrentEnvironment()
  const { path, key } = environment
  const held = useHeld(environment)
  const delegated = isDelegate(held) ? held!.delegated : null
  return useMemo(
    () => (delegated === null ? completions({ path, key }) : completionsFor(delegated, key)),
    // The limits are compared by their content, because each response contains new lists.
    [path, key, JSON.stringify(delegated)],
  )
}

/**
 * Completions for a grant that is limited to tenants. It does not permit to look up users, groups and
 * instances. Their keys are typed.
 */
function completionsFor({ tenants, roles }: Delegated, key: CurrentEnvironment['key']): Completions {
  const typed: Completed = { queryKey: key('none', 'typed'), load: async () => [] }
  const among = (name: string, ids: readonly string[]): Completed => ({
    queryKey: key('none', 'among', name),
    load: async text => [...new Set(ids)].filter(id => id.includes(text)).map(id => ({ id })),
  })
  const onTypes = roles.flatMap(role => (role.includes('#') ? [role.split('#') as [string, string]] : []))
  return {
    users: typed,
    tenants: among('tenants', tenants),
    types: among(
      'types',
      onTypes.map(([type]) => type),
    ),
    groups: () => typed,
    roles: type =>
      among(
        `roles ${type}`,
        onTypes.flatMap(([its, role]) => (its === type ? [role] : [])),
      ),
    instances: () => typed,
  }
}

type Completions = ReturnType<typeof completions>

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
