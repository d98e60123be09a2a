/**
 * Responses of all decision endpoints, as read by a strict client. It requires literal booleans, one result
 * per check, no missing, unknown or duplicate members, no wrong types, and the request id on every response.
 */
import { expect, test } from 'vitest'
import { API_KEY, type Client, FACTS, startedService } from '#testing/processes/running-service.ts'
import { Description } from '../../support/documents/description.ts'
import { routes, UPDATE_TRIGGERS } from '#testing/requests/routes.ts'

/** Rejects duplicate members of an object, which `JSON.parse` accepts. The text is valid JSON. */
function rejectDuplicates(json: string): void {
  const open: (Set<string> | null)[] = []
  const token = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g
  for (const [found, colon] of json.matchAll(token)) {
    if (found === '{') open.push(new Set())
    else if (found === '[') open.push(null)
    else if (found === '}' || found === ']') open.pop()
    else if (colon !== undefined) {
      const name = JSON.parse(found.slice(0, -colon.length)) as string
      const names = open.at(-1)!
      if (names.has(name)) throw new Error(`${name}: more than one member of the name in ${json}`)
      names.add(name)
    }
  }
}

/** Checks rules that a schema cannot express: `result` repeats `allow`, and a page counts its results. */
function rejectContradictions(value: unknown, about: string): void {
  if (typeof value !== 'object' || value === null) return
  const { allow, result, page, results } = value as Record<string, unknown>
  if (typeof allow === 'boolean' && 'result' in value) expect(result, about).toBe(allow)
  if (Array.isArray(results)) expect((page as { count: number }).count, about).toBe(results.length)
  for (const member of Object.values(value)) rejectContradictions(member, about)
}

const check = (user: string, action = 'read', key: string | null = 'd1') => ({
  user: { key: user },
  action,
  resource: { type: 'document', tenant: 'acme', ...(key !== null && { key }) },
})
const CHECKS = [
  check('alice'),
  check('alice', 'write'),
  check('bob'),
  check('bob', 'read', null),
  check('unknown', 'nothing', null),
  check('alice'),
  { ...check('alice', 'read', null), context: { a: [1, { b: null }] } },
  { ...check('übel', '"', 'ü'), user: { key: 'alice', attributes: { a: 'x' }, email: null } },
]
const many = (length: number) => Array.from({ length }, (_, index) => CHECKS[index % CHECKS.length]!)
const subject = { type: 'user', id: 'alice' }
const resource = { type: 'document', id: 'd1' }
const evaluation = { subject, action: { name: 'read' }, resource }
const ALICE = { user: { key: 'alice' } }
const KONG = { request: { http: { method: 'GET', path: '/document/d1' } }, consumer: { username: 'alice' } }

interface Case {
  readonly path: string
  /** If it is undefined, the request is a GET. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Required number of results of a list. */
  readonly length?: number
}

const NGINX = {
  'permit-user-key': 'alice',
  'permit-tenant-id': 'acme',
  'permit-action': 'read',
  'permit-resource-type': 'document',
}
const CASES: readonly Case[] = [
  ...CHECKS.flatMap(body => ['/allowed', '/allowed/explain?full=true'].map(path => ({ path, body }))),
  ...[0, 1, 2, 8, 50, 1_000].map(length => ({ path: '/allowed/bulk', body: many(length), length })),
  ...['documents/d1', 'nothing'].map(path => ({
    path: '/allowed_url',
    body: { ...ALICE, http_method: 'GET', url: `https://a.org/${path}`, tenant: 'acme' },
  })),
  { path: '/nginx_allowed', headers: NGINX },
  { path: '/nginx_allowed', headers: { ...NGINX, 'permit-user-key': 'unknown' } },
  { path: '/nginx_allowed', body: {}, headers: NGINX },
  { path: '/kong', body: { input: KONG } },
  { path: '/kong', body: { input: { ...KONG, consumer: null } } },
  ...['/user-permissions', '/user-permissions?page=1&per_page=1'].flatMap(path => [
    { path, body: ALICE },
    { path, body: { user: { key: 'bob' } } },
    { path, body: { user: { key: 'unknown' }, resource_types: ['document', '__tenant'] } },
  ]),
  ...['read', 'nothing'].map(action => ({
    path: '/authorized_users',
    body: { action, resource: { type: 'document', key: 'd1', tenant: 'acme' } },
  })),
  ...['alice', 'bob', 'unknown'].map(user => ({
    path: '/allowed/all-tenants',
    body: check(user, 'read', null),
  })),
  ...['alice', 'bob', 'unknown'].map(user => ({ path: '/allowed/plan', body: check(user, 'read', null) })),
  { path: '/user-tenants', body: ALICE },
  { path: '/user-tenants', body: { user: { key: 'unknown' } } },
  { path: '/local/role_assignments' },
  { path: '/access/v1/evaluation', body: evaluation },
  { path: '/access/v1/evaluation', body: { ...evaluation, action: { name: 'nothing' } } },
  { path: '/access/v1/evaluations', body: { ...evaluation, evaluations: [] } },
  ...Object.entries({ execute_all: 4, deny_on_first_deny: 2, permit_on_first_permit: 1 }).map(
    ([semantic, length]) => ({
      path: '/access/v1/evaluations',
      body: {
        ...evaluation,
        options: { evaluations_semantic: semantic },
        evaluations: [{}, { action: { name: 'write' } }, { action: 7 }, {}],
      },
      length,
    }),
  ),
  { path: '/access/v1/search/subject', body: { ...evaluation, subject: { type: 'user' } } },
  {
    path: '/access/v1/search/resource',
    body: { ...evaluation, resource: { type: 'document' }, page: { limit: 1 } },
  },
  { path: '/access/v1/search/action', body: { subject, resource } },
]

