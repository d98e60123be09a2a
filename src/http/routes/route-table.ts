/** Route table: all endpoints. */
import type { AccessService } from '#decisions/access-service.ts'
import type { DecisionService } from '#decisions/decision-service.ts'
import type { NodeSource } from '#decisions/questions/node-question.ts'
import type { PlanService } from '#decisions/plan-service.ts'
import type { PermissionService } from '#decisions/permission-service.ts'
import type { SearchService } from '#decisions/search-service.ts'
import type { TenantService } from '#decisions/tenant-service.ts'
import { BatchReader } from '#http/bytes/batch-reader.ts'
import { evaluationDialect } from '#http/bytes/dialects.ts'
import { SingleReader } from '#http/bytes/single-reader.ts'
import { createDocument } from '#http/openapi/document.ts'
import { accessSearchRoutes, type SearchOptions } from '#http/routes/decisions/access-search.ts'
import { type AccessRouteOptions, accessRoutes } from '#http/routes/decisions/access.ts'
import { allowedUrlRoute } from '#http/routes/decisions/allowed-url.ts'
import { allowedRoutes } from '#http/routes/decisions/allowed.ts'
import { kongRoute } from '#http/routes/decisions/kong.ts'
import { nginxRoutes } from '#http/routes/decisions/nginx.ts'
import { planRoute } from '#http/routes/decisions/plan.ts'
import { permissionRoutes } from '#http/routes/decisions/permissions.ts'
import { tenantListRoutes } from '#http/routes/decisions/tenant-lists.ts'
import { apiKeyRoutes, apiKeyScopeRoute } from '#http/routes/management/api-key.ts'
import { auditRoutes } from '#http/routes/management/audit.ts'
import { backupRoute } from '#http/routes/management/backup.ts'
import { changesRoute } from '#http/routes/management/changes.ts'
import { conditionSetRoutes } from '#http/routes/management/condition-sets.ts'
import { containerAliasRoutes } from '#http/routes/management/container-aliases.ts'
import { contentRoutes } from '#http/routes/management/content.ts'
import { copyTaskRoutes } from '#http/routes/management/copy-tasks.ts'
import { factsMount } from '#http/routes/management/facts-mount.ts'
import { factRoutes } from '#http/routes/management/facts.ts'
import { groupRoutes } from '#http/routes/management/groups.ts'
import { legacyRoutes } from '#http/routes/management/legacy.ts'
import { localAssignmentsRoute } from '#http/routes/management/local-assignments.ts'
import { managedByOrganization, type ManagementGateway } from '#http/routes/management/managed.ts'
import { memberRoutes } from '#http/routes/management/members.ts'
import { organizationRoutes } from '#http/routes/management/organization.ts'
import { environmentRoutes, projectRoutes } from '#http/routes/management/projects.ts'
import { resourcePartRoutes } from '#http/routes/management/resource-parts.ts'
import { resourceRoutes } from '#http/routes/management/resources.ts'
import {
  type SignInRouteSettings,
  signInRoutes,
  signInWaysRoute,
  withoutIssuer,
} from '#http/routes/management/sign-in.ts'
import { roleRoutes } from '#http/routes/management/roles.ts'
import { OWN_MEMBER, sessionRoutes } from '#http/routes/management/sessions.ts'
import { withBodyLimits } from '#http/routing/body-limits-by-route.ts'
import type { Authenticate } from '#http/routing/route-access.ts'
import type { AnswersOfParts } from '#http/routing/large-answers.ts'
import type { Route } from '#http/routing/route.ts'
import type { SessionAccess } from '#http/routing/session-access.ts'
import { consoleRoutes } from './console.ts'
import { rootRoute } from './root.ts'
import { type HealthSource, healthRoutes } from './health.ts'
import { metadataRoutes } from './metadata.ts'
import { metricsRoute } from './metrics.ts'
import { nodeRoutes } from './nodes.ts'
import { referenceRoutes } from './reference.ts'

export interface RouteParts extends DecisionRouteParts {
  readonly plans: PlanService
  readonly management: ManagementGateway
  /** Used by streams: they check the key of their client repeatedly, because it can be revoked. */
  readonly authenticate: Authenticate
  /** Null if sign-in is not configured. */
  readonly sessions: SessionAccess | null
  readonly health: HealthSource
  /** Returns the revision of the API keys of the organization that this thread has; null if it is unknown. */
  readonly organizationRevision: () => string | null
  readonly node: NodeSource
  /** Path of the directory with the built console. */
  readonly consoleDirectory: string
  readonly options: DecisionRouteParts['options'] &
    SignInRouteSettings & {
      readonly hasStrictHeaders: boolean
      readonly metricsToken: string | null
      /** Maximum size of the attributes of one entity, in bytes of their JSON. */
      readonly attributesBytesMax: number
    }
}

