/** The patterns of docs/conditions.md over HTTP: sent as they stand there, asked, removed again. */
import { afterEach, expect, test } from 'vitest'
import { FACTS, type Problem, refusal, SCHEMA, sharedService } from '#testing/processes/running-service.ts'
import { firstRequests, GROUND, type Pattern, patterns, refused } from '../../support/conditions-document.ts'

const verdict = await sharedService()
for (const [key, actions] of Object.entries(GROUND.actions)) {
  await verdict.resource({ key, actions: Object.fromEntries(actions.map(action => [action, {}])) })
}
for (const [role, permissions] of Object.entries(GROUND.roles)) await verdict.tenantRole(role, permissions)
await verdict.tenant(GROUND.otherTenant)

const SETS = `${SCHEMA}/condition_sets`
const RULES = `${FACTS}/set_rules`

/** To be undone, the last thing first. */
const made: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const undo of made.splice(0).toReversed()) await undo()
})

test('the first requests of the document make a set, make a rule and are allowed', async () => {
  const answers = []
  for (const { method, path, body } of firstRequests) answers.push(await verdict.send(method, path, { body }))
  made.push(() => done('DELETE', `${SETS}/sales`))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(answers.at(-1)!.body).toMatchObject({ allow: true })
  const { method, path, body } = firstRequests.at(-1)!
  const other = { ...(body as object), user: { key: 'ann' } }
  expect((await verdict.send(method, path, { body: other })).body).toMatchObject({ allow: false })
})

test.each(patterns)('$title: can be made, and answers as the document says', async pattern => {
  await make(pattern)
  // Nobody outside sets the clock of the service: what depends on it is asked of the engines alone.
  const questions = pattern.questions.filter(({ at }) => at === null)
  const answers = []
  for (const question of questions) {
    const { user, userAttributes, type, key, resourceAttributes, holds, tenantAttributes } = question
    await verdict.delete(`${FACTS}/users/${user}`)
    await verdict.user(user)
    if (holds) await verdict.assign(user, holds.role, holds.tenant)
    await done('PATCH', `${FACTS}/tenants/default`, { attributes: tenantAttributes ?? {} })
    const { allow } = await done<{ allow: boolean }>('POST', '/allowed', {
      user: { key: user, attributes: userAttributes },
      action: question.action,
      resource: { type, ...(key !== null && { key }), attributes: resourceAttributes },
      ...(question.context && { context: question.context }),
    })
    answers.push({ row: question.row, allow })
  }
  expect(answers).toEqual(questions.map(({ row, allow }) => ({ row, allow })))
})

test.each(refused)('$text is refused, with the place of what is wrong', async ({ conditions }) => {
  const answer = await verdict.post<Problem>(SETS, { key: 'wrong', name: 'Wrong', conditions })
  expect(refusal(answer)).toEqual([422, 'INVALID_INPUT'])
  for (const { loc } of answer.body.detail!) expect(loc.slice(0, 2)).toEqual(['body', 'conditions'])
})

test('the time of the service has the form of which a pattern reads the hours', async () => {
  const conditions = { 'server.time': { match: '????-??-??T??:??:??.???Z' } }
  const set = { key: 'ever', name: 'Ever', type: 'userset', conditions } as const
  const rule = { user_set: 'ever', permission: 'document:write', resource_set: 'document' }
  expect(await verdict.allows('ann', 'write', 'document:plan')).toBe(false)
  await make({ sets: [set], rules: [rule] })
  expect(await verdict.allows('ann', 'write', 'document:plan')).toBe(true)
})

async function make({ sets, rules }: Pick<Pattern, 'sets' | 'rules'>): Promise<void> {
  for (const set of sets) {
    await done('POST', SETS, set)
    made.push(() => done('DELETE', `${SETS}/${set.key}`))
  }
  for (const rule of rules) await done('POST', RULES, rule)
}

async function done<Body = unknown>(method: string, path: string, body?: object): Promise<Body> {
  const answer = await verdict.send<Body>(method, path, { body })
  expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBe(
    method === 'DELETE' ? 204 : 200,
  )
  return answer.body
}
