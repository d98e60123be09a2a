/** The patterns of docs/conditions.md over HTTP: created as documented, checked, and deleted. */
import { afterEach, expect, test } from 'vitest'
import { FACTS, SCHEMA, sharedService } from '#testing/processes/running-service.ts'
import { type Problem, refusal } from '../../support/calls/refusals.ts'
import {
  firstRequests,
  GROUND,
  type Pattern,
  patterns,
  refused,
} from '../../support/documents/conditions-document.ts'

const verdict = await sharedService()
for (const [key, actions] of Object.entries(GROUND.actions)) {
  await verdict.resource({ key, actions: Object.fromEntries(actions.map(action => [action, {}])) })
}
for (const [role, permissions] of Object.entries(GROUND.roles)) await verdict.tenantRole(role, permissions)
await verdict.tenant(GROUND.otherTenant)

const SETS = `${SCHEMA}/condition_sets`
const RULES = `${FACTS}/set_rules`

const created: string[] = []

afterEach(async () => {
  for (const key of created.splice(0).toReversed()) await done('DELETE', `${SETS}/${key}`)
})

test('the first requests of the document create a set and a rule, and the check is allowed', async () => {
  const answers = []
  for (const { method, path, body } of firstRequests) answers.push(await verdict.send(method, path, { body }))
  created.push('sales')
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(answers.at(-1)!.body).toMatchObject({ allow: true })
  const { method, path, body } = firstRequests.at(-1)!
  const other = { ...(body as object), user: { key: 'ann' } }
  expect((await verdict.send(method, path, { body: other })).body).toMatchObject({ allow: false })
})

test.each(patterns)('$title: decisions equal the documented ones', async pattern => {
  await create(pattern)
  // Clients cannot set the clock. Rows that depend on the time are checked only by tests of the engine.
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

test.each(refused)('$text is rejected with the position of the error', async ({ conditions }) => {
  const answer = await verdict.post<Problem>(SETS, { key: 'wrong', name: 'Wrong', conditions })
  expect(refusal(answer)).toEqual([422, 'INVALID_INPUT'])
  for (const { loc } of answer.body.detail!) expect(loc.slice(0, 2)).toEqual(['body', 'conditions'])
})

test('the time that conditions read has the format from which a pattern extracts the hour', async () => {
  const conditions = { 'server.time': { match: '????-??-??T??:??:??.???Z' } }
  const set = { key: 'ever', name: 'Ever', type: 'userset', conditions } as const
  const rule = { user_set: 'ever', permission: 'document:write', resource_set: 'document' }
  expect(await verdict.allows('ann', 'write', 'document:plan')).toBe(false)
  await create({ sets: [set], rules: [rule] })
  expect(await verdict.allows('ann', 'write', 'document:plan')).toBe(true)
})

async function create({ sets, rules }: Pick<Pattern, 'sets' | 'rules'>): Promise<void> {
  for (const set of sets) {
    await done('POST', SETS, set)
    created.push(set.key)
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
