/** The route table: every endpoint there is. */
import type { DecisionService } from '#services/decision-service.ts'
import type { Route } from './route.ts'
import { allowedRoutes } from './routes/allowed.ts'
import { apiKeyScopeRoute } from './routes/api-key.ts'
import { factRoutes } from './routes/facts.ts'
import { groupRoutes } from './routes/groups.ts'
import { healthRoutes } from './routes/health.ts'
import type { ManagementGateway } from './routes/managed.ts'
import { resourceRoutes } from './routes/resources.ts'

export function createRoutes(parts: {
  readonly decisions: DecisionService
  readonly management: ManagementGateway
  readonly isReady: () => boolean
}): Route[] {
  return [
    ...allowedRoutes(parts.decisions),
    ...healthRoutes(parts.isReady),
    apiKeyScopeRoute,
    ...resourceRoutes(parts.management),
    ...factRoutes(parts.management),
    ...groupRoutes(parts.management),
  ]
}
