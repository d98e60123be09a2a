/**
 * Attributes and context of a request, as conditions read them (conditions.md 4, 7 and 16): at every
 * endpoint, in native and AuthZEN checks, single and in lists.
 */
import { beforeAll, describe, expect, test } from 'vitest'
import { EVALUATION, EVALUATIONS } from '../../support/calls/access-requests.ts'
import { API_KEY, FACTS, SCHEMA, sharedService } from '#testing/processes/running-service.ts'

type Json = Readonly<Record<string, unknown>>

const verdict = await sharedService()

/** Conditions of a user set or resource set, by action. */
const OF_USER = {
  sales: { 'user.department': { equals: 'sales' } },
  mail: { 'user.email': { equals: 'kim@example.org' } },
  first: { 'user.first_name': { equals: 'Kim' } },
  last: { 'user.last_name': { equals: 'Lee' } },
  merged: {
    allOf: [{ 'user.address.city': { equals: 'Oslo' } }, { 'user.address.zip': { equals: '0150' } }],
  },
  rooted: { 'user.roles': { array_contains: 'root' } },
  homed: { 'user.tenants': { array_contains: 'default' } },
  named: { 'user.key': { equals: 'other-user' } },
  elsewhere: { 'tenant.key': { equals: 'elsewhere' } },
  suspended: { 'user.suspended': { exists: false } },
  ago: { 'server.time': { 'greater-than': '2026-01-01T00:00:00Z' } },
  dated: { 'server.time': { equals: 'never' } },
  from: { 'context.ip': { equals: '10.0.0.1' } },
  both: { allOf: [{ 'context.ip': { equals: '10.0.0.1' } }, { 'context.zone': { equals: 'office' } }] },
  forced: { 'context.action.force': { equals: true } },
  proto: { 'user.__proto__': { equals: 'p' } },
  member: { 'user.__proto__.admin': { equals: true } },
  inherited: { 'user.constructor': { exists: true } },
  dotted: { 'user.a.b': { equals: 1 } },
  large: { 'user.id': { equals: 9_007_199_254_740_992 } },
  'not-large': { 'user.id': { 'not-equals': 9_007_199_254_740_992 } },
  half: { 'user.half': { equals: '\ufffd' } },
} as const
const OF_RESOURCE = {
  open: { 'resource.state': { equals: 'open' } },
  typed: { 'resource.type': { equals: 'vault' } },
  kept: { 'resource.tenant': { equals: 'elsewhere' } },
  keyed: { 'resource.key': { equals: 'd9' } },
  identified: { 'resource.id': { equals: 'd9' } },
} as const
type Action = keyof typeof OF_USER | keyof typeof OF_RESOURCE | 'read'

beforeAll(async () => {
  const actions = [...Object.keys(OF_USER), ...Object.keys(OF_RESOURCE), 'read']
  await verdict.resource({
    key: 'document',
    actions: Object.fromEntries(actions.map(action => [action, {}])),
  })
  await verdict.tenantRole('reader', ['document:read'])
  await verdict.tenant('elsewhere')
  await verdict.done('POST', `${SCHEMA}/condition_sets`, { key: 'anybody', name: 'Anybody' })
  for (const [action, conditions] of Object.entries(OF_USER)) {
    await verdict.done('POST', `${SCHEMA}/condition_sets`, { key: action, name: action, conditions })
    await verdict.done('POST', `${FACTS}/set_rules`, rule(action, action, 'document'))
  }
  for (const [action, conditions] of Object.entries(OF_RESOURCE)) {
    await verdict.done('POST', `${SCHEMA}/condition_sets`, {
      key: action,
      name: action,
      type: 'resourceset',
      conditions,
    })
    await verdict.done('POST', `${FACTS}/set_rules`, rule('anybody', action, action))
  }
  const attributes = { department: 'sales', roles: ['root'], tenants: ['default'], key: 'other-user' }
  const address = { city: 'Bergen', zip: '0150' }
  await verdict.done('POST', `${FACTS}/users`, {
    key: 'stored',
    email: 'kim@example.org',
    attributes: { ...attributes, address },
  })
  await verdict.done('POST', `${FACTS}/users`, { key: 'reader' })
  await verdict.assign('reader', 'reader', 'default')
  await verdict.done('POST', `${FACTS}/resource_instances`, {
    resource: 'document',
    key: 'd1',
    tenant: 'default',
    attributes: { state: 'open', type: 'vault', tenant: 'elsewhere', key: 'd9', id: 'd9' },
  })
})

function rule(userSet: string, action: string, resourceSet: string): Json {
  return { user_set: userSet, permission: `document:${action}`, resource_set: resourceSet }
}

interface Query {
  readonly user?: string
  readonly key?: string
  readonly tenant?: string
  readonly ofUser?: Json | null
  readonly ofResource?: Json | null
  readonly context?: Json | null
}

