/** Limit of rules that one request can create or remove. */
import { expect, test } from 'vitest'
import { BULK_ELEMENTS_MAX } from '#model/limits.ts'
import { type Client, FACTS, startedService } from '#testing/processes/running-service.ts'
import type { Problem } from '../../../support/calls/refusals.ts'

const RULES = `${FACTS}/set_rules`
const BULK = `${RULES}/bulk`

const rulesOf = async (client: Client) => (await client.get(`${RULES}?user_set=s-0`)).body

test(`a bulk of rules has at most ${BULK_ELEMENTS_MAX} elements`, async () => {
  const client = await startedService()
  const actions = Array.from({ length: 1_000 }, (_, n) => `a-${n}`)
  const sets = Array.from({ length: BULK_ELEMENTS_MAX / actions.length }, (_, n) => `s-${n}`)
  await client.resource({ key: 'page', actions: Object.fromEntries(actions.map(key => [key, {}])) })
  for (const key of sets) await client.conditionSet({ key, conditions: {} })
  const rules = sets.flatMap(user_set =>
    actions.map(action => ({ user_set, permission: `page:${action}`, resource_set: 'page' })),
  )
  const beyond = await client.post<Problem>(BULK, { operations: [...rules, rules[0]] })
  expect([beyond.status, await rulesOf(client)]).toEqual([422, []])
  const made = await client.post(BULK, { operations: rules })
  expect([made.status, made.body]).toMatchObject([200, { rules_created: BULK_ELEMENTS_MAX }])
  expect(await client.allows('anybody', 'a-999', 'page')).toBe(true)
  expect((await client.delete<Problem>(BULK, { idents: [...rules, rules[0]] })).status).toBe(422)
  expect((await client.delete(BULK, { idents: rules })).body).toEqual({ rules_removed: BULK_ELEMENTS_MAX })
  expect(await client.allows('anybody', 'a-999', 'page')).toBe(false)
})
