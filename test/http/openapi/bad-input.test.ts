/**
 * Every route with every kind of bad input: status and body as specified (native.md 0.10, 0.13, 0.19 and
 * D-38), the request id in the response, a process that keeps running, and an unchanged store.
 */
import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { Compile } from 'typebox/compile'
import { afterAll, describe, expect, test } from 'vitest'
import type { Route } from '#http/routing/route.ts'
import { FACTS, ADMIN_KEY, type Answer, API_KEY, sharedService } from '#testing/processes/running-service.ts'
import { type Problem, refusal } from '../../support/calls/refusals.ts'
import { exampleCalls } from '../../support/calls/example-calls.ts'
import { SIGN_IN } from '../../support/calls/member-calls.ts'
import { REQUIRED_QUERIES, routes } from '#testing/requests/routes.ts'

const BODY_BYTES_MAX = 2_048
const verdict = await sharedService({ ...SIGN_IN, bodyBytesMax: BODY_BYTES_MAX })
await verdict.createDocumentModel()
await verdict.user('alice')
await verdict.group('team')
await verdict.join('team', 'alice')
await verdict.grant('team', 'viewer', 'document:d1')
const before = { revision: await verdict.revision(), listed: await verdict.everythingListed() }

afterAll(async () => {
  expect((await verdict.get('/healthy')).status).toBe(200)
  expect(await verdict.revision()).toBe(before.revision)
  expect(await verdict.everythingListed()).toEqual(before.listed)
  expect(await verdict.allows('alice', 'read', 'document:d1')).toBe(true)
})

/** A valid body for every route that needs one. No test sends it with a key that has permission. */
const GOOD_BODIES = new Map(
  exampleCalls(randomUUID())
    .toReversed()
    .map(({ operation, body }) => [operation, body]),
).set('copyEnvironmentAsync', { target_env: { existing: 'nothing' } })

interface Case {
  /** Method and path for the name of the test, such as `POST /allowed`. */
  readonly name: string
  readonly route: Route
  /** Path with parameters that name missing entities. */
  readonly path: string
  readonly body: unknown
  /** A key with permission to use the route. */
  readonly key: string
}

const CASES: readonly Case[] = routes.map(route => ({
  name: `${route.method} ${route.path}`,
  route,
  path: isAboutOrganization(route)
    ? filledIn(route.path, 'nothing', 'nothing')
    : filledIn(route.path, 'default', 'default'),
  body: GOOD_BODIES.get(route.operationId),
  key: isAboutOrganization(route) ? ADMIN_KEY : API_KEY,
}))
const withKey = CASES.filter(({ route }) => route.access !== 'public' && route.access !== 'optional-key')
const withBody = CASES.filter(({ route }) => route.body !== null && !route.body.isForm)
const withRequiredBody = withBody.filter(({ route }) => route.body!.isRequired)
const ofEnvironments = CASES.filter(({ route }) => route.path.includes('{env_id}'))

/** Whether a case is the first one of its family. */
function isFirstOf({ route }: Case, cases: readonly Case[]): boolean {
  return cases.find(each => each.route.family === route.family)!.route === route
}

function isAboutOrganization({ access }: Route): boolean {
  return access === 'organization' || access === 'project' || access === 'manager'
}

function filledIn(template: string, project: string, environment: string): string {
  return template
    .replace('{proj_id}', project)
    .replace('{env_id}', environment)
    .replaceAll(/\{\w+\}/g, 'nothing')
    .concat(REQUIRED_QUERIES[template] ?? '')
}

/** Sends the request with a unique request id, and verifies that the response has the same id. */
async function send(
  { route, path, key }: Case,
  options: {
    readonly method?: string
    readonly body?: unknown
    readonly text?: string | Uint8Array<ArrayBuffer>
    readonly key?: string | null
    readonly headers?: Record<string, string>
  } = {},
): Promise<Answer> {
  const id = `bad input/${randomUUID()}`
  const answer = await verdict.send(options.method ?? route.method, path, {
    key,
    ...options,
    headers: { ...options.headers, 'x-request-id': id },
  })
  expect(answer.headers.get('x-request-id')).toBe(id)
  return answer
}

/** The status of an error response. Verifies the form of its body. */
function statusOf({ route }: Case, answer: Answer): number {
  if (route.family === 'management') refusal(answer)
  else if (route.family === 'access') expect(answer.body).toMatch(/./)
  else {
    const ofPlans = { error_code: expect.any(String), detail: expect.any(Array) }
    expect(answer.body).toEqual({
      code: answer.status,
      message: expect.stringMatching(/./),
      ...(route.family === 'plan' && ofPlans),
    })
  }
  const type = route.family === 'access' ? 'text/plain; charset=utf-8' : 'application/json'
  expect(answer.headers.get('content-type')).toBe(type)
  return answer.status
}

function badShape({ route }: Case): number {
  return route.family === 'management' ? 422 : 400
}

