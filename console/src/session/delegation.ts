/** Tenants and roles to which the grant of the session is limited in the environment of the page. */
import { useQueries } from '@tanstack/react-query'
import { answerOf, service } from '../interface/client.ts'
import { useCurrentEnvironment } from '../shell/current-environment.tsx'
import { useHeld } from './held.ts'

interface Delegation {
  readonly tenants: readonly { readonly key: string; readonly name: string }[]
  /** As `role` or `type#role`. */
  readonly roles: readonly string[]
}

/** Null if the grant is not limited, or if the tenants are not loaded yet. Deleted tenants are left out. */
export function useDelegation(): Delegation | null {
  const environment = useCurrentEnvironment()
  const { path, key } = environment
  const delegated = useHeld(environment)?.delegated ?? null
  const loaded = useQueries({
    queries: (delegated?.tenants ?? []).map(id => ({
      queryKey: key('tenant', 'one', id),
      queryFn: ({ signal }: { readonly signal: AbortSignal }) => {
        const params = { path: { ...path, tenant_id: id } }
        return answerOf(service.GET('/v2/facts/{proj_id}/{env_id}/tenants/{tenant_id}', { params, signal }))
      },
    })),
  })
  if (delegated === null || loaded.some(({ isPending }) => isPending)) return null
  const tenants = loaded.flatMap(({ data }) =>
    data === undefined ? [] : [{ key: data.key, name: data.name }],
  )
  return { tenants, roles: delegated.roles }
}
