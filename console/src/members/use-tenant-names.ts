/** Names of the tenants to which a grant is limited. The API returns their ids. */
import { useQueries } from '@tanstack/react-query'
import { answerOf, service } from '../interface/client.ts'
import type { Grant } from '../session/account.ts'

const NAMES_KEPT_MS = 60_000

/** Ids instead of names if the session cannot read the tenants, or if they were deleted. */
export function useTenantNames({
  tenants,
  project_id: project,
  environment_id: environment,
}: Grant): readonly string[] {
  const ids = project && environment ? (tenants ?? []) : []
  const loaded = useQueries({
    queries: ids.map(id => ({
      queryKey: ['tenant-names', project, environment, id],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) => {
        const path = { proj_id: project!, env_id: environment!, tenant_id: id }
        return answerOf(
          service.GET('/v2/facts/{proj_id}/{env_id}/tenants/{tenant_id}', { params: { path }, signal }),
        )
      },
      staleTime: NAMES_KEPT_MS,
    })),
  })
  return ids.map((id, index) => loaded[index]?.data?.name ?? id)
}
