/**
 * The responses of every decision endpoint, as a client reads them that takes nothing for granted: literal booleans, exactly as many
 * results as checks, no member that is missing, unknown, doubled or of another type, and the id of the request on every response.
 */
import { expect, test } from 'vitest'
import { freePort } from '#testing/processes/free-port.ts'
import { API_KEY, type Client, FACTS, SCHEMA, startedService } from '#testing/processes/running-service.ts'
import { mountedRoutes, routes, UPDATE_TRIGGERS } from '#testing/requests/routes.ts'

type Shape = (value: unknown, place: string) => void

function wrong(place: string, expected: string, value: unknown): never {
  throw new Error(`${place}: expected ${expected}, received ${JSON.stringify(value)}`)
}

const flag: Shape = (value, place) => {
  if (value !== true && value !== false) wrong(place, 'true or false', value)
}
const only =
  (wanted: unknown): Shape =>
  (value, place) => {
    if (value !== wanted) wrong(place, JSON.stringify(wanted), value)
  }
const text: Shape = (value, place) => {
  if (typeof value !== 'string' || value === '') wrong(place, 'a text', value)
}
const anyText: Shape = (value, place) => {
  if (typeof value !== 'string') wrong(place, 'a text, possibly empty', value)
}
const count: Shape = (value, place) => {
  if (!Number.isSafeInteger(value) || (value as number) < 0) wrong(place, 'a count', value)
}
const map =
  (each: Shape): Shape =>
  (value, place) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) wrong(place, 'an object', value)
    for (const [name, member] of Object.entries(value)) each(member, `${place}.${name}`)
  }
const anything: Shape = value => void value
const attributes = map(anything)
const list =
  (each: Shape, length: number | null = null): Shape =>
  (value, place) => {
    if (!Array.isArray(value) || (length !== null && value.length !== length))
      wrong(place, `a list of ${length ?? 'any number of'} items`, value)
    value.forEach((item, index) => each(item, `${place}.${index}`))
  }
/** A name that ends with ? may be absent; a member that is there is never null. */
const object =
  (members: Readonly<Record<string, Shape>>): Shape =>
  (value, place) => {
    map(anything)(value, place)
    const left = new Map(Object.entries(value as object))
    for (const [name, shape] of Object.entries(members)) {
      const bare = name.replace('?', '')
      if (left.has(bare)) shape(left.get(bare), `${place}.${bare}`)
      else if (bare === name) wrong(place, `the member ${name}`, value)
      left.delete(bare)
    }
    if (left.size > 0) wrong(place, `no member but ${Object.keys(members).join()}`, value)
  }

/** Refuses two members of one name in an object, which `JSON.parse` takes. The text is valid JSON. */
function refuseDoubled(json: string): void {
  const open: (Set<string> | null)[] = []
  const token = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g
  for (const [found, colon] of json.matchAll(token)) {
    if (found === '{') open.push(new Set())
    else if (found === '[') open.push(null)
    else if (found === '}' || found === ']') open.pop()
    else if (colon !== undefined) {
      const name = JSON.parse(found.slice(0, -colon.length)) as string
      const names = open.at(-1)!
      if (names.has(name)) wrong(name, 'one member of the name', json)
      names.add(name)
    }
  }
}

