/** Decision requests to an engine, from the bytes of the body to the response, without a server. */
import { readConfig } from '#config/read-config.ts'
import { withoutSecrets } from '#config/settings.ts'
import { AccessService } from '#decisions/access-service.ts'
import { DecisionService } from '#decisions/decision-service.ts'
import { PermissionService } from '#decisions/permission-service.ts'
import { PlanService } from '#decisions/plan-service.ts'
import { SearchService } from '#decisions/search-service.ts'
import { TenantService } from '#decisions/tenant-service.ts'
import type { DecisionEngine } from '#engine/engine.ts'
import { encodeReply } from '#http/message/answer.ts'
import { viewOf } from '#http/message/byte-views.ts'
import type { RawPieces } from '#http/message/request-reply.ts'
import { evaluationReader } from '#http/routes/decisions/access.ts'
import { opaRoutes } from '#http/routes/decisions/opa.ts'
import { PageTokens } from '#http/routes/decisions/page-token.ts'
import { planRoute } from '#http/routes/decisions/plan.ts'
import { decisionRoutes } from '#http/routes/route-table.ts'
import { LargeAnswers } from '#http/routing/large-answers.ts'
import { readBody } from '#http/routing/read-body.ts'
import type { Principal } from '#model/principal.ts'
import { ThreadScheduler } from '#scheduling/thread-scheduler.ts'
import { TimeBudget } from '#scheduling/time-budget.ts'
import { createProgress, IndexProgress } from '#threads/indexes/index-progress.ts'

const settings = withoutSecrets(readConfig({}))
const ID = '00000000-0000-4000-8000-000000000001'
const principal: Principal = {
  kind: 'environment',
  organizationId: ID,
  projectId: ID,
  environmentId: ID,
  projectKey: 'default',
  environmentKey: 'default',
  keyId: null,
  level: 'admin',
}
const caller = {
  isGone: false,
  whenOver: () => {},
  identifyAgain: () => null,
  bodyBytes: 0,
  requestId: '',
  traceparent: null,
}

/** Calls the handlers of decision requests without a server. All requests are read at `readAt`. */
export function askRoutes(
  engine: () => DecisionEngine,
  readAt: number,
): <Body>(operationId: string, text: string) => Promise<Body> {
  const now = () => readAt
  const progress = new IndexProgress(createProgress({ epoch: 'tests', sequence: 1 }))
  const decisions = new DecisionService({ engine }, settings, {
    observer: null,
    pool: null,
    now,
    sliced: new ThreadScheduler(new TimeBudget('http', () => 0)),
  })
  const access = new AccessService(decisions, {
    subjectTypes: new Set(['user']),
    readEvaluation: evaluationReader(false),
  })
  const permissions = new PermissionService(decisions, settings)
  const answers = new LargeAnswers(settings.listedBytesMax)
  const tenants = new TenantService(decisions, settings)
  const routes = decisionRoutes({
    decisions,
    access,
    permissions,
    tenants,
    search: new SearchService(decisions, access, 20_000),
    answers,
    options: { ...settings, tokens: new PageTokens(Buffer.alloc(32)) },
  })
  const plans = new PlanService(decisions, {
    progress: { progress: () => progress },
    observer: null,
    elapsedMs: () => 0,
  })
  const opa = opaRoutes({ decisions, permissions, tenants, answers })
  const byId = new Map(
    [...routes, ...opa, planRoute(plans, answers)].map(route => [route.operationId, route]),
  )
  return async <Body>(operationId: string, text: string): Promise<Body> => {
    const route = byId.get(operationId)!
    const body = readBody(route, viewOf(Buffer.from(text)), { principal, contentEncoding: undefined })
    const call = {
      principal,
      params: {},
      query: {},
      body,
      headers: new Map<string, string>(),
      caller,
      names: caller,
      claim: null,
    }
    const answer = encodeReply(await route.handle(call))
    const answered = answer.pieces === null ? Buffer.from(answer.body ?? '') : await wholeOf(answer.pieces)
    answer.lent?.giveBack()
    return JSON.parse(answered.toString()) as Body
  }
}

async function wholeOf({ source }: RawPieces): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for (let piece = await source.next(); piece !== null; piece = await source.next()) pieces.push(piece)
  return Buffer.concat(pieces)
}
