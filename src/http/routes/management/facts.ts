/** Facts: tenants, users, instances, role assignments and relationship tuples (native.md B.6 to B.11). */
import type { Route } from '#http/routing/route.ts'
import { keyCompletionsRoute } from './key-completions.ts'
import { keySearchesRoute } from './key-searches.ts'
import { managed, type ManagementGateway } from './managed.ts'
import { setRuleRoutes } from './condition-sets.ts'
import { proxyConfigRoutes } from './proxy-configs.ts'
import { relationshipTupleRoutes } from './relationship-tuples.ts'
import { resourceInstanceRoutes } from './resource-instances.ts'
import { roleAssignmentRoutes } from './role-assignments.ts'
import { tenantRoutes } from './tenants.ts'
import { userRoutes } from './users.ts'
import { WAIT_HEADERS } from './wait-headers.ts'

export function factRoutes(gateway: ManagementGateway): Route[] {
  const manage = managed(gateway, WAIT_HEADERS)
  return [
    ...tenantRoutes(manage),
    ...userRoutes(manage),
    ...roleAssignmentRoutes(manage),
    ...resourceInstanceRoutes(manage),
    ...relationshipTupleRoutes(manage),
    ...setRuleRoutes(manage),
    ...proxyConfigRoutes(manage),
    keyCompletionsRoute(manage),
    keySearchesRoute(manage),
  ]
}