test('the tests have a valid body for every route that needs one', () => {
  const without = withRequiredBody.filter(({ body }) => body === undefined)
  expect(without.map(({ route }) => route.operationId)).toEqual([])
  for (const { route, body } of withRequiredBody) route.body!.shape.check(body)
})

describe('a body', () => {
  const INVALID_JSON = [
    '{"key":',
    '{key:1}',
    "{'key':1}",
    'key=1',
    '{"a":1}}',
    '\u0000',
    '{"a":"\\ud800"}',
    // One byte order mark is skipped, and only before a body.
    '{\ufeff}',
    '\ufeff\ufeff{}',
  ]

  test.each(withBody)('is rejected by $name if it is invalid JSON or has the wrong type', async each => {
    // All routes of a family use the same code to read JSON. Only the first route receives all texts.
    for (const text of isFirstOf(each, withBody) ? INVALID_JSON : INVALID_JSON.slice(0, 2)) {
      const answer = await send(each, { text })
      expect([text, statusOf(each, answer)]).toEqual([text, badShape(each)])
    }
    const other = Array.isArray(each.body) ? {} : []
    for (const body of [null, 7, 'text', true, other]) {
      const answer = await send(each, { body })
      expect([body, statusOf(each, answer)]).toEqual([body, badShape(each)])
    }
  })

  test.each(withBody)('is rejected by $name with the reason if it is compressed', async each => {
    const text = new Uint8Array(gzipSync(JSON.stringify(each.body ?? {})))
    const answer = await send(each, { text, headers: { 'content-encoding': 'gzip' } })
    expect(statusOf(each, answer)).toBe(badShape(each))
    expect(JSON.stringify(answer.body)).toContain('without Content-Encoding')
  })

  test.each(withBody)(
    'is rejected by $name for its own error if it is not compressed, despite its Content-Encoding',
    async each => {
      const headers = { 'content-encoding': 'gzip' }
      const bodies = [
        `{"a":1e400,"b":${'['.repeat(70)}${']'.repeat(70)}}`,
        ...(each.route.body?.isRequired ? [''] : []),
      ]
      for (const text of bodies) {
        const [plain, labeled] = [await send(each, { text }), await send(each, { text, headers })]
        expect(labeled.status).toBe(plain.status)
        expect(JSON.stringify(labeled.body)).not.toContain('Content-Encoding')
      }
    },
  )

  test.each(withRequiredBody)('is rejected by $name if it is missing or empty', async each => {
    expect(statusOf(each, await send(each))).toBe(badShape(each))
    expect(statusOf(each, await send(each, { text: ' ' }))).toBe(badShape(each))
  })

  test.each(withBody.filter(({ route }) => route.family === 'management'))(
    'is rejected by $name if it is nested too deeply',
    async each => {
      const text = `{"attributes":${'['.repeat(64)}${']'.repeat(64)}}`
      expect(statusOf(each, await send(each, { text }))).toBe(422)
    },
  )
})

test.each(withRequiredBody)(
  'a body with missing fields or fields of the wrong type is rejected by $name with their locations',
  async each => {
    const schema = each.route.body!.shape.schema as {
      readonly properties?: object
      readonly required?: string[]
    }
    for (const name of schema.required ?? []) {
      const body = { ...(each.body as object), [name]: undefined }
      await expectPlace(each, body, name)
    }
    const validator = Compile(each.route.body!.shape.schema)
    for (const name of Object.keys(schema.properties ?? {})) {
      const body = { ...(each.body as object), [name]: 7 }
      // The handler validates the items of a batch and their defaults one by one.
      if (!validator.Check(body)) await expectPlace(each, body, name)
    }
    if (Array.isArray(each.body)) await expectPlace(each, [{}], '[0]')
    else if (!validator.Check({})) await expectPlace(each, {}, '')
  },
)

async function expectPlace(each: Case, body: unknown, name: string): Promise<void> {
  const answer = await send(each, { body })
  expect([name, statusOf(each, answer)]).toEqual([name, badShape(each)])
  const { message, detail } = (
    each.route.family === 'access' ? { message: answer.body } : answer.body
  ) as Problem
  expect(message).toContain(name)
  const placeOf = ({ loc }: { loc: (string | number)[] }) =>
    typeof loc[1] === 'number' ? `[${loc[1]}]` : loc[1]
  if (detail && name !== '') expect(detail.map(placeOf)).toContain(name)
}

