/**
 * The same random questions, with attributes and context, asked in every form in which a request may bring them: the answer is the
 * oracle's, whether the body is read from its bytes or parsed, in either dialect, alone or in a list.
 */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { AccessService } from '#decisions/access-service.ts'
import { DecisionService } from '#decisions/decision-service.ts'
import { PermissionService } from '#decisions/permission-service.ts'
import { SearchService } from '#decisions/search-service.ts'
import type { DecisionEngine } from '#engine/engine.ts'
import { encodeReply } from '#http/message/answer.ts'
import { viewOf } from '#http/message/byte-views.ts'
import { evaluationReader } from '#http/routes/decisions/access.ts'
import { opaRoutes } from '#http/routes/decisions/opa.ts'
import { PageTokens } from '#http/routes/decisions/page-token.ts'
import { decisionRoutes } from '#http/routes/route-table.ts'
import { LargeAnswers } from '#http/routing/large-answers.ts'
import { readBody } from '#http/routing/read-body.ts'
import type { Query } from '#model/decision.ts'
import type { Principal } from '#model/principal.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'
import { Oracle } from '#testing/oracle/oracle.ts'
import { historiesWithRules, READ_AT } from '#testing/oracle/random-rules.ts'
import { readConfig, withoutSecrets } from '../../src/config/config.ts'
import { howToRepeat, seed } from './seeded.ts'

/** The same histories every time, so that it is known what they meet. */
const RUNS = Number(process.env['VERDICT_RUNS'] ?? 1) * 20
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
}
const caller = { isGone: false, whenOver: () => {}, bodyBytes: 0, requestId: '', traceparent: null }

/** The routes of an engine, without a server. */
function asker(engine: () => DecisionEngine) {
  const now = () => READ_AT
  const decisions = new DecisionService({ engine, hasRules: () => engine().hasRules() }, settings, {
    observer: null,
    pool: null,
    now,
    elapsedMs: () => 0,
  })
  const access = new AccessService(decisions, {
    subjectTypes: new Set(['user']),
    readEvaluation: evaluationReader(false),
  })
  const routes = decisionRoutes({
    decisions,
    access,
    permissions: new PermissionService(decisions, settings),
    search: new SearchService(decisions, access),
    answers: new LargeAnswers(settings.listedBytesMax),
    options: { ...settings, tokens: new PageTokens(Buffer.alloc(32)) },
  })
  const byId = new Map([...routes, ...opaRoutes(decisions)].map(route => [route.operationId, route]))
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
    }
    const answer = encodeReply(await route.handle(call))
    const answered = Buffer.from(answer.body ?? '').toString()
    answer.lent?.giveBack()
    return JSON.parse(answered) as Body
  }
}

/** A request says nothing of its tenant, and always when it is read. */
function asWire(query: Query): Query {
  const sent = query.circumstances?.sent()
  return {
    ...query,
    circumstances: {
      readAt: READ_AT,
      sent: () => ({
        user: sent?.user ?? null,
        resource: sent?.resource ?? null,
        tenant: null,
        context: sent?.context ?? null,
      }),
    },
  }
}

function native({ user, action, type, key, tenant, circumstances }: Query): object {
  const { user: ofUser, resource: ofResource, context } = circumstances!.sent()
  return {
    user: { key: user, attributes: ofUser },
    action,
    resource: { type, key, tenant, attributes: ofResource },
    context,
  }
}

function authzen({ user, action, type, key, tenant, circumstances }: Query): object {
  const { user: ofUser, resource: ofResource, context } = circumstances!.sent()
  return {
    subject: { type: 'user', id: user, properties: ofUser },
    action: { name: action },
    resource: { type, id: key, properties: tenant === null ? ofResource : { ...ofResource, tenant } },
    context,
  }
}

/** Half of a surrogate pair is in no body: those are refused. */
const isSendable = (query: Query) => !/\\ud[89a-f]/u.test(JSON.stringify([native(query), authzen(query)]))
/** No reader of bytes knows a field by a name with an escape. */
const escaped = (text: string) => text.replace('"action"', String.raw`"acti\u006fn"`)

interface Allowed {
  readonly allow: boolean
}

/** Of all the forms. Lists hold each question twice: the second time it may look like one before. */
async function answersOf(ask: ReturnType<typeof asker>, queries: readonly Query[]) {
  const answers: Record<string, readonly boolean[]> = {}
  const alone = async (
    operationId: string,
    textOf: (query: Query) => string,
    read: (body: never) => boolean,
  ): Promise<boolean[]> => {
    const alike: boolean[] = []
    for (const query of queries) alike.push(read(await ask<never>(operationId, textOf(query))))
    return [...alike, ...alike]
  }
  const twice = [...queries, ...queries]
  const nativeText = (query: Query) => JSON.stringify(native(query))
  for (const [how, write] of [
    ['from bytes', (text: string) => text],
    ['parsed', escaped],
  ] as const) {
    const bulk = await ask<{ allow: Allowed[] }>('isAllowedBulk', write(JSON.stringify(twice.map(native))))
    answers[`bulk, ${how}`] = bulk.allow.map(({ allow }) => allow)
    const evaluations = write(JSON.stringify({ evaluations: twice.map(authzen) }))
    const batch = await ask<{ evaluations: { decision: boolean }[] }>('accessEvaluations', evaluations)
    answers[`batch, ${how}`] = batch.evaluations.map(({ decision }) => decision)
    answers[`single, ${how}`] = await alone(
      'isAllowed',
      query => write(nativeText(query)),
      ({ allow }: Allowed) => allow,
    )
    answers[`evaluation, ${how}`] = await alone(
      'accessEvaluation',
      query => write(JSON.stringify(authzen(query))),
      ({ decision }: { decision: boolean }) => decision,
    )
  }
  answers['explained'] = await alone('explainAllowed', nativeText, ({ allow }: Allowed) => allow)
  answers['policy agent'] = await alone(
    'isAllowedOpa',
    query => JSON.stringify({ input: native(query) }),
    ({ result }: { result: Allowed }) => result.allow,
  )
  return answers
}

test('whatever form a question with attributes comes in, it is answered as the oracle does', async () => {
  let engine = new SharedEngine()
  const ask = asker(() => engine)
  let byRules = 0
  let denied = 0
  const histories = historiesWithRules({ commits: 2, queries: 16 })
  for (const { load, commits, queries } of fc.sample(histories, { seed, numRuns: RUNS })) {
    engine = new SharedEngine()
    const [oracle, withoutRules] = [new Oracle(), new Oracle()]
    const asked = queries.map(asWire).filter(isSendable)
    if (asked.length === 0) continue
    for (const changes of [load, ...commits]) {
      engine.apply(changes)
      oracle.apply(changes)
      withoutRules.apply(changes.filter(({ kind }) => kind !== 'rule-put'))
      const expected = asked.map(query => oracle.evaluate(query))
      for (const [form, answers] of Object.entries(await answersOf(ask, asked))) {
        expect(answers, `${form}, ${howToRepeat}`).toEqual([...expected, ...expected])
      }
      for (const [index, isAllowed] of expected.entries()) {
        if (!isAllowed) denied++
        else if (!withoutRules.evaluate(asked[index]!)) byRules++
      }
    }
  }
  expect(byRules, howToRepeat).toBeGreaterThan(0)
  expect(denied, howToRepeat).toBeGreaterThan(50)
})