async function started(hasDebug: boolean): Promise<Client> {
  const client = await startedService({ hasDebug })
  await client.createDocumentModel()
  await client.tenant('acme')
  await client.tenantRole('reader', ['document:read'])
  await client.users('alice', 'bob')
  await client.post(`${FACTS}/resource_instances`, { resource: 'document', key: 'd1', tenant: 'acme' })
  await client.assign('alice', 'reader', 'acme')
  const grant = { user: 'bob', role: 'viewer', resource_instance: 'document:d1', tenant: 'acme' }
  await client.post(`${FACTS}/role_assignments`, { ...grant, expires_at: '2090-01-01T00:00:00.000Z' })
  await client.conditionSet({ key: 'staff', conditions: { 'user.key': { equals: 'bob' } } })
  await client.setRule('staff', 'document:read', 'document')
  const url = 'https://a.org/documents/{key}'
  const mapping_rules = [{ url, http_method: 'get', resource: 'document', action: 'read' }]
  const proxy = { key: 'proxy', name: 'Proxy', auth_mechanism: 'Bearer', secret: 's', mapping_rules }
  await client.post(`${FACTS}/proxy_configs`, proxy)
  return client
}

async function send(client: Client, { path, body, headers = {} }: Case, id: string): Promise<Response> {
  return fetch(client.address + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${API_KEY}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      'x-request-id': id,
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Also validates the response against the OpenAPI document, in which all objects are closed. */
async function expectStrict(client: Client, description: Description, each: Case): Promise<void> {
  const about = `${each.path} ${JSON.stringify(each.body)?.slice(0, 200)}`
  const response = await send(client, each, 'strict')
  const json = await response.text()
  expect(each.path === '/nginx_allowed' ? [200, 403] : [200], `${about}: ${json}`).toContain(response.status)
  const [path, method] = [each.path.split('?', 1)[0], each.body === undefined ? 'GET' : 'POST']
  const { operationId } = description.operations.find(one => one.path === path && one.method === method)!
  const answer = { status: response.status, headers: new Map(response.headers), body: json }
  expect(description.findings(operationId, answer), about).toEqual([])
  expect([response.headers.get('content-type'), response.headers.get('x-request-id')], about).toEqual([
    'application/json',
    'strict',
  ])
  rejectDuplicates(json)
  const body = JSON.parse(json) as { readonly allow?: unknown; readonly evaluations?: unknown }
  rejectContradictions(body, about)
  if (each.length !== undefined) expect(body.allow ?? body.evaluations, about).toHaveLength(each.length)
  // The service generates a request id if the request has an empty one.
  const unnamed = await send(client, each, '')
  await unnamed.arrayBuffer()
  expect(unnamed.headers.get('x-request-id'), about).toMatch(UUID)
}

test('the strict client rejects duplicate members', () => {
  expect(() => rejectDuplicates('{"a":{"b":1},"\\u0061":2}')).toThrow(/more than one member/)
  rejectDuplicates('{"a":{"a":["a",{"a":"{\\"a\\":1,"}]},"b":"a"}')
})

test('every decision endpoint has a case in this file', () => {
  const isDecision = ({ access, family, isRead }: (typeof routes)[number]): boolean =>
    access === 'environment' && family !== 'management' && isRead
  const paths = routes
    .filter(isDecision)
    .map(({ path }) => path)
    .filter(path => !UPDATE_TRIGGERS.includes(path))
  const covered = CASES.map(({ path }) => path.split('?', 1)[0])
  expect([...new Set(paths)].filter(path => !covered.includes(path))).toEqual([])
})

test.each([false, true])('a strict client accepts all responses with DEBUG_DECISIONS=%s', async hasDebug => {
  const client = await started(hasDebug)
  const { body } = await client.get<Record<string, unknown>>('/openapi.json')
  const description = new Description(body)
  for (const each of CASES) await expectStrict(client, description, each)
})