describe('credentials', () => {
  const NONE: readonly (string | undefined)[] = [
    undefined,
    'Bearer',
    `Bearer ${API_KEY}x`,
    `Token ${API_KEY}`,
    API_KEY,
    '',
    'Bearer ',
    `Bearer ${API_KEY.slice(1)}`,
    `Bearer ${API_KEY.toUpperCase()}`,
    `Bearer "${API_KEY}"`,
    `Basic ${Buffer.from(`x:${API_KEY}`).toString('base64')}`,
    `Bearer${API_KEY}`,
  ]

  test.each(withKey)(
    'that are missing, malformed or unknown are a 401 at $name, before any other error',
    async each => {
      for (const authorization of isFirstOf(each, withKey) ? NONE : NONE.slice(0, 5)) {
        const headers = authorization === undefined ? {} : { authorization }
        for (const options of each.route.method === 'GET' ? [{}] : [{ body: each.body }, { text: '{' }]) {
          const answer = await send(each, { key: null, headers, ...options })
          expect([authorization, statusOf(each, answer)]).toEqual([authorization, 401])
          expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/)
          expect(JSON.stringify(answer.body)).not.toContain(API_KEY)
        }
      }
    },
  )

  /** `test/http/sign-in` tests sign-ins, which need an issuer. */
  const isSignIn = ({ name }: Case): boolean => /^POST \/v2\/sign-in|callback$/.test(name)
  const ofAnyone = CASES.filter(each => each.route.access === 'public' && !isSignIn(each))
  test.each(ofAnyone)('are ignored by $name', async each => {
    // The console does not have a file with this name.
    const status = each.route.paramNames.length === 0 ? 200 : 404
    expect((await send(each, { key: 'nonsense' })).status).toBe(status)
    expect((await send(each, { key: null })).status).toBe(status)
  })

  test.each(CASES.filter(({ route }) => route.access === 'optional-key'))(
    'are optional for $name, but must be valid if they are sent',
    async each => {
      expect((await send(each, { key: null })).status).toBe(200)
      expect((await send(each)).status).toBe(200)
      expect(statusOf(each, await send(each, { key: 'nonsense' }))).toBe(401)
    },
  )

  test.each(ofEnvironments.slice(0, 3))(
    'for an environment other than that of the path are a 403 at $name',
    async each => {
      for (const [project, environment] of [
        ['default', 'other'],
        ['other', 'default'],
        ['00000000-0000-4000-8000-000000000000', '00000000-0000-4000-8000-000000000000'],
        ['%00', 'default'],
      ] as const) {
        const other = { ...each, path: filledIn(each.route.path, project, environment) }
        expect(statusOf(each, await send(other, { body: each.body, key: API_KEY }))).toBe(403)
        if (each.route.body) expect(statusOf(each, await send(other, { text: '{', key: API_KEY }))).toBe(403)
        expect(statusOf(each, await send(other, { body: each.body, key: ADMIN_KEY }))).toBe(404)
      }
    },
  )
})

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
const paths = [...new Map(CASES.map(each => [each.path, each])).values()]

test.each(paths)('a wrong method is a 405 with Allow at $path, with or without credentials', async each => {
  const here = routes.filter(route => matches(route.path, each.path))
  const right = new Set<string>(here.map(({ method }) => method))
  if (here.some(({ method, isRead }) => method === 'GET' && isRead)) right.add('HEAD')
  for (const method of METHODS.filter(candidate => !right.has(candidate))) {
    const answer = await send(each, { method, key: method === 'DELETE' ? null : API_KEY })
    expect([method, statusOf(each, answer)]).toEqual([method, 405])
    expect(answer.headers.get('allow')).toBe([...right].toSorted().join(', '))
  }
})

function matches(template: string, path: string): boolean {
  return new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path.split('?', 1)[0]!)
}

describe('a query parameter with invalid encoding', () => {
  const ASSIGNMENTS = '/v2/facts/default/default/role_assignments'

  test.each(['%', '50%', '%zz', '%ff', '%c0%af', '%ed%a0%80', 'a%00%'])(
    'is a 422 with its name, and never matches another user: %s',
    async text => {
      for (const query of [`user=${text}`, `page=1&user=a&user=${text}`, `us%65r=${text}`]) {
        const answer = await verdict.get<Problem>(`${ASSIGNMENTS}?${query}`)
        expect(refusal(answer), query).toEqual([422, 'INVALID_INPUT'])
        expect(answer.body.detail).toEqual([
          { loc: ['query', 'user'], msg: 'must be percent-encoded UTF-8', type: 'encoding' },
        ])
      }
    },
  )

  test('is ignored by routes that do not use it, and valid encodings are accepted', async () => {
    const document = `${FACTS}/resource_instances/document:d1`
    expect((await verdict.get(`${document}?unknown=%ff&%ff=detailed&detailed=true`)).status).toBe(200)
    // A second question mark is a part of the parameter name.
    expect((await verdict.get(`${document}?detailed=true&?detailed=%ff`)).status).toBe(200)
    expect((await verdict.get(`${document}??detailed=none`)).status).toBe(200)
    expect((await verdict.get(`${ASSIGNMENTS}?user=%EF%BF%BD+%26%25`)).status).toBe(200)
  })

  test('is rejected by a list as any other unknown parameter', async () => {
    for (const query of ['unknown=%ff', '%ff=user', 'user=nobody&?user=%ff', '?page=none']) {
      const answer = await verdict.get<Problem>(`${ASSIGNMENTS}?${query}`)
      expect(refusal(answer)).toEqual([422, 'INVALID_INPUT'])
      expect(answer.body.detail![0]!.msg).toBe('is not a parameter of this list')
    }
  })
})