/** A decision and the same value again. */
const allowed: Shape = (value, place) => {
  object({ allow: flag, result: flag, 'debug?': attributes, 'query?': attributes })(value, place)
  const { allow, result } = value as { allow: boolean; result: boolean }
  if (allow !== result) wrong(place, 'allow and result to be alike', value)
}
const bulk = (length: number): Shape => object({ allow: list(allowed, length) })
const opa = (result: Shape): Shape => object({ result })
const decision = object({
  decision: flag,
  'context?': object({ error: object({ status: count, message: text }) }),
})
const tenant = object({ key: text, attributes })
const tenants = object({
  allowed_tenants: list(object({ allow: only(true), result: only(true), tenant })),
})
const permissions = map(
  object({
    'tenant?': object({ key: text, attributes }),
    'resource?': object({ key: text, type: text, attributes }),
    permissions: list(text),
    roles: list(text),
    'userset?': list(text),
    'resourceset?': list(text),
    'more?': flag,
  }),
)
const page = object({ next_token: anyText, count, 'total?': count })
/** Also with as many results as it says. */
const found = (each: Shape): Shape => {
  return (value, place) => {
    object({ page, results: list(each) })(value, place)
    const { page: said, results } = value as { page: { count: number }; results: unknown[] }
    if (said.count !== results.length) wrong(place, 'as many results as the page counts', value)
  }
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
  check('nobody', 'nothing', null),
  check('alice'),
  { ...check('alice', 'read', null), context: { a: [1, { b: null }] } },
  { ...check('übel', '"', 'ü'), user: { key: 'alice', attributes: { a: 'x' }, email: null } },
]
const many = (length: number) => Array.from({ length }, (_, index) => CHECKS[index % CHECKS.length]!)
const subject = { type: 'user', id: 'alice' }
const resource = { type: 'document', id: 'd1' }
const evaluation = { subject, action: { name: 'read' }, resource }
const input = { user: { key: 'alice' } }
const KONG = { request: { http: { method: 'GET', path: '/document/d1' } }, consumer: { username: 'alice' } }

interface Case {
  readonly path: string
  readonly shape: Shape
  /** Absent: a GET. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly statuses?: readonly number[]
}

const NGINX = {
  'permit-user-key': 'alice',
  'permit-tenant-id': 'acme',
  'permit-action': 'read',
  'permit-resource-type': 'document',
}
const evaluations = (semantic: string, length: number): Case => ({
  path: '/access/v1/evaluations',
  body: {
    ...evaluation,
    options: { evaluations_semantic: semantic },
    evaluations: [{}, { action: { name: 'write' } }, { action: 7 }, {}],
  },
  shape: object({ evaluations: list(decision, length) }),
})

const CASES: readonly Case[] = [
  ...CHECKS.map(body => ({ path: '/allowed', body, shape: allowed })),
  ...CHECKS.map(body => ({
    path: '/allowed/explain?full=true',
    body,
    shape: object({
      allow: flag,
      result: flag,
      debug: attributes,
      'rules?': list(attributes),
      'more?': flag,
    }),
  })),
  ...[0, 1, 2, 8, 50, 1_000].map(length => ({
    path: '/allowed/bulk',
    body: many(length),
    shape: bulk(length),
  })),
  ...[0, 1, 50].map(length => ({
    path: '/v1/data/permit/bulk',
    body: { input: many(length) },
    shape: opa(bulk(length)),
  })),
  {
    path: '/allowed_url',
    body: { ...input, http_method: 'GET', url: 'https://a.org/documents/d1', tenant: 'acme' },
    shape: allowed,
  },
  {
    path: '/allowed_url',
    body: { ...input, http_method: 'GET', url: 'https://a.org/nothing', tenant: 'acme' },
    shape: allowed,
  },
  { path: '/nginx_allowed', headers: NGINX, shape: allowed, statuses: [200, 403] },
  {
    path: '/nginx_allowed',
    headers: { ...NGINX, 'permit-user-key': 'nobody' },
    shape: allowed,
    statuses: [200, 403],
  },
  { path: '/nginx_allowed', body: {}, headers: NGINX, shape: allowed, statuses: [200, 403] },
  { path: '/kong', body: { input: KONG }, shape: opa(flag) },
  { path: '/kong', body: { input: { ...KONG, consumer: null } }, shape: opa(flag) },
  ...['/user-permissions', '/user-permissions?page=1&per_page=1'].flatMap(path => [
    { path, body: input, shape: permissions },
    { path, body: { user: { key: 'bob' } }, shape: permissions },
    { path, body: { user: { key: 'nobody' }, resource_types: ['document', '__tenant'] }, shape: permissions },
  ]),
  ...['read', 'nothing'].map(action => ({
    path: '/authorized_users',
    body: { action, resource: { type: 'document', key: 'd1', tenant: 'acme' } },
    shape: object({
      resource: text,
      tenant: text,
      users: map(list(object({ user: text, tenant: text, resource: text, role: text }))),
    }),
  })),
  { path: '/allowed/all-tenants', body: check('alice', 'read', null), shape: tenants },
  { path: '/allowed/all-tenants', body: check('nobody', 'read', null), shape: tenants },
  { path: '/allowed/all-tenants', body: check('bob', 'read', null), shape: tenants },
  { path: '/user-tenants', body: input, shape: list(tenant) },
  { path: '/user-tenants', body: { user: { key: 'nobody' } }, shape: list(tenant) },
  {
    path: '/local/role_assignments',
    shape: list(
      object({ user: text, role: text, tenant: text, 'resource_instance?': text, 'expires_at?': text }),
    ),
  },
  { path: '/access/v1/evaluation', body: evaluation, shape: decision },
  { path: '/access/v1/evaluation', body: { ...evaluation, action: { name: 'nothing' } }, shape: decision },
  { path: '/access/v1/evaluations', body: { ...evaluation, evaluations: [] }, shape: decision },
  evaluations('execute_all', 4),
  evaluations('deny_on_first_deny', 2),
  evaluations('permit_on_first_permit', 1),
  {
    path: '/access/v1/search/subject',
    body: { ...evaluation, subject: { type: 'user' } },
    shape: found(object({ type: text, id: text })),
  },
  {
    path: '/access/v1/search/resource',
    body: { ...evaluation, resource: { type: 'document' }, page: { limit: 1 } },
    shape: found(object({ type: text, id: text })),
  },
  { path: '/access/v1/search/action', body: { subject, resource }, shape: found(object({ name: text })) },
  { path: '/v1/data/permit/user_permissions', body: { input }, shape: opa(object({ permissions })) },
  { path: '/v1/data/permit/user_permissions/permissions', body: { input }, shape: opa(permissions) },
  { path: '/v1/data/permit/root', body: { input: check('alice') }, shape: opa(object({ allow: flag })) },
  { path: '/v1/data/permit/all_tenants', body: { input: check('alice', 'read', null) }, shape: opa(tenants) },
]

interface Service {
  readonly client: Client
  /** The second listener, which responds as an Open Policy Agent does. */
  readonly opa: string
}

