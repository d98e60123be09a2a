/** Successful responses of all management routes match their schemas and have the revision (contract B). */
import { describe, expect, test } from 'vitest'
import type { Tenant } from '#entities/tenant.ts'
import { FACTS, RESOURCES, revisionOf, SCHEMA, sharedService } from '#testing/processes/running-service.ts'
import type { Problem } from '../../support/calls/refusals.ts'
import { MANAGEMENT_CALLS } from '../../support/calls/management-calls.ts'
import { answerFindings, routes } from '#testing/requests/routes.ts'

const verdict = await sharedService()

test('every management response matches the schema of its route, and writes increase the revision', async () => {
  let sequence = 0
  for (const { operation, method, path, body } of MANAGEMENT_CALLS) {
    // This response is an endless event stream (`changes/streams.test.ts`).
    if (operation === 'streamChanges') continue
    const answer = await verdict.send(method, path, { body })
    const context = `${operation}: ${JSON.stringify(answer.body)}`
    const route = routes.find(({ operationId }) => operationId === operation)
    expect(Object.keys(route?.responses ?? {}), context).toContain(String(answer.status))
    expect(answerFindings(operation, answer.status, answer.body), context).toEqual([])
    const next = Number(revisionOf(answer).split('.')[1])
    // This operation evaluates a condition set without storing it.
    const isWrite = method !== 'GET' && operation !== 'tryConditionSet'
    expect(isWrite ? next > sequence : next === sequence, `${operation}: ${sequence}, ${next}`).toBe(true)
    sequence = next
  }
})

/** Operations about nodes and sign-ins, whose responses have no revision. */
const WITHOUT_REVISION = [
  'getNodes',
  'getRecentFigures',
  'refreshDecisionPoints',
  'getSignIn',
  'beginSignIn',
  'finishSignIn',
  'receiveLogout',
]

test('all management routes except those about nodes and sign-ins describe a revision for every success', () => {
  const withoutRevision = routes
    .filter(({ family, operationId }) => family === 'management' && !WITHOUT_REVISION.includes(operationId))
    .flatMap(({ operationId, responses }) =>
      Object.values(responses)
        .filter(({ headers = [] }) => !headers.some(({ name }) => name === 'X-Revision'))
        .map(() => operationId),
    )
  expect(withoutRevision).toEqual([])
})

// Published clients recognize a missing entity by this sentence.
test('the message of a 404 for a missing entity begins with a fixed sentence', async () => {
  const { status, body } = await verdict.get<Problem>(`${FACTS}/users/missing`)
  const sentence = 'The requested data could not be found: there is no user "missing"'
  expect([status, body.message]).toEqual([404, sentence])
  const unknownPath = await verdict.get<Problem>(`${FACTS}/nothing`)
  expect(unknownPath.body.message).toBe('this path does not exist')
})

describe('the scope of a key', () => {
  test('has the ids of the organization, project and environment, which paths accept', async () => {
    const answer = await verdict.get<Record<string, string>>('/v2/api-key/scope')
    const { access_level, ...body } = answer.body
    revisionOf(answer)
    expect(answerFindings('getApiKeyScope', 200, answer.body)).toEqual([])
    expect(access_level).toBe('admin')
    const { project_id: project, environment_id: environment } = body
    const { body: tenant } = await verdict.post<Tenant>(`/v2/facts/${project}/${environment}/tenants`, {
      key: 'by-id',
      name: 'By id',
    })
    expect(tenant).toMatchObject(body)
    for (const path of [
      `/v2/schema/${project}/default/groups`,
      `/v2/schema/default/${environment}/groups`,
      `/v2/schema/${project!.toUpperCase()}/${environment}/groups`,
    ]) {
      expect((await verdict.get(path)).status).toBe(200)
    }
  })

  test('has no project and no environment for a key of the organization', async () => {
    const { body } = await verdict.admin<Record<string, unknown>>('GET', '/v2/api-key/scope')
    expect(answerFindings('getApiKeyScope', 200, body)).toEqual([])
    expect(body).toMatchObject({ project_id: null, environment_id: null })
  })

  test('includes the environments of an organization for its key (native.md D-44); a missing environment is a 404', async () => {
    const body = { key: 'from-above', name: 'From above' }
    expect((await verdict.admin('POST', `${SCHEMA}/roles`, body)).status).toBe(200)
    const missing = await verdict.admin('GET', '/v2/schema/default/staging/groups')
    expect([missing.status, missing.body]).toMatchObject([404, { error_code: 'NOT_FOUND' }])
  })
})

