/**
 * What a request says of user, resource and surroundings, where conditions read it (conditions, sections 4, 7 and 16): at every place that
 * decides, in both dialects, alone and among thousands.
 */
import { beforeAll, describe, expect, test } from 'vitest'
import { EVALUATION, EVALUATIONS } from '../support/access-requests.ts'
import { SENT_ATTRIBUTES_BYTES_MAX, SENT_ATTRIBUTES_DEPTH_MAX } from '#model/limits.ts'
import { API_KEY, FACTS, SCHEMA, sharedService } from '#testing/processes/running-service.ts'

type Json = Readonly<Record<string, unknown>>

const verdict = await sharedService()

/** By action what a user set, or a resource set, must say. */
const OF_USER = {
  sales: { 'user.department': { equals: 'sales' } },
  mail: { 'user.email': { equals: 'kim@example.org' } },
  first: { 'user.first_name': { equals: 'Kim' } },
  last: { 'user.last_name': { equals: 'Lee' } },
  city: { 'user.address.city': { equals: 'Oslo' } },
  merged: {
    allOf: [{ 'user.address.city': { equals: 'Oslo' } }, { 'user.address.zip': { equals: '0150' } }],
  },
  rooted: { 'user.roles': { array_contains: 'root' } },
  homed: { 'user.tenants': { array_contains: 'default' } },
  named: { 'user.key': { equals: 'somebody-else' } },
  elsewhere: { 'tenant.key': { equals: 'elsewhere' } },
  suspended: { 'user.suspended': { exists: false } },
  ago: { 'server.time': { 'greater-than': '2026-01-01T00:00:00Z' } },
  dated: { 'server.time': { equals: 'never' } },
  from: { 'context.ip': { equals: '10.0.0.1' } },
  nested: { 'context.device.os': { equals: 'x' } },
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
  await made(`${SCHEMA}/condition_sets`, { key: 'anybody', name: 'Anybody' })
  for (const [action, conditions] of Object.entries(OF_USER)) {
    await made(`${SCHEMA}/condition_sets`, { key: action, name: action, conditions })
    await made(`${FACTS}/set_rules`, rule(action, action, 'document'))
  }
  for (const [action, conditions] of Object.entries(OF_RESOURCE)) {
    await made(`${SCHEMA}/condition_sets`, { key: action, name: action, type: 'resourceset', conditions })
    await made(`${FACTS}/set_rules`, rule('anybody', action, action))
  }
  const attributes = { department: 'sales', roles: ['root'], tenants: ['default'], key: 'somebody-else' }
  const address = { city: 'Bergen', zip: '0150' }
  await made(`${FACTS}/users`, {
    key: 'stored',
    email: 'kim@example.org',
    attributes: { ...attributes, address },
  })
  await made(`${FACTS}/users`, { key: 'reader' })
  await verdict.assign('reader', 'reader', 'default')
  await made(`${FACTS}/resource_instances`, {
    resource: 'document',
    key: 'd1',
    tenant: 'default',
    attributes: { state: 'open', type: 'vault', tenant: 'elsewhere', key: 'd9', id: 'd9' },
  })
})

function rule(userSet: string, action: string, resourceSet: string): Json {
  return { user_set: userSet, permission: `document:${action}`, resource_set: resourceSet }
}

async function made(path: string, body: Json): Promise<void> {
  const answer = await verdict.post(path, body)
  expect(answer.status, `${path} ${JSON.stringify(body)}: ${JSON.stringify(answer.body)}`).toBe(200)
}

interface Question {
  readonly user?: string
  readonly key?: string
  readonly tenant?: string
  readonly ofUser?: Json | null
  readonly ofResource?: Json | null
  readonly context?: Json | null
}

function native(
  action: Action,
  { user = 'nobody', key, tenant, ofUser, ofResource, context }: Question,
): Json {
  return {
    user: { key: user, attributes: ofUser },
    action,
    resource: { type: 'document', key, tenant, attributes: ofResource },
    context,
  }
}

function authzen(
  action: Action,
  { user = 'nobody', key, tenant, ofUser, ofResource, context }: Question,
): Json {
  const properties = tenant === undefined ? ofResource : { ...ofResource, tenant }
  return {
    subject: { type: 'user', id: user, properties: ofUser },
    action: { name: action },
    resource: { type: 'document', id: key, properties },
    context,
  }
}

interface Answered {
  readonly status: number
  readonly body: unknown
}