async function started(hasDebug: boolean): Promise<Service> {
  const opaPort = await freePort()
  const client = await startedService({ hasDebug, opaPort })
  await client.createDocumentModel()
  await client.tenant('acme')
  await client.tenantRole('reader', ['document:read'])
  await client.users('alice', 'bob')
  await client.post(`${FACTS}/resource_instances`, { resource: 'document', key: 'd1', tenant: 'acme' })
  await client.assign('alice', 'reader', 'acme')
  const expires_at = '2090-01-01T00:00:00.000Z'
  await client.post(`${FACTS}/role_assignments`, {
    user: 'bob',
    role: 'viewer',
    resource_instance: 'document:d1',
    tenant: 'acme',
    expires_at,
  })
  // Some decisions also evaluate rules.
  await client.post(`${SCHEMA}/condition_sets`, {
    key: 'staff',
    name: 'Staff',
    type: 'userset',
    conditions: { 'user.key': { equals: 'bob' } },
  })
  const rule = { user_set: 'staff', permission: 'document:read', resource_set: 'document' }
  expect((await client.post(`${FACTS}/set_rules`, rule)).status).toBeLessThan(300)
  const mapping_rules = [
    { url: 'https://a.org/documents/{key}', http_method: 'get', resource: 'document', action: 'read' },
  ]
  await client.post(`${FACTS}/proxy_configs`, {
    key: 'proxy',
    name: 'Proxy',
    auth_mechanism: 'Bearer',
    secret: 's',
    mapping_rules,
  })
  return { client, opa: `http://127.0.0.1:${opaPort}` }
}