const nulls = (...names: readonly string[]) => Object.fromEntries(names.map(name => [name, null]))

test('null for an optional field of a request is the same as no field', async () => {
  await verdict.resource({ key: 'bare' })
  await verdict.tenantRole('unset', [])
  const profile = nulls('email', 'first_name', 'last_name', 'attributes', 'role_assignments')
  const texts = nulls('description', 'permissions', 'attributes', 'extends', 'granted_to')
  const assigned = { user: 'null-user', role: 'unset', tenant: 'default', resource_instance: null }
  const instance = { resource: 'bare', key: 'null-instance', ...nulls('tenant', 'attributes') }
  for (const [path, body, expected] of [
    [`${FACTS}/users`, { key: 'null-user', ...profile }, { email: null, attributes: {} }],
    [`${FACTS}/resource_instances`, instance, { tenant: 'default', attributes: {} }],
    [`${FACTS}/role_assignments`, assigned, { resource_instance: null }],
    [
      `${RESOURCES}/bare/roles`,
      { key: 'null-role', name: 'Null', ...texts },
      { permissions: [], extends: [], description: null },
    ],
  ] as const) {
    const answer = await verdict.post(path, body)
    expect([answer.status, answer.body], path).toMatchObject([200, expected])
  }
})

test('attributes of any kind, unusual names and keys like those of Object are returned as they were sent', async () => {
  const attributes = {
    text: 'ß鍵😀\n"',
    number: -1.5e-7,
    large: 9007199254740991,
    huge: 1e300,
    yes: true,
    nothing: null,
    list: [1, [2, [{}]], 'x'],
    '': { ' ': { constructor: 1, toString: 2, length: 3 } },
    date: '2026-01-01T00:00:00.000Z',
  }
  const created = await verdict.post<{ attributes: unknown }>(`${FACTS}/users`, { key: 'keeper', attributes })
  expect(created.body.attributes).toEqual(attributes)
  const names = { constructor: {}, toString: {}, hasOwnProperty: {}, __proto: {}, length: {}, '0': {} }
  const resource = await verdict.resource({
    key: 'constructor',
    name: 'ß鍵😀 ',
    actions: names,
    type_attributes: attributes,
    roles: { valueOf: { name: '', permissions: ['constructor', 'toString'] } },
  })
  expect(Object.keys(resource.actions).toSorted()).toEqual(Object.keys(names).toSorted())
  const read = await verdict.get<typeof resource>(`${RESOURCES}/constructor`)
  expect(read.body).toEqual(resource)
  expect(read.body.type_attributes).toEqual(attributes)
  expect(read.body.roles['valueOf']!.permissions).toEqual(['constructor', 'toString'])
})

describe('the key __proto__', () => {
  test('can be the key of an action, a role and a relation', async () => {
    const text =
      '{"key":"proto","name":"P","actions":{"__proto__":{}},' +
      '"roles":{"__proto__":{"name":"R","permissions":["__proto__"]}},"relations":{"__proto__":"proto"}}'
    const created = await verdict.send<object>('POST', RESOURCES, { text })
    expect(created.status, JSON.stringify(created.body)).toBe(200)
    const read = await verdict.get<object>(`${RESOURCES}/proto`)
    expect(read.body).toEqual(created.body)
    for (const part of ['actions', 'roles', 'relations']) {
      expect(JSON.stringify(read.body)).toContain(`"${part}":{"__proto__":{`)
    }
    await verdict.user('proto-user')
    await verdict.assign('proto-user', '__proto__', 'proto:p1')
    expect(await verdict.allows('proto-user', '__proto__', 'proto:p1')).toBe(true)
  })

  test('can be the key of an attribute', async () => {
    const text = '{"key":"proto-attributes","name":"P","actions":{},"type_attributes":{"__proto__":1}}'
    const created = await verdict.send('POST', RESOURCES, { text })
    const read = await verdict.get(`${RESOURCES}/proto-attributes`)
    for (const { body } of [created, read])
      expect(JSON.stringify(body)).toContain('"type_attributes":{"__proto__":1}')
  })
})