async function post(path: string, text: string): Promise<Answered> {
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
  const answer = await fetch(verdict.address + path, { method: 'POST', headers, body: text })
  const body = await answer.text()
  return { status: answer.status, body: body.startsWith('{') ? (JSON.parse(body) as unknown) : body }
}

/** Left to the parser: no reader of bytes knows a field by a name with an escape. */
const escaped = (text: string) =>
  text.replace('"user"', String.raw`"us\u0065r"`).replace('"subject"', String.raw`"subj\u0065ct"`)

/** What is answered to texts of a question in both dialects, at each place; from bytes and parsed, alone and in lists. */
async function everywhere(
  nativeText: string,
  authzenText: string,
): Promise<Readonly<Record<string, unknown>>> {
  const answers: Record<string, unknown> = {}
  for (const [how, write] of [
    ['from bytes', (text: string) => text],
    ['parsed', escaped],
  ] as const) {
    const told = async (path: string, text: string, read: (body: never) => unknown) => {
      const { status, body } = await post(path, write(text))
      answers[`${path} ${how}`] = status === 200 ? read(body as never) : status
    }
    await told('/allowed', nativeText, (body: { allow: boolean }) => body.allow)
    await told('/allowed/explain', nativeText, (body: { allow: boolean }) => body.allow)
    await told('/allowed/bulk', `[${nativeText},${nativeText}]`, (body: { allow: { allow: boolean }[] }) => {
      expect(body.allow[0]).toEqual(body.allow[1])
      return body.allow[0]!.allow
    })
    await told(EVALUATION, authzenText, (body: { decision: boolean }) => body.decision)
    await told(
      EVALUATIONS,
      `{"evaluations":[${authzenText}]}`,
      (body: { evaluations: { decision: boolean }[] }) => {
        const [one] = body.evaluations as [{ decision: boolean; context?: { error: { status: number } } }]
        return one.context?.error.status ?? one.decision
      },
    )
  }
  return answers
}

/** The answer, which is the same everywhere. */
async function decided(action: Action, question: Question = {}): Promise<unknown> {
  const answers = await everywhere(
    JSON.stringify(native(action, question)),
    JSON.stringify(authzen(action, question)),
  )
  return sameOf(answers)
}

function sameOf(answers: Readonly<Record<string, unknown>>): unknown {
  const [first] = Object.values(answers)
  expect(answers).toEqual(Object.fromEntries(Object.keys(answers).map(place => [place, first])))
  return first
}