let requests = 0

async function send(service: Service, { path, body, headers = {} }: Omit<Case, 'shape'>): Promise<Response> {
  const id = `strict-${(requests += 1)}`
  const response = await fetch(
    `${path.includes('/v1/data/') ? service.opa : service.client.address}${path}`,
    {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${API_KEY}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        'x-request-id': id,
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    },
  )
  if (headers['x-request-id'] === undefined) expect(response.headers.get('x-request-id'), path).toBe(id)
  return response
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

async function expectStrict(service: Service, each: Case): Promise<void> {
  const about = `${each.path} ${JSON.stringify(each.body)?.slice(0, 200)}`
  const response = await send(service, each)
  const json = await response.text()
  expect(each.statuses ?? [200], `${about}: ${json}`).toContain(response.status)
  expect(response.headers.get('content-type'), about).toBe('application/json')
  refuseDoubled(json)
  each.shape(JSON.parse(json), about)
  // The service replaces an empty id.
  const unnamed = await send(service, { ...each, headers: { ...each.headers, 'x-request-id': '' } })
  await unnamed.arrayBuffer()
  expect(unnamed.headers.get('x-request-id'), about).toMatch(UUID)
}

test('the reader refuses what it is to refuse', () => {
  for (const value of [{ allow: 1, result: 1 }, { allow: 'true', result: true }, { allow: true }, null, []])
    expect(() => allowed(value, 'it')).toThrow(/expected/)
  for (const value of [
    { allow: true, result: false },
    { allow: true, result: true, more: 1 },
    { allow: true, result: true, debug: null },
  ])
    expect(() => allowed(value, 'it')).toThrow(/expected/)
  expect(() => bulk(2)({ allow: [{ allow: true, result: true }] }, 'it')).toThrow(/list of 2/)
  expect(() => refuseDoubled('{"a":{"b":1},"\\u0061":2}')).toThrow(/one member/)
  refuseDoubled('{"a":{"a":["a",{"a":"{\\"a\\":1,"}]},"b":"a"}')
})

test('every decision endpoint has a case', () => {
  const isDecision = ({ access, family, isRead }: (typeof routes)[number]): boolean =>
    access === 'environment' && family !== 'management' && isRead
  const paths = [...routes, ...mountedRoutes]
    .filter(isDecision)
    .map(({ path }) => path)
    .filter(path => !UPDATE_TRIGGERS.includes(path))
  const met = CASES.map(({ path }) => path.split('?', 1)[0])
  expect([...new Set(paths)].filter(path => !met.includes(path))).toEqual([])
})

test.each([
  ['without DEBUG_DECISIONS', false],
  ['with DEBUG_DECISIONS', true],
] as const)(
  'a service %s responds to every decision as a strict client reads it',
  async (_name, hasDebug) => {
    const service = await started(hasDebug)
    for (const each of CASES) await expectStrict(service, each)
  },
)

test('errors of every decision endpoint carry the id of the request and a message', async () => {
  const service = await started(false)
  for (const { path, body } of CASES) {
    const wrongs: readonly (readonly [number, Omit<Case, 'shape'>])[] = [
      [401, { path, body, headers: { authorization: 'Bearer nonsense' } }],
      [404, { path: `/nowhere${path}`, body }],
      ...(path === '/nginx_allowed' || body === undefined ? [] : [[405, { path }] as const]),
      ...(body === evaluation ? [[413, { path, body: ' '.repeat(6_000_000) }] as const] : []),
      ...(body === undefined || path === '/nginx_allowed' ? [] : [[400, { path, body: '{"a":' }] as const]),
    ]
    for (const [status, sent] of wrongs) {
      const response = await send(service, sent)
      const told = await response.text()
      expect(response.status, `${path}: ${told}`).toBe(status)
      if (response.headers.get('content-type') !== 'application/json') expect(told, path).toMatch(/\S/)
      else {
        refuseDoubled(told)
        map(anything)(JSON.parse(told), path)
      }
    }
  }
})
