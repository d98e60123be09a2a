/** Compares the expectations in a model file with the decisions of a service. */
import { type Api, ask } from '#cli/session/api.ts'
import { ruleTexts } from '#cli/questions/explained-rules.ts'
import { nearMissTexts } from '#cli/questions/near-misses.ts'
import { questionBody, type AttributesAndContext, type SingleQuestion } from '#cli/questions/question.ts'
import { search, type SearchedPart, type SearchQuestion } from '#cli/questions/search.ts'
import { parseInstanceReference } from '#model/instance-reference.ts'
import type { ModelTest, ExpectedChecks } from '#entities/model-file.ts'
import { ExplainedResult } from '#model/wire/decisions/decision.ts'

/** One expectation and its result. */
export interface ExpectationOutcome {
  /** The check as a sentence. */
  readonly question: string
  /** Empty if the result is as expected. */
  readonly differences: readonly string[]
}

export interface TestOutcome {
  readonly name: string
  readonly outcomes: readonly ExpectationOutcome[]
}

export async function runTest(api: Api, test: ModelTest): Promise<TestOutcome> {
  const outcomes: ExpectationOutcome[] = []
  for (const [questions, expected] of [
    [test.allow ?? [], true],
    [test.deny ?? [], false],
  ] as const) {
    for (const question of questions) {
      for (const single of singlesOf(question)) outcomes.push(await decisionOutcome(api, single, expected))
    }
  }
  for (const { are, unknown: _, ...question } of test.resources ?? []) {
    const found = await search(api, 'resource', question)
    const { user, action, type } = question
    outcomes.push(
      listOutcome(
        `the instances of ${type} that ${user} can ${action}${attributesText(question)}`,
        found,
        are,
      ),
    )
  }
  for (const { are, unknown: _, resource, ...question } of test.users ?? []) {
    const found = await searchAbout(api, 'subject', resource, question)
    outcomes.push(
      listOutcome(`the users who can ${question.action} ${resource}${attributesText(question)}`, found, are),
    )
  }
  for (const { are, unknown: _, resource, ...question } of test.actions ?? []) {
    const found = await searchAbout(api, 'action', resource, question)
    outcomes.push(
      listOutcome(
        `the actions that ${question.user} can perform on ${resource}${attributesText(question)}`,
        found,
        are,
      ),
    )
  }
  return { name: test.name, outcomes }
}

function searchAbout(
  api: Api,
  part: SearchedPart,
  resource: string,
  rest: Omit<SearchQuestion, 'type' | 'key'>,
): Promise<string[]> {
  const { type, key } = parseInstanceReference(resource)!
  return search(api, part, { ...rest, type, key })
}

/** Returns one check for each combination of the given users, actions and resources. */
function singlesOf({ user, action, resource, ...rest }: ExpectedChecks): SingleQuestion[] {
  return [user]
    .flat()
    .flatMap(one =>
      [action]
        .flat()
        .flatMap(what =>
          [resource].flat().map(where => ({ user: one, action: what, resource: where, ...rest })),
        ),
    )
}

async function decisionOutcome(
  api: Api,
  single: SingleQuestion,
  expected: boolean,
): Promise<ExpectationOutcome> {
  const { user, action, resource, tenant } = single
  const body = questionBody(single)
  const answer = await ask(api, ExplainedResult, 'POST', '/allowed/explain', body)
  const { allow, debug } = answer
  const place = tenant ? ` in ${tenant}` : ''
  const question = `${user} ${expected ? 'may' : 'may not'} ${action} ${resource}${place}${attributesText(single)}`
  if (allow === expected) return { question, differences: [] }
  const why = allow ? [debug.rbac, debug.rebac].filter(part => part.allow) : [debug.rbac, debug.rebac]
  const byRoles = why.map(({ reason, allowing_roles }) => [reason, ...allowing_roles].join(': '))
  const byRules = (allow && byRoles.length > 0 ? [] : ruleTexts(answer)).map(text => `by rules: ${text}`)
  const nearMisses = allow ? [] : nearMissTexts(user, debug.rebac).map(text => `near miss: ${text}`)
  const decided = `was ${allow ? 'allowed' : 'denied'}`
  if (byRoles.length === 0) return { question, differences: [decided, ...byRules] }
  return {
    question,
    differences: [`${decided}: ${[...new Set(byRoles)].join('; ')}`, ...nearMisses, ...byRules],
  }
}

/** Describes the attributes and the context of a check. */
function attributesText({ attributes = {}, context }: AttributesAndContext): string {
  const parts = Object.entries({ ...attributes, context }).filter(([, values]) => values !== undefined)
  return parts.length === 0
    ? ''
    : ` with ${parts.map(([of, values]) => `${of} ${JSON.stringify(values)}`).join(', ')}`
}

function listOutcome(
  question: string,
  found: readonly string[],
  expected: readonly string[],
): ExpectationOutcome {
  const missing = expected.filter(key => !found.includes(key)).map(key => `- ${key} is expected but missing`)
  const extra = found
    .filter(key => !expected.includes(key))
    .map(key => `+ ${key} is present but not expected`)
  return { question, differences: [...missing, ...extra] }
}