function native(action: Action, query: Query): Json {
  const { user = 'unknown', key, tenant, ofUser, ofResource, context } = query
  return {
    user: { key: user, attributes: ofUser },
    action,
    resource: { type: 'document', key, tenant, attributes: ofResource },
    context,
  }
}

function authzen(action: Action, query: Query): Json {
  const { user = 'unknown', key, tenant, ofUser, ofResource, context } = query
  const properties = tenant === undefined ? ofResource : { ...ofResource, tenant }
  return {
    subject: { type: 'user', id: user, properties: ofUser },
    action: { name: action },
    resource: { type: 'document', id: key, properties },
    context,
  }
}

async function post(path: string, text: string): Promise<{ status: number; body: unknown }> {
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
  const answer = await fetch(verdict.address + path, { method: 'POST', headers, body: text })
  const body = await answer.text()
  return { status: answer.status, body: body.startsWith('{') ? (JSON.parse(body) as unknown) : body }
}

/** Escapes member names, so that the byte readers leave the text to the JSON parser. */
const escaped = (text: string) =>
  text.replace('"user"', String.raw`"us\u0065r"`).replace('"subject"', String.raw`"subj\u0065ct"`)

/** Decisions of all endpoints for a native and an AuthZEN check, by the byte readers and by the parser. */
async function everywhere(texts: {
  readonly native?: string
  readonly authzen?: string
}): Promise<Readonly<Record<string, unknown>>> {
  const answers: Record<string, unknown> = {}
  for (const [how, write] of [
    ['from bytes', (text: string) => text],
    ['parsed', escaped],
  ] as const) {
    const decide = async (path: string, text: string, read: (body: never) => unknown) => {
      const { status, body } = await post(path, write(text))
      answers[`${path} ${how}`] = status === 200 ? read(body as never) : status
    }
    if (texts.native !== undefined) {
      const { native: text } = texts
      await decide('/allowed', text, (body: Allowed) => body.allow)
      await decide('/allowed/explain', text, (body: Allowed) => body.allow)
      await decide('/allowed/bulk', `[${text},${text}]`, ({ allow }: { allow: Allowed[] }) => {
        expect(allow[0]).toEqual(allow[1])
        return allow[0]!.allow
      })
    }
    if (texts.authzen !== undefined) {
      const { authzen: text } = texts
      await decide(EVALUATION, text, (body: Decision) => body.decision)
      await decide(EVALUATIONS, `{"evaluations":[${text}]}`, (body: { evaluations: [Decision] }) => {
        const [one] = body.evaluations
        return one.context?.error.status ?? one.decision
      })
    }
  }
  return answers
}

interface Allowed {
  readonly allow: boolean
}

interface Decision {
  readonly decision: boolean
  readonly context?: { readonly error: { readonly status: number } }
}

/** Returns the decision, after verifying that it is the same at all endpoints. */
async function decided(action: Action, query: Query = {}): Promise<unknown> {
  const [nativeText, authzenText] = [native, authzen].map(write => JSON.stringify(write(action, query)))
  return sameOf(await everywhere({ native: nativeText!, authzen: authzenText! }))
}

async function expectDecided(rows: readonly (readonly [Action, Query, boolean])[]): Promise<void> {
  for (const [action, query, isAllowed] of rows)
    expect(await decided(action, query), `${action} ${JSON.stringify(query)}`).toBe(isAllowed)
}

function sameOf(answers: Readonly<Record<string, unknown>>): unknown {
  const [first] = Object.values(answers)
  expect(answers).toEqual(Object.fromEntries(Object.keys(answers).map(place => [place, first])))
  return first
}

