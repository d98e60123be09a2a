/** A common interface to all implementations that decide the checks of a scenario. */
import { type Api, ask } from '#cli/session/api.ts'
import { questionBody, type AttributesAndContext } from '#cli/questions/question.ts'
import { search } from '#cli/questions/search.ts'
import type { DecisionEngine } from '#engine/engine.ts'
import type { Change } from '#model/change.ts'
import { type QueryContext, NOTHING_SENT, type Query } from '#model/decision.ts'
import { parseInstanceReference } from '#model/instance-reference.ts'
import type { ModelTest, ExpectedChecks } from '#entities/model-file.ts'
import { runAtOnce } from '#scheduling/resumable.ts'
import { BulkAllowedResult } from '#model/wire/decisions/decision.ts'
import type { Oracle } from '#testing/oracle/oracle.ts'
import { searchResources, searchUsers } from '#testing/engines/listed.ts'
import { evaluateAll } from '#testing/engines/packed.ts'

interface Answers {
  decide(queries: readonly Query[]): Promise<readonly boolean[]>
  resources(question: Omit<Query, 'key'>): Promise<readonly string[]>
  users(question: Omit<Query, 'user'>): Promise<readonly string[]>
  actions(question: Omit<Query, 'action'>): Promise<readonly string[]>
}

/** Time of checks. Scenarios do not depend on it, because checks over HTTP use the current time. */
const READ_AT = Date.UTC(2026, 10, 27, 12)
/** A page with more entities than any scenario has. */
const EVERYTHING = { after: null, limit: 10_000 }

export function answersOfEngine(engine: DecisionEngine): Answers {
  return {
    decide: async queries => {
      const each = queries.map(query => engine.evaluate(query))
      return each.toString() === evaluateAll(engine, queries).toString() ? each : []
    },
    resources: async question => searchResources(engine, question, EVERYTHING).keys,
    users: async question => searchUsers(engine, question, EVERYTHING).keys,
    actions: async question => runAtOnce(engine.searchActions(question)),
  }
}

/** The oracle only decides: its lists contain all entities for which it allows the check. */
export function answersOfOracle(oracle: Oracle, changes: readonly Change[]): Answers {
  const allowed = (query: Query) => oracle.evaluate(query)
  return {
    decide: async queries => queries.map(allowed),
    resources: async question =>
      changes.flatMap(change =>
        change.kind === 'instance-put' &&
        change.instance.type === question.type &&
        allowed({ ...question, key: change.instance.key })
          ? [change.instance.key]
          : [],
      ),
    users: async question =>
      changes.flatMap(change =>
        change.kind === 'user-put' && allowed({ ...question, user: change.user }) ? [change.user] : [],
      ),
    actions: async question =>
      changes.flatMap(change =>
        change.kind === 'type-put' && change.type === question.type
          ? change.actions.filter(action => allowed({ ...question, action }))
          : [],
      ),
  }
}

/** Requests decisions in one bulk and one by one, and lists through searches. */
export function answersOfApi(api: Api): Answers {
  const body = ({ user, action, type, key, tenant, queryContext }: Query) => {
    return questionBody({
      user,
      action,
      resource: key === null ? type : `${type}:${key}`,
      ...(tenant !== null && { tenant }),
      ...saidWith(queryContext),
    })
  }
  const named = ({
    queryContext,
    user,
    action,
    type,
    key,
    tenant,
  }: Partial<Query> & Pick<Query, 'type'>) => ({
    ...saidWith(queryContext),
    user,
    action,
    type,
    tenant: tenant ?? undefined,
    key: key ?? undefined,
  })
  return {
    decide: async queries => {
      const { allow } = await ask(api, BulkAllowedResult, 'POST', '/allowed/bulk', queries.map(body))
      const each: boolean[] = []
      for (const query of queries) {
        const { status, body: answer } = await api.send('POST', '/allowed', body(query))
        each.push(status === 200 && (answer as { allow: boolean }).allow)
      }
      return each.toString() === allow.map(one => one.allow).toString() ? each : []
    },
    resources: question => search(api, 'resource', named(question)),
    users: question => search(api, 'subject', named(question)),
    actions: question => search(api, 'action', named(question)),
  }
}

function saidWith(queryContext: QueryContext | undefined): AttributesAndContext {
  const { user, resource, context } = queryContext?.sent() ?? NOTHING_SENT
  return {
    attributes: { ...(user && { user }), ...(resource && { resource }) },
    ...(context && { context }),
  }
}

/** Returns a sentence for each decision or list that is not as the file expects. */
export async function differences(tests: readonly ModelTest[], answers: Answers): Promise<string[]> {
  const found: string[] = []
  for (const test of tests) {
    for (const [questions, expected] of [
      [test.allow ?? [], true],
      [test.deny ?? [], false],
    ] as const) {
      const queries = questions.flatMap(queriesOf)
      const decisions = await answers.decide(queries)
      for (const [index, { user, action, type, key, tenant }] of queries.entries()) {
        if (decisions[index] === expected) continue
        found.push(
          `${test.name}: ${user} ${expected ? 'may' : 'may not'} ${action} ${type}:${key} (${tenant})`,
        )
      }
    }
    for (const { are, user, action, type, tenant = null, ...said } of test.resources ?? []) {
      const listed = await answers.resources({ user, action, type, tenant, ...queryContextOf(said) })
      found.push(...listDifferences(`${test.name}: what ${user} may ${action}`, listed, are))
    }
    for (const { are, action, resource, tenant = null, ...said } of test.users ?? []) {
      const listed = await answers.users({ action, ...partsOf(resource), tenant, ...queryContextOf(said) })
      found.push(...listDifferences(`${test.name}: who may ${action} ${resource}`, listed, are))
    }
    for (const { are, user, resource, tenant = null, ...said } of test.actions ?? []) {
      const listed = await answers.actions({ user, ...partsOf(resource), tenant, ...queryContextOf(said) })
      found.push(...listDifferences(`${test.name}: what ${user} may on ${resource}`, listed, are))
    }
  }
  return found
}

function listDifferences(question: string, listed: readonly string[], are: readonly string[]): string[] {
  const [has, wants] = [listed, are].map(keys => keys.toSorted().join(', '))
  return has === wants ? [] : [`${question}: ${has} and not ${wants}`]
}

function queriesOf({ user, action, resource, tenant, ...said }: ExpectedChecks): Query[] {
  return [user].flat().flatMap(one =>
    [action].flat().flatMap(what =>
      [resource].flat().map(where => ({
        user: one,
        action: what,
        ...partsOf(where),
        tenant: tenant ?? null,
        ...queryContextOf(said),
      })),
    ),
  )
}

function queryContextOf({ attributes, context }: AttributesAndContext): {
  readonly queryContext: QueryContext
} {
  const sent = {
    user: attributes?.user ?? null,
    resource: attributes?.resource ?? null,
    tenant: null,
    context: context ?? null,
  }
  return { queryContext: { readAt: READ_AT, sent: () => sent } }
}

function partsOf(resource: string): { readonly type: string; readonly key: string | null } {
  return parseInstanceReference(resource) ?? { type: resource, key: null }
}
