/** The route table of the service, with all routes and their schemas, but without a running service. */
import { Compile, type Validator } from 'typebox/compile'
import { ThreadScheduler } from '#scheduling/thread-scheduler.ts'
import { TimeBudget } from '#scheduling/time-budget.ts'
import { threadRoutes } from '#composition/wiring/thread-routes.ts'
import { withoutSecrets } from '#config/settings.ts'
import { readConfig } from '#config/read-config.ts'
import type { Route } from '#http/routing/route.ts'
import { SessionAccess, type SessionSource } from '#http/routing/session-access.ts'
import { ISSUER, ORIGIN } from './member-sessions.ts'
import { OrganizationPlaces } from '#model/members/organization-places.ts'

const NO_SESSIONS: SessionSource = {
  places: new OrganizationPlaces({ organizationId: '', projects: [], environments: [] }),
  find: () => null,
  byId: () => null,
  noteUse: () => {},
}

/** `lost` is the error that each call to a component behind the routes throws. */
export function routesWithoutService(lost: Error): Route[] {
  return threadRoutes({
    engines: {
      engine: () => {
        throw lost
      },
      progress: () => null,
      organizationProgress: () => null,
    },
    management: { execute: () => Promise.reject(lost) },
    health: { isReady: () => false, isFresh: () => false, writeRefusal: () => null },
    authenticate: () => null,
    sessions: new SessionAccess(NO_SESSIONS, ORIGIN, () => true),
    node: { ask: () => Promise.reject(lost) },
    observer: null,
    tokenSecret: '00'.repeat(32),
    settings: withoutSecrets(
      readConfig({ OIDC_ISSUER: ISSUER, OIDC_CLIENT_ID: 'verdict', PUBLIC_URL: ORIGIN }),
    ),
    sliced: new ThreadScheduler(new TimeBudget('http')),
    pool: null,
  })
}

const all = routesWithoutService(new Error('this route table has no service behind it'))
export const routes: readonly Route[] = all.filter(({ standsFor }) => standsFor === null)
/** Fact routes that a decision point also serves under `/facts`. */
export const mountedRoutes: readonly Route[] = all.filter(
  ({ standsFor, path }) => standsFor !== null && path.startsWith('/facts/'),
)

/** Query parameters without which a request is not valid, by the path of the route. */
export const REQUIRED_QUERIES: Readonly<Record<string, string>> = {
  '/v2/facts/{proj_id}/{env_id}/key_completions': '?kind=user',
  '/v2/facts/{proj_id}/{env_id}/key_searches': '?kind=user',
}

const validators = new Map<string, Validator>()

/** Returns the violations of the response schema of a route. */
export function answerFindings(operationId: string, status: number, body: unknown): unknown[] {
  const route = routes.find(candidate => candidate.operationId === operationId)
  if (!route) return [`there is no route ${operationId}`]
  const response = route.responses[status]
  if (!response) return [`${operationId} does not document status ${status}`]
  if (!response.schema) return body === undefined ? [] : [`${operationId} documents no body for ${status}`]
  const name = `${operationId} ${status}`
  const validator = validators.get(name) ?? Compile(response.schema)
  validators.set(name, validator)
  return validator.Check(body) ? [] : [...validator.Errors(body)]
}

/** Aliases that need the key of an environment but make no decisions (`container-aliases.test.ts`). */
export const UPDATE_TRIGGERS: readonly string[] = ['/data-updater/trigger', '/policy-updater/trigger']