describe('request attributes', () => {
  test('have precedence over stored attributes, which are used if the request has none', async () => {
    await expectDecided([
      ['sales', {}, false],
      ['sales', { user: 'stored' }, true],
      ['sales', { ofUser: { department: 'sales' } }, true],
      ['sales', { user: 'stored', ofUser: { department: 'legal' } }, false],
      ['sales', { user: 'stored', ofUser: { department: null } }, false],
      ['sales', { user: 'stored', ofUser: {} }, true],
      ['sales', { user: 'stored', ofUser: null }, true],
      ['open', { key: 'd1' }, true],
      ['open', { key: 'd1', ofResource: { state: 'closed' } }, false],
      ['open', { key: 'unknown', ofResource: { state: 'open' } }, true],
      ['open', { ofResource: { state: 'open' } }, true],
      // Objects are merged member by member.
      ['merged', { user: 'stored' }, false],
      ['merged', { user: 'stored', ofUser: { address: { city: 'Oslo' } } }, true],
      ['merged', { user: 'stored', ofUser: { address: 'Oslo' } }, false],
      // The id of a resource is its key unless the request contains another id.
      ['identified', { key: 'd9' }, true],
      ['identified', { key: 'd2', ofResource: { id: 'd9' } }, true],
      ['identified', { key: 'd9', ofResource: { id: 'd2' } }, false],
      ['suspended', {}, true],
      ['suspended', { ofUser: { suspended: null } }, false],
      ['from', { context: { ip: '10.0.0.1' } }, true],
      ['from', { context: { ip: '10.0.0.2' } }, false],
      ['from', { context: null }, false],
    ])
  })

  test('never replace computed attributes, and stored attributes never replace computed attributes either', async () => {
    const ofUser = { roles: ['root'], tenants: ['default'], key: 'other-user' }
    for (const action of ['rooted', 'homed', 'named'] as const) {
      for (const user of ['stored', 'unknown']) {
        expect(await decided(action, { user }), action).toBe(false)
        expect(await decided(action, { user, ofUser }), action).toBe(false)
      }
    }
    expect(await decided('homed', { user: 'reader' })).toBe(true)
    const ofResource = { type: 'vault', key: 'd9', id: 'd9' }
    for (const action of ['typed', 'kept', 'keyed'] as const) {
      expect(await decided(action, { key: 'd1' }), action).toBe(false)
      expect(await decided(action, { key: 'd1', ofResource }), action).toBe(false)
    }
    expect(
      await decided('elsewhere', { context: { tenant: { key: 'elsewhere' }, server: { time: 'never' } } }),
    ).toBe(false)
    expect(await decided('dated', { context: { time: 'never', server: { time: 'never' } } })).toBe(false)
    expect(await decided('ago')).toBe(true)
    // In a native check, `tenant` is an ordinary attribute. In AuthZEN, it names the tenant of the resource.
    const kept = JSON.stringify(native('kept', { ofResource: { tenant: 'elsewhere' } }))
    expect((await post('/allowed', kept)).body).toMatchObject({ allow: false })
  })
})

describe('a native check', () => {
  const check = async (action: Action, more: { user?: Json; resource?: Json; context?: Json }) => {
    const body = {
      user: { key: 'unknown', ...more.user },
      action,
      resource: { type: 'document', ...more.resource },
      ...(more.context && { context: more.context }),
    }
    return sameOf(await everywhere({ native: JSON.stringify(body) }))
  }

  test('has fields for the email address and names, which override attributes unless they are null', async () => {
    const [kim, other] = ['kim@example.org', 'other@example.org']
    for (const [action, user, isAllowed] of [
      ['mail', { email: kim }, true],
      ['mail', { key: 'stored' }, true],
      ['mail', { key: 'stored', email: other }, false],
      ['mail', { key: 'stored', email: null }, true],
      ['mail', { attributes: { email: kim } }, true],
      ['mail', { email: other, attributes: { email: kim } }, false],
      ['mail', { email: null, attributes: { email: kim } }, true],
      ['first', { first_name: 'Kim' }, true],
      ['first', { firstName: 'Kim' }, true],
      ['last', { last_name: 'Lee' }, true],
      ['last', { lastName: 'Lee' }, true],
    ] as const) {
      expect(await check(action, { user }), JSON.stringify(user)).toBe(isAllowed)
    }
  })

  test('merges the context of its resource into its own context, which has precedence', async () => {
    const [here, there, zone] = [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }, { zone: 'office' }]
    expect(await check('from', { resource: { context: here } })).toBe(true)
    expect(await check('from', { resource: { context: here }, context: there })).toBe(false)
    expect(await check('both', { resource: { context: zone }, context: here })).toBe(true)
  })
})

