/** Every management route answers a success in the shape its own definition promises, with the revision (contract B). */
import { describe, expect, test } from 'vitest'
import type { RoleAssignment } from '#model/wire/role-assignment.ts'
import type { TenantRole } from '#model/wire/role.ts'
import type { Tenant } from '#model/wire/tenant.ts'
import {
  FACTS,
  type Problem,
  RESOURCES,
  revisionOf,
  SCHEMA,
  sharedService,
} from '#testing/processes/running-service.ts'
import { MANAGEMENT_CALLS } from '../../support/management-calls.ts'
import { answerFindings, routes } from '#testing/requests/routes.ts'

const verdict = await sharedService()

test('every management operation succeeds in the shape its route promises, with a revision that grows', async () => {
  let sequence = 0
  for (const { operation, method, path, body } of MANAGEMENT_CALLS) {
    // Goes on for ever, and is an answer of events (`changes/streams.test.ts`).
    if (operation === 'streamChanges') continue
    const answer = await verdict.send(method, path, { body })
    const said = `${operation}: ${JSON.stringify(answer.body)}`
    const route = routes.find(({ operationId }) => operationId === operation)
    expect(Object.keys(route?.responses ?? {}), said).toContain(String(answer.status))
    expect(answerFindings(operation, answer.status, answer.body), said).toEqual([])
    const next = Number(revisionOf(answer).split('.')[1])
    // What is tried is not saved.
    const isWrite = method !== 'GET' && operation !== 'tryConditionSet'
    expect(isWrite ? next > sequence : next === sequence, `${operation}: ${sequence}, ${next}`).toBe(true)
    sequence = next
  }
})

/** Of the nodes themselves, and of no environment. */
const ABOUT_NODES = ['getNodes', 'getRecentFigures', 'refreshDecisionPoints']

test('every route of management promises a revision with every success, but those about nodes', () => {
  const silent = routes
    .filter(({ family, operationId }) => family === 'management' && !ABOUT_NODES.includes(operationId))
    .flatMap(({ operationId, responses }) =>
      Object.values(responses)
        .filter(({ headers = [] }) => !headers.some(({ name }) => name === 'X-Revision'))
        .map(() => operationId),
    )
  expect(silent).toEqual([])
})

test('what is missing is told behind a sentence by which clients know that something is', async () => {
  const { status, body } = await verdict.get<Problem>(`${FACTS}/users/missing`)
  const sentence = 'The requested data could not be found: there is no user "missing"'
  expect([status, body.message]).toEqual([404, sentence])
  // A path that is none is another matter.
  expect((await verdict.get<Problem>(`${FACTS}/nothing`)).body.message).toBe(
    'there is nothing under this path',
  )
})

describe('the scope of a key', () => {
  test('names organization, project and environment, by which paths may call them', async () => {
    const answer = await verdict.get<Record<string, string>>('/v2/api-key/scope')
    const { body } = answer
    revisionOf(answer)
    expect(answerFindings('getApiKeyScope', 200, body)).toEqual([])
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

  test('of the organization has no project and no environment', async () => {
    const { body } = await verdict.admin<Record<string, unknown>>('GET', '/v2/api-key/scope')
    expect(answerFindings('getApiKeyScope', 200, body)).toEqual([])
    expect(body).toMatchObject({ project_id: null, environment_id: null })
  })

  test('the organization key manages the environment (native.md D-44), and is told when there is none of that name', async () => {
    const answer = await verdict.admin<TenantRole>('POST', `${SCHEMA}/roles`, {
      key: 'from-above',
      name: 'From above',
    })
    expect(answer.status).toBe(200)
    const missing = await verdict.admin('GET', '/v2/schema/default/staging/groups')
    expect([missing.status, missing.body]).toMatchObject([404, { error_code: 'NOT_FOUND' }])
  })
})

test('null for an optional field of a request is the same as no field', async () => {
  await verdict.resource({ key: 'bare' })
  await verdict.tenantRole('unset', [])
  const user = await verdict.post(`${FACTS}/users`, {
    key: 'null-user',
    email: null,
    first_name: null,
    last_name: null,
    attributes: null,
    role_assignments: null,
  })
  expect([user.status, user.body]).toMatchObject([200, { email: null, attributes: {} }])
  const instance = await verdict.post(`${FACTS}/resource_instances`, {
    resource: 'bare',
    key: 'null-instance',
    tenant: null,
    attributes: null,
  })
  expect([instance.status, instance.body]).toMatchObject([200, { tenant: 'default', attributes: {} }])
  const assignment = await verdict.post<RoleAssignment>(`${FACTS}/role_assignments`, {
    user: 'null-user',
    role: 'unset',
    tenant: 'default',
    resource_instance: null,
  })
  expect([assignment.status, assignment.body.resource_instance]).toEqual([200, null])
  const role = await verdict.post(`${RESOURCES}/bare/roles`, {
    key: 'null-role',
    name: 'Null',
    description: null,
    permissions: null,
    attributes: null,
    extends: null,
    granted_to: null,
  })
  expect([role.status, role.body]).toMatchObject([200, { permissions: [], extends: [], description: null }])
})

test('what was stored comes back as it was sent: attributes of any kind, odd names, keys like those of objects', async () => {
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

describe('a key called __proto__', () => {
  test('is an action, a role and a relation like any other', async () => {
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

  test('is a name of attributes like any other', async () => {
    const created = await verdict.send<object>('POST', RESOURCES, {
      text: '{"key":"proto-attributes","name":"P","actions":{},"type_attributes":{"__proto__":1}}',
    })
    expect(JSON.stringify(created.body)).toContain('"type_attributes":{"__proto__":1}')
    const read = await verdict.get<object>(`${RESOURCES}/proto-attributes`)
    expect(JSON.stringify(read.body)).toContain('"type_attributes":{"__proto__":1}')
  })
})
