/** Builds the route tables of an HTTP thread from its engines and its settings. */
import type { ThreadSettings } from '#config/settings.ts'
import { AccessService } from '#decisions/access-service.ts'
import type { DecisionPool } from '#decisions/decision-pool.ts'
import type { DecisionObserver, PlanObserver } from '#decisions/decision-observer.ts'
import { DecisionService, type EngineSource } from '#decisions/decision-service.ts'
import type { ProgressSource } from '#decisions/questions/min-revision.ts'
import type { NodeSource } from '#decisions/questions/node-question.ts'
import { PlanService } from '#decisions/plan-service.ts'
import { PermissionService } from '#decisions/permission-service.ts'
import { SearchService } from '#decisions/search-service.ts'
import { TenantService } from '#decisions/tenant-service.ts'
import { evaluationReader } from '#http/routes/decisions/access.ts'
import { kongRoutesFor } from '#http/routes/decisions/kong.ts'
import { opaRoutes } from '#http/routes/decisions/opa.ts'
import { PageTokens } from '#http/routes/decisions/page-token.ts'
import type { HealthSource } from '#http/routes/health.ts'
import type { ManagementGateway } from '#http/routes/management/managed.ts'
import { createRoutes, type DecisionRouteParts } from '#http/routes/route-table.ts'
import { withBodyLimits } from '#http/routing/body-limits-by-route.ts'
import type { Authenticate } from '#http/routing/route-access.ts'
import { type AnswersOfParts, LargeAnswers } from '#http/routing/large-answers.ts'
import { UNLIKE_PARTS_MAX } from '#http/routing/large-bodies.ts'
import type { Route } from '#http/routing/route.ts'
import type { SessionAccess } from '#http/routing/session-access.ts'
import type { Principal } from '#model/principal.ts'
import type { ThreadScheduler } from '#scheduling/thread-scheduler.ts'
import { CONSOLE_DIRECTORY } from '#composition/process/built-form.ts'

export function threadRoutes(parts: {
  readonly engines: EngineSource & ProgressSource
  readonly management: ManagementGateway
  readonly health: HealthSource
  readonly node: NodeSource
  /** For streams, whose keys are checked repeatedly. */
  readonly authenticate: Authenticate
  /** Null if sign-in is not configured. */
  readonly sessions: SessionAccess | null
  /** Null if decisions are not observed. */
  readonly observer: (DecisionObserver & PlanObserver) | null
  readonly tokenSecret: string
  readonly settings: ThreadSettings
  /** Divides the time of the thread. */
  readonly sliced: ThreadScheduler
  /** Null if this thread does all work itself. */
  readonly pool: DecisionPool | null
  /** If absent, the routes create their own. */
  readonly answers?: LargeAnswers
  /** Whether another thread parses large bodies. */
  readonly hasBodyThread?: boolean
}): Route[] {
  const { engines, management, health, node, authenticate, sessions, settings } = parts
  const { hasBodyThread = false } = parts
  const { answers = new LargeAnswers(settings.listedBytesMax) } = parts
  const { options, ...decided } = decisionParts({ ...parts, answers })
  return createRoutes({
    ...decided,
    plans: new PlanService(decided.decisions, {
      progress: engines,
      observer: parts.observer,
      elapsedMs: () => performance.now(),
    }),
    management,
    authenticate,
    sessions,
    health,
    organizationRevision: () => engines.organizationProgress()?.revision ?? null,
    node,
    consoleDirectory: CONSOLE_DIRECTORY,
    options: { ...settings, ...options, unlikePartsMax: hasBodyThread ? UNLIKE_PARTS_MAX : undefined },
  })
}

/** Dependencies of the decision routes. */
export function decisionParts(parts: {
  readonly engines: EngineSource
  readonly observer: DecisionObserver | null
  readonly tokenSecret: string
  readonly settings: ThreadSettings
  /** Divides the time of the thread. */
  readonly sliced: ThreadScheduler
  readonly pool: DecisionPool | null
  readonly answers: AnswersOfParts
}): DecisionRouteParts {
  const { engines, observer, tokenSecret, settings, sliced, pool, answers } = parts
  const decisions = new DecisionService(engines, settings, { observer, pool, sliced, now: Date.now })
  const access = new AccessService(decisions, {
    subjectTypes: new Set(settings.subjectTypes),
    readEvaluation: evaluationReader(settings.isAuthzenStrict),
  })
  return {
    decisions,
    permissions: new PermissionService(decisions, settings),
    tenants: new TenantService(decisions, settings),
    access,
    search: new SearchService(decisions, access, settings.searchScanMax),
    answers,
    options: { ...settings, tokens: new PageTokens(Buffer.from(tokenSecret, 'hex')) },
  }
}

/** The routes of the listener for Kong (`KONG_PORT`). */
export function kongThreadRoutes(
  parts: Parameters<typeof opaThreadRoutes>[0],
  caller: () => Principal | null,
): Route[] {
  return withBodyLimits(
    kongRoutesFor(decisionParts(parts).decisions, caller),
    parts.settings.attributesBytesMax,
  )
}

/** The routes of the second listener (`OPA_PORT`). */
export function opaThreadRoutes(parts: {
  readonly engines: EngineSource
  readonly observer: DecisionObserver | null
  readonly tokenSecret: string
  readonly settings: ThreadSettings
  /** Divides the time of the thread. */
  readonly sliced: ThreadScheduler
  readonly pool: DecisionPool | null
  readonly answers: AnswersOfParts
}): Route[] {
  return withBodyLimits(opaRoutes(decisionParts(parts)), parts.settings.attributesBytesMax)
}