describe('an AuthZEN evaluation', () => {
  const both = async (body: Json) => sameOf(await everywhere({ authzen: JSON.stringify(body) }))

  test('has the properties of its action in `context.action`', async () => {
    const evaluate = (properties: Json | null, context?: Json) =>
      both({ ...authzen('forced', {}), action: { name: 'forced', properties }, context })
    expect(await evaluate({ force: true })).toBe(true)
    expect(await evaluate({ force: false })).toBe(false)
    expect(await evaluate(null)).toBe(false)
    expect(await evaluate(null, { action: { force: true } })).toBe(true)
    expect(await evaluate({ other: 1 }, { action: { force: true } })).toBe(true)
    expect(await evaluate({ force: false }, { action: { force: true } })).toBe(false)
  })

  test('has its tenant in the properties of the resource, where conditions can also read it', async () => {
    expect(await both(authzen('kept', { ofResource: { tenant: 'elsewhere' } }))).toBe(true)
    expect(await both(authzen('elsewhere', { ofResource: { tenant: 'elsewhere' } }))).toBe(true)
    // Rules allow nothing in a tenant that does not exist.
    expect(await both(authzen('ago', { ofResource: { tenant: 'nowhere' } }))).toBe(false)
  })

  test('inherits only whole members from a batch, and never merges them with its own members', async () => {
    const { subject, action, resource } = authzen('both', {}) as Record<string, Json>
    const context = { ip: '10.0.0.1', zone: 'office' }
    const items = [
      {},
      { context: { ip: '10.0.0.1' } },
      { context: null },
      { context: {} },
      { action: { name: 'sales' } },
      { action: { name: 'sales' }, subject: { type: 'user', id: 'unknown' } },
      { action: { name: 'open' } },
      { action: { name: 'open' }, resource: { type: 'document' } },
    ]
    const expected = [true, false, true, false, true, false, true, false]
    const defaults = {
      subject: { ...subject, properties: { department: 'sales' } },
      action,
      resource: { ...resource, properties: { state: 'open' } },
      context,
    }
    for (const text of [
      JSON.stringify({ ...defaults, evaluations: items }),
      JSON.stringify({ evaluations: items, ...defaults }),
      escaped(JSON.stringify({ ...defaults, evaluations: items })),
    ]) {
      // The second request uses templates that the readers learned from the first one.
      for (let times = 0; times < 2; times++) {
        const { body } = await post(EVALUATIONS, text)
        expect(body).toEqual({ evaluations: expected.map(decision => ({ decision })) })
      }
    }
  })

  test.each([
    ['deny_on_first_deny', ['10.0.0.1', '10.0.0.1', 'x', '10.0.0.1'], [true, true, false]],
    ['permit_on_first_permit', ['x', '10.0.0.1', 'x'], [false, true]],
  ])('uses its own context in a batch with the semantic %s', async (semantic, ips, expected) => {
    const body = {
      ...authzen('from', {}),
      evaluations: ips.map(ip => ({ context: { ip } })),
      options: { evaluations_semantic: semantic },
    }
    expect((await post(EVALUATIONS, JSON.stringify(body))).body).toEqual({
      evaluations: expected.map(decision => ({ decision })),
    })
  })
})

const COUNT = 6_000

test('items at the end of a long batch inherit the context of their batch', async () => {
  const readers = Array.from({ length: COUNT }, () => ({
    action: { name: 'read' },
    subject: { type: 'user', id: 'reader' },
  }))
  const body = (ip: string) =>
    JSON.stringify({ ...authzen('from', { context: { ip } }), evaluations: [...readers, {}, {}] })
  const ips = ['10.0.0.1', '10.0.0.2', '10.0.0.1', '10.0.0.3', '10.0.0.1']
  const answers = await Promise.all(ips.map(ip => post(EVALUATIONS, body(ip))))
  const last = answers.map(answer =>
    (answer.body as { evaluations: { decision: boolean }[] }).evaluations.at(-1),
  )
  expect(last).toEqual(ips.map(ip => ({ decision: ip === '10.0.0.1' })))
})

test('attributes with unusual names and numbers are read as JSON defines them, and never change a prototype', async () => {
  const text = (write: typeof native, action: Action, attributes: string) =>
    JSON.stringify(write(action, { ofUser: { it: 1 } })).replace('{"it":1}', attributes)
  for (const [action, attributes, expected] of [
    ['proto', '{"__proto__":"p"}', true],
    ['member', '{"__proto__":{"admin":true}}', true],
    ['sales', '{"__proto__":{"department":"sales"}}', false],
    ['inherited', '{"other":1}', false],
    ['inherited', '{"constructor":1}', true],
    ['dotted', '{"a":{"b":1}}', true],
    ['dotted', '{"a.b":1}', true],
    ['dotted', '{"a.b":2,"a":{"b":1}}', false],
    ['dotted', '{"a":{"b":1},"a.b":1}', true],
    ['sales', '{"department":"legal","department":"sales"}', true],
    ['sales', '{"department":"sales","department":"legal"}', false],
    ['sales', String.raw`{"d\u0065partment":"s\u0061les"}`, true],
    ['large', '{"id":9007199254740992}', true],
    ['large', '{"id":9007199254740993}', false],
    ['not-large', '{"id":9007199254740993}', false],
    ['not-large', '{"id":9007199254740994}', true],
    ['large', '{"id":1e400}', false],
    ['not-large', '{"id":1e400}', false],
    ['half', String.raw`{"half":"\ufffd"}`, true],
    ['half', String.raw`{"half":"\ud83d\ude00"}`, false],
    // A body with an unpaired surrogate is rejected.
    ['half', String.raw`{"half":"\ud800"}`, 400],
  ] as const) {
    const texts = { native: text(native, action, attributes), authzen: text(authzen, action, attributes) }
    expect(sameOf(await everywhere(texts)), attributes).toBe(expected)
  }
})
