/** Facts under `/facts`, the path of decision points (conditions.md 10.8): same calls and responses. */
import { expect, test } from 'vitest'
import { mountedRoutes, routes } from '#testing/requests/routes.ts'
import {
  type Client,
  FACTS,
  neighbourOf,
  sharedService,
  startedService,
} from '#testing/processes/running-service.ts'
import { FORBIDDEN, IMPOSSIBLE, INVALID, NOT_FOUND, refusal } from '../../support/calls/refusals.ts'
import { MANAGEMENT_CALLS } from '../../support/calls/management-calls.ts'
import type { Call } from '../../support/calls/schema-calls.ts'

const verdict = await sharedService()

const mounted = (path: string): string => path.replace(FACTS, '/facts')

/** Replaces values that can differ between the services: times, and ids (numbered as they appear). */
function comparable(answers: readonly unknown[]): unknown {
  const numbers = new Map<string, number>()
  const text = JSON.stringify(answers)
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, id => {
      if (!numbers.has(id)) numbers.set(id, numbers.size)
      return `id ${numbers.get(id)!}`
    })
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'a time')
  return JSON.parse(text)
}

/** The responses of a new service to these calls, followed by the entries in its audit log. */
async function answersTo(calls: readonly Call[]): Promise<unknown> {
  const client = await startedService()
  await client.user('alice')
  const answers: unknown[] = []
  for (const { method, path, body, headers } of calls) {
    const answer = await client.send(method, path, { body, ...(headers && { headers }) })
    const warning = answer.headers.get('warning')
    answers.push([method, path.replace(FACTS, '/facts'), answer.status, answer.body, warning])
  }
  const { body } = await client.admin<{ data: { operation: string }[] }>(
    'GET',
    '/v2/audit-log/default/default?per_page=100&order=oldest',
  )
  return comparable([...answers, body])
}

test('each route of facts also exists under /facts, with the same method and parameters', () => {
  const facts = routes.filter(({ path }) => path.startsWith('/v2/facts/'))
  const named = facts.map(({ method, path, operationId }) => ({
    method,
    path: path.replace('/v2/facts/{proj_id}/{env_id}', '/facts'),
    operationId,
  }))
  expect(mountedRoutes.map(({ method, path, operationId }) => ({ method, path, operationId }))).toEqual(named)
  expect(mountedRoutes.length).toBeGreaterThan(35)
})

test('every management call has the same response and the same audit entry on both paths', async () => {
  const ofFacts = new Set(mountedRoutes.map(({ operationId }) => operationId))
  const called = new Set(MANAGEMENT_CALLS.map(({ operation }) => operation))
  expect([...ofFacts].filter(operation => !called.has(operation))).toEqual([])
  const through = MANAGEMENT_CALLS.map(call => ({ ...call, path: mounted(call.path) }))
  expect(await answersTo(through)).toEqual(await answersTo(MANAGEMENT_CALLS))
})

test('a write under /facts takes effect before its response is sent', async () => {
  await verdict.createDocumentModel()
  await verdict.post('/facts/users', { key: 'lin' })
  const assigned = { user: 'lin', role: 'viewer', resource_instance: 'document:d1', tenant: 'default' }
  const answer = await verdict.send('POST', '/facts/role_assignments', {
    body: assigned,
    headers: { 'x-wait-timeout': '10', 'x-timeout-policy': 'fail' },
  })
  expect([answer.status, answer.headers.get('x-revision')]).toEqual([200, expect.stringMatching(/\.\d+$/)])
  expect(await verdict.allows('lin', 'read', 'document:d1')).toBe(true)
  expect((await verdict.delete('/facts/role_assignments', assigned)).status).toBe(204)
  expect(await verdict.allows('lin', 'read', 'document:d1')).toBe(false)
})

test('/facts is the environment to which the API key is scoped', async () => {
  const key = await neighbourOf(verdict, 'abroad')
  await verdict.send('POST', '/facts/users', { key, body: { key: 'foreigner' } })
  const keysOf = async (client: Client, of?: string) => {
    const answer = await client.send<{ data: { key: string }[] }>('GET', '/facts/users', {
      ...(of && { key: of }),
    })
    return answer.body.data.map(user => user.key)
  }
  expect(await keysOf(verdict, key)).toEqual(['foreigner'])
  expect(await keysOf(verdict)).not.toContain('foreigner')
})

test.each(mountedRoutes.map(route => ({ name: `${route.method} ${route.path}`, route })))(
  '$name returns 401 without a key, and 403 with a key of the organization',
  async ({ route }) => {
    const path = route.path.replaceAll(/\{\w+\}/g, 'x')
    expect(refusal(await verdict.send(route.method, path, { key: null }))).toEqual([401, 'UNAUTHORIZED'])
    expect(refusal(await verdict.admin(route.method, path))).toEqual(FORBIDDEN)
  },
)

test.each([
  ['GET', '/facts/users/nobody', {}, NOT_FOUND],
  ['GET', '/facts/users/%ff', {}, INVALID],
  ['POST', '/facts/users', { body: { key: 7 } }, INVALID],
  ['POST', '/facts/users', { text: '{' }, INVALID],
  ['GET', '/facts/users?per_page=101', {}, INVALID],
  ['GET', '/facts', {}, NOT_FOUND],
  ['GET', '/facts/castles', {}, NOT_FOUND],
  ['PUT', '/facts/users', { body: {} }, [405, 'INVALID_INPUT']],
  ['POST', '/facts/users', { body: { key: 'a' }, headers: { 'x-wait-timeout': 'soon' } }, IMPOSSIBLE],
  ['POST', '/facts/users', { body: { key: 'a' }, headers: { 'x-timeout-policy': 'hope' } }, IMPOSSIBLE],
] as const)('%s %s with %j is rejected as on the management path', async (method, path, options, refused) => {
  expect(refusal(await verdict.send(method, path, options))).toEqual(refused)
})

test('the OpenAPI document names the second path of each operation, and describes no operation twice', async () => {
  type Item = Readonly<Record<string, { readonly operationId: string; readonly 'x-also-at'?: string }>>
  const { body } = await verdict.send<{ paths: Readonly<Record<string, Item>> }>('GET', '/openapi.json')
  const described = Object.entries(body.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
  )
  expect(described.filter(({ path }) => path.startsWith('/facts'))).toEqual([])
  const second = described.filter(operation => operation['x-also-at'] !== undefined)
  expect(
    second.map(operation => [operation.method, operation['x-also-at'], operation.operationId]).toSorted(),
  ).toEqual(mountedRoutes.map(({ method, path, operationId }) => [method, path, operationId]).toSorted())
})