describe('attributes that are sent', () => {
  test('count before what is stored, which counts where nothing is sent', async () => {
    expect(await decided('sales')).toBe(false)
    expect(await decided('sales', { user: 'stored' })).toBe(true)
    expect(await decided('sales', { ofUser: { department: 'sales' } })).toBe(true)
    expect(await decided('sales', { user: 'stored', ofUser: { department: 'legal' } })).toBe(false)
    expect(await decided('sales', { user: 'stored', ofUser: { department: null } })).toBe(false)
    expect(await decided('sales', { user: 'stored', ofUser: {} })).toBe(true)
    expect(await decided('sales', { user: 'stored', ofUser: null })).toBe(true)
    expect(await decided('open', { key: 'd1' })).toBe(true)
    expect(await decided('open', { key: 'd1', ofResource: { state: 'closed' } })).toBe(false)
    expect(await decided('open', { key: 'unknown', ofResource: { state: 'open' } })).toBe(true)
    expect(await decided('open', { ofResource: { state: 'open' } })).toBe(true)
  })

  test('are merged with objects that are stored, member by member', async () => {
    expect(await decided('merged', { user: 'stored' })).toBe(false)
    expect(await decided('merged', { user: 'stored', ofUser: { address: { city: 'Oslo' } } })).toBe(true)
    expect(await decided('merged', { user: 'stored', ofUser: { address: 'Oslo' } })).toBe(false)
    expect(await decided('city', { ofUser: { address: { city: 'Oslo' } } })).toBe(true)
  })

  test('never say what the service knows itself, nor does what is stored', async () => {
    const lies = { roles: ['root'], tenants: ['default'], key: 'somebody-else' }
    for (const action of ['rooted', 'homed', 'named'] as const) {
      for (const user of ['stored', 'nobody']) {
        expect(await decided(action, { user }), action).toBe(false)
        expect(await decided(action, { user, ofUser: lies }), action).toBe(false)
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
    // A native question may send what an AuthZEN resource says of its tenant: an attribute like any other.
    const { body } = await post(
      '/allowed',
      JSON.stringify(native('kept', { ofResource: { tenant: 'elsewhere' } })),
    )
    expect(body).toMatchObject({ allow: false })
  })

  test('say the id of a resource, which is its key where nobody does', async () => {
    expect(await decided('identified', { key: 'd9' })).toBe(true)
    expect(await decided('identified', { key: 'd2' })).toBe(false)
    expect(await decided('identified', { key: 'd2', ofResource: { id: 'd9' } })).toBe(true)
    expect(await decided('identified', { key: 'd9', ofResource: { id: 'd2' } })).toBe(false)
  })

  test('take away what a set wants to be absent', async () => {
    expect(await decided('suspended')).toBe(true)
    expect(await decided('suspended', { ofUser: { suspended: false } })).toBe(false)
    expect(await decided('suspended', { ofUser: { suspended: null } })).toBe(false)
  })

  test('are asked for in the context', async () => {
    expect(await decided('from', { context: { ip: '10.0.0.1' } })).toBe(true)
    expect(await decided('from', { context: { ip: '10.0.0.2' } })).toBe(false)
    expect(await decided('from', { context: null })).toBe(false)
    expect(await decided('nested', { context: { device: { os: 'x' } } })).toBe(true)
  })
})

describe('a native question', () => {
  const asked = async (action: Action, more: { user?: Json; resource?: Json; context?: Json }) => {
    const body = {
      user: { key: 'nobody', ...more.user },
      action,
      resource: { type: 'document', ...more.resource },
      ...(more.context && { context: more.context }),
    }
    const text = JSON.stringify(body)
    const answers = await Promise.all([
      post('/allowed', text),
      post('/allowed', escaped(text)),
      post('/allowed/explain', text),
    ])
    const bulks = await Promise.all([
      post('/allowed/bulk', `[${text}]`),
      post('/allowed/bulk', escaped(`[${text}]`)),
    ])
    const allows = [
      ...answers.map(answer => (answer.body as { allow: boolean }).allow),
      ...bulks.map(answer => (answer.body as { allow: { allow: boolean }[] }).allow[0]!.allow),
    ]
    expect(new Set(allows).size).toBe(1)
    return allows[0]
  }

  test('says e-mail address and names in fields, which win over attributes of that name unless they are null', async () => {
    expect(await asked('mail', { user: { email: 'kim@example.org' } })).toBe(true)
    expect(await asked('mail', { user: { key: 'stored' } })).toBe(true)
    expect(await asked('mail', { user: { key: 'stored', email: 'other@example.org' } })).toBe(false)
    expect(await asked('mail', { user: { key: 'stored', email: null } })).toBe(true)
    expect(await asked('mail', { user: { attributes: { email: 'kim@example.org' } } })).toBe(true)
    expect(
      await asked('mail', { user: { email: 'other@example.org', attributes: { email: 'kim@example.org' } } }),
    ).toBe(false)
    expect(await asked('mail', { user: { email: null, attributes: { email: 'kim@example.org' } } })).toBe(
      true,
    )
    expect(await asked('first', { user: { first_name: 'Kim' } })).toBe(true)
    expect(await asked('first', { user: { firstName: 'Kim' } })).toBe(true)
    expect(await asked('last', { user: { last_name: 'Lee' } })).toBe(true)
    expect(await asked('last', { user: { lastName: 'Lee' } })).toBe(true)
  })

  test('has the context of its resource below its own', async () => {
    expect(await asked('from', { resource: { context: { ip: '10.0.0.1' } } })).toBe(true)
    expect(
      await asked('from', { resource: { context: { ip: '10.0.0.1' } }, context: { ip: '10.0.0.2' } }),
    ).toBe(false)
    expect(
      await asked('both', { resource: { context: { zone: 'office' } }, context: { ip: '10.0.0.1' } }),
    ).toBe(true)
  })
})

describe('an AuthZEN evaluation', () => {
  const both = async (body: Json) => {
    const text = JSON.stringify(body)
    const [one, list] = [await post(EVALUATION, text), await post(EVALUATIONS, `{"evaluations":[${text}]}`)]
    expect(list.body).toEqual({ evaluations: [one.body] })
    return (one.body as { decision: boolean }).decision
  }

  test('says properties of its action as context.action', async () => {
    const asked = (properties: Json | null, context?: Json) =>
      both({ ...authzen('forced', {}), action: { name: 'forced', properties }, context })
    expect(await asked({ force: true })).toBe(true)
    expect(await asked({ force: false })).toBe(false)
    expect(await asked(null)).toBe(false)
    expect(await asked(null, { action: { force: true } })).toBe(true)
    expect(await asked({ other: 1 }, { action: { force: true } })).toBe(true)
    expect(await asked({ force: false }, { action: { force: true } })).toBe(false)
  })

  test('says e-mail address and names among the properties of its subject', async () => {
    const properties = { email: 'kim@example.org' }
    expect(await both({ ...authzen('mail', {}), subject: { type: 'user', id: 'nobody', properties } })).toBe(
      true,
    )
  })

  test('names the tenant in the properties of its resource, and that is an attribute as well', async () => {
    expect(await both(authzen('kept', { ofResource: { tenant: 'elsewhere' } }))).toBe(true)
    expect(await both(authzen('elsewhere', { ofResource: { tenant: 'elsewhere' } }))).toBe(true)
    // In a tenant that is not stored nothing is allowed by rules.
    expect(await both(authzen('ago', { ofResource: { tenant: 'nowhere' } }))).toBe(false)
  })

  test('inherits whole members in a batch, and its own are never mixed with them', async () => {
    const { subject, action, resource } = authzen('both', {}) as Record<string, Json>
    const context = { ip: '10.0.0.1', zone: 'office' }
    const items = [
      {},
      { context: { ip: '10.0.0.1' } },
      { context: null },
      { context: {} },
      { action: { name: 'sales' } },
      { action: { name: 'sales' }, subject: { type: 'user', id: 'nobody' } },
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
      // The second time templates are known.
      for (let times = 0; times < 2; times++) {
        const { body } = await post(EVALUATIONS, text)
        expect(body).toEqual({ evaluations: expected.map(decision => ({ decision })) })
      }
    }
  })

  test.each([
    ['deny_on_first_deny', ['10.0.0.1', '10.0.0.1', 'x', '10.0.0.1'], [true, true, false]],
    ['permit_on_first_permit', ['x', '10.0.0.1', 'x'], [false, true]],
  ])('stops by %s at what its own context decides', async (semantic, ips, expected) => {
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

describe('a list', () => {
  /** Neighbours differ in what they say. */
  const COUNT = 6_000
  const isIn = (index: number) => (index * 7) % 5 < 2
  const questions = (write: typeof native) =>
    Array.from({ length: COUNT }, (_, index) =>
      index % 3 === 0
        ? write('read', { user: 'reader', ofUser: { department: `d${index}` } })
        : write('sales', {
            user: `u${index % 11}`,
            ofUser: { department: isIn(index) ? 'sales' : 'legal', note: `${index}` },
            context: { ip: `10.0.0.${index % 4}` },
          }),
    )
  const expected = Array.from({ length: COUNT }, (_, index) => index % 3 === 0 || isIn(index))

  test.each([
    ['from bytes', (text: string) => text],
    ['parsed', escaped],
  ])('of thousands is decided in order, each by its own attributes, %s', async (_how, write) => {
    const bulk = write(JSON.stringify(questions(native)))
    const batch = write(JSON.stringify({ evaluations: questions(authzen) }))
    // Side by side: what is decided between other requests does not read their bodies.
    const answers = await Promise.all([bulk, bulk, bulk].map(text => post('/allowed/bulk', text)))
    for (const { body } of answers) {
      expect((body as { allow: { allow: boolean }[] }).allow.map(({ allow }) => allow)).toEqual(expected)
    }
    for (const { body } of await Promise.all([batch, batch].map(text => post(EVALUATIONS, text)))) {
      const { evaluations } = body as { evaluations: { decision: boolean }[] }
      expect(evaluations.map(({ decision }) => decision)).toEqual(expected)
    }
  })

  test('inherits what it is decided by long after it was read', async () => {
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
})

describe('attributes of a hostile caller', () => {
  test('are read as JSON has them: no prototype is reached, and no name means more than it says', async () => {
    const text = (write: typeof native, action: Action, attributes: string) =>
      JSON.stringify(write(action, { ofUser: { it: 1 } })).replace('{"it":1}', attributes)
    const says = async (action: Action, attributes: string) =>
      sameOf(await everywhere(text(native, action, attributes), text(authzen, action, attributes)))
    expect(await says('proto', '{"__proto__":"p"}')).toBe(true)
    expect(await says('member', '{"__proto__":{"admin":true}}')).toBe(true)
    expect(await says('sales', '{"__proto__":{"department":"sales"}}')).toBe(false)
    expect(await says('inherited', '{"other":1}')).toBe(false)
    expect(await says('inherited', '{"constructor":1}')).toBe(true)
    expect(await says('dotted', '{"a":{"b":1}}')).toBe(true)
    expect(await says('dotted', '{"a.b":1}')).toBe(true)
    expect(await says('dotted', '{"a.b":2,"a":{"b":1}}')).toBe(false)
    expect(await says('dotted', '{"a":{"b":1},"a.b":1}')).toBe(true)
    expect(await says('sales', '{"department":"legal","department":"sales"}')).toBe(true)
    expect(await says('sales', '{"department":"sales","department":"legal"}')).toBe(false)
    expect(await says('sales', String.raw`{"d\u0065partment":"s\u0061les"}`)).toBe(true)
    expect(await says('large', '{"id":9007199254740992}')).toBe(true)
    expect(await says('large', '{"id":9007199254740993}')).toBe(false)
    expect(await says('not-large', '{"id":9007199254740993}')).toBe(false)
    expect(await says('not-large', '{"id":9007199254740994}')).toBe(true)
    expect(await says('large', '{"id":1e400}')).toBe(false)
    expect(await says('not-large', '{"id":1e400}')).toBe(false)
    expect(await says('half', String.raw`{"half":"\ufffd"}`)).toBe(true)
    expect(await says('half', String.raw`{"half":"\ud83d\ude00"}`)).toBe(false)
    // Half a pair is no text: a body with one is refused, as everywhere.
    expect(await says('half', String.raw`{"half":"\ud800"}`)).toBe(400)
  })

  /** Attributes of exactly so many bytes as JSON, wide or long. */
  const long = (bytes: number) => {
    const frame = JSON.stringify({ department: 'sales', more: '' }).length
    return { department: 'sales', more: 'x'.repeat(bytes - frame) }
  }
  const deep = (levels: number): Json => {
    let value: Json = {}
    for (let level = 2; level < levels; level++) value = { in: value }
    return { department: 'sales', more: value }
  }

  test('have a ceiling in bytes, which counts all that a question says', async () => {
    expect(await decided('sales', { ofUser: long(SENT_ATTRIBUTES_BYTES_MAX) })).toBe(true)
    expect(await decided('sales', { ofUser: long(SENT_ATTRIBUTES_BYTES_MAX + 1) })).toBe(400)
    const half = SENT_ATTRIBUTES_BYTES_MAX / 2
    const question = (bytes: number) => ({
      ofUser: long(half),
      ofResource: long(half - 100),
      context: long(bytes),
    })
    expect(await decided('sales', question(100))).toBe(true)
    expect(await decided('sales', question(101))).toBe(400)
    const wide = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`n${index}`, index]))
    expect(await decided('sales', { ofUser: wide })).toBe(400)
  })

  test('have a ceiling in levels', async () => {
    expect(await decided('sales', { ofUser: deep(SENT_ATTRIBUTES_DEPTH_MAX) })).toBe(true)
    expect(await decided('sales', { ofUser: deep(SENT_ATTRIBUTES_DEPTH_MAX + 1) })).toBe(400)
    expect(await decided('sales', { ofUser: { department: 'sales' }, context: deep(1_000) })).toBe(400)
  })

  test('break no ceiling where no condition asks for them', async () => {
    const ofUser = long(2 * SENT_ATTRIBUTES_BYTES_MAX)
    for (const [path, write] of [
      ['/allowed', native],
      [EVALUATION, authzen],
    ] as const) {
      const answer = await post(path, JSON.stringify(write('read', { user: 'reader', ofUser })))
      expect([answer.status, JSON.stringify(answer.body)]).toEqual([200, expect.stringContaining('true')])
    }
  })

  test('fail the item of a batch that has them, and no other; a bulk fails as a whole', async () => {
    const tooLong = { ofUser: long(SENT_ATTRIBUTES_BYTES_MAX + 1) }
    const good = { ofUser: { department: 'sales' } }
    const evaluations = [good, tooLong, good].map(one => authzen('sales', one))
    const { status, body } = await post(EVALUATIONS, JSON.stringify({ evaluations }))
    expect([status, body]).toEqual([
      200,
      {
        evaluations: [
          { decision: true },
          { decision: false, context: { error: { status: 400, message: expect.stringContaining('65536') } } },
          { decision: true },
        ],
      },
    ])
    const bulk = await post(
      '/allowed/bulk',
      JSON.stringify([good, tooLong, good].map(one => native('sales', one))),
    )
    expect([bulk.status, bulk.body]).toEqual([400, expect.objectContaining({ code: 400 })])
  })
})