export interface DecisionRouteParts {
  readonly decisions: DecisionService
  readonly permissions: PermissionService
  readonly tenants: TenantService
  readonly access: AccessService
  readonly search: SearchService
  readonly answers: AnswersOfParts
  readonly options: SearchOptions & {
    readonly isAuthzenStrict: boolean
    readonly hasDebug: boolean
    readonly hasBytesPath: boolean
    readonly subjectTypes: readonly string[]
    readonly bulkChecksMax: number
    /** See `BulkReader`. If absent, there is no limit. */
    readonly unlikePartsMax?: number | undefined
  }
}

function accessReaders(
  options: DecisionRouteParts['options'],
  now: () => number,
): AccessRouteOptions['bytes'] {
  if (!options.hasBytesPath) return null
  const ofUsers = { subjectTypes: new Set(options.subjectTypes), isStrict: options.isAuthzenStrict }
  const { bulkChecksMax: checksMax, unlikePartsMax } = options
  return {
    singles: new SingleReader(evaluationDialect(ofUsers), now),
    batches: new BatchReader({ checksMax, unlikePartsMax, now, ...ofUsers }),
  }
}

/** Routes whose responses depend only on the index of an environment. */
export function decisionRoutes({ options, ...parts }: DecisionRouteParts): Route[] {
  return [
    ...allowedRoutes(parts.decisions, options, parts.answers),
    allowedUrlRoute(parts.decisions, options.hasDebug),
    ...nginxRoutes(parts.decisions, options.hasDebug),
    kongRoute(parts.decisions),
    ...permissionRoutes(parts.permissions, parts.answers),
    ...tenantListRoutes(parts.decisions, parts.tenants, parts.answers),
    ...accessRoutes(parts.decisions, parts.access, {
      isStrict: options.isAuthzenStrict,
      bytes: accessReaders(options, parts.decisions.now),
    }),
    ...accessSearchRoutes(parts.search, options),
  ]
}

export function createRoutes({ options, ...parts }: RouteParts): Route[] {
  const manageOrganization = managedByOrganization(parts.management)
  const environments = environmentRoutes(manageOrganization)
  const ofSignIn = signInRoutes(parts.management, options, cookie => parts.sessions?.idIn(cookie) ?? null)
  const ofSessions = sessionRoutes(manageOrganization, parts.sessions)
  const facts = [
    ...factRoutes(parts.management),
    changesRoute(parts.management, parts.authenticate, parts.sessions),
  ]
  const defined: Route[] = [
    ...decisionRoutes({ options, ...parts }),
    planRoute(parts.plans, parts.answers),
    localAssignmentsRoute(parts.management),
    rootRoute(),
    ...metadataRoutes(options.publicUrl),
    ...healthRoutes(parts.health),
    metricsRoute(parts.node, options.metricsToken),
    ...nodeRoutes(parts.node, { hasMetricsToken: options.metricsToken !== null }),
    apiKeyScopeRoute(parts.organizationRevision),
    ...apiKeyRoutes(manageOrganization),
    signInWaysRoute(options),
    ...ofSignIn,
    ...organizationRoutes(manageOrganization),
    ...memberRoutes(manageOrganization),
    ...projectRoutes(manageOrganization),
    ...environments,
    ...copyTaskRoutes(environments),
    ...containerAliasRoutes(parts.management),
    ...contentRoutes(parts.management),
    backupRoute(parts.management),
    ...resourceRoutes(parts.management),
    ...resourcePartRoutes(parts.management),
    ...roleRoutes(parts.management),
    ...conditionSetRoutes(parts.management, async (trial, caller) =>
      parts.decisions.read<'try'>(trial.environmentId, { kind: 'try', trial }, caller),
    ),
    ...facts,
    ...factsMount(facts),
    ...legacyRoutes(parts.management),
    ...auditRoutes(parts.management, manageOrganization),
    ...groupRoutes(parts.management),
    ...consoleRoutes(parts.consoleDirectory),
    ...referenceRoutes(() => createDocument(described, options)),
    ...ofSessions,
  ]
  const described = withBodyLimits(defined, options.attributesBytesMax)
  if (parts.sessions !== null) return described
  // The description is the same with and without sign-in.
  const needIssuer = new Set([...ofSignIn, ...ofSessions].map(({ operationId }) => operationId))
  return described.flatMap(route => {
    if (!needIssuer.has(route.operationId)) return [route]
    // The path of any member includes this one, and has no member `me`.
    return route.path === OWN_MEMBER ? [] : [withoutIssuer(route)]
  })
}
