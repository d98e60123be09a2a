/**
 * Every route with every kind of bad input: status and body as specified (native.md 0.10, 0.13, 0.19 and D-38), the request id
 * in the response, a process that keeps running, and an unchanged store.
 */
import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { Compile } from 'typebox/compile'
import { afterAll, describe, expect, test } from 'vitest'
import type { Route } from '#http/routing/route.ts'
import {
  FACTS,
  ADMIN_KEY,
  type Answer,
  API_KEY,
  type Problem,
  refusal,
  sharedService,
} from '#testing/processes/running-service.ts'
import { exampleCalls } from '../../support/example-calls.ts'
import { REQUIRED_QUERIES, routes } from '#testing/requests/routes.ts'

const BODY_BYTES_MAX = 2_048
const verdict = await sharedService({ bodyBytesMax: BODY_BYTES_MAX })
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

/** A body of the right shape for every route that needs one. None is ever sent with a key that may. */
const GOOD_BODIES = new Map(
  exampleCalls(randomUUID())
    .toReversed()
    .map(({ operation, body }) => [operation, body]),
).set('copyEnvironmentAsync', { target_env: { existing: 'nothing' } })

interface Case {
  /** `POST /allowed`, for the name of the test. */
  readonly name: string
  readonly route: Route
  /** With parameters filled in; what they name does not exist. */
  readonly path: string
  readonly body: unknown
  /** One that may use the route. */
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
const withBody = CASES.filter(({ route }) => route.body !== null)
const withRequiredBody = withBody.filter(({ route }) => route.body!.isRequired)
const ofEnvironments = CASES.filter(({ route }) => route.path.includes('{env_id}'))

/** Whether a case is the first one of its family. */
function isFirstOf({ route }: Case, cases: readonly Case[]): boolean {
  return cases.find(each => each.route.family === route.family)!.route === route
}

function isAboutOrganization({ access }: Route): boolean {
  return access === 'organization' || access === 'project'
}

function filledIn(template: string, project: string, environment: string): string {
  return template
    .replace('{proj_id}', project)
    .replace('{env_id}', environment)
    .replaceAll(/\{\w+\}/g, 'nothing')
    .concat(REQUIRED_QUERIES[template] ?? '')
}

/** Sends the request under a name of its own and makes sure that the answer carries it. */
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

/** The status of a refusal, after a look at the form of its body. */
function statusOf({ route }: Case, answer: Answer): number {
  if (route.family === 'management') refusal(answer)
  else if (route.family === 'access') expect(answer.body).toMatch(/./)
  else expect(answer.body).toEqual({ code: answer.status, message: expect.stringMatching(/./) })
  const type = route.family === 'access' ? 'text/plain; charset=utf-8' : 'application/json'
  expect(answer.headers.get('content-type')).toBe(type)
  return answer.status
}

function badShape({ route }: Case): number {
  return route.family === 'management' ? 422 : 400
}

test('there is a good body for every route that needs one', () => {
  const without = withRequiredBody.filter(({ body }) => body === undefined)
  expect(without.map(({ route }) => route.operationId)).toEqual([])
  for (const { route, body } of withRequiredBody) route.body!.shape.check(body)
})

describe('a body that is no JSON, or not of the right kind', () => {
  const NO_JSON = [
    '{"key":',
    '{key:1}',
    "{'key':1}",
    'key=1',
    '{"a":1}}',
    '\u0000',
    '{"a":"\\ud800"}',
    // Only in front of a body is it skipped, and once.
    '{\ufeff}',
    '\ufeff\ufeff{}',
  ]

  test.each(withBody)('is refused by $name', async each => {
    // All routes of a family read JSON with the same code: the first one gets all texts.
    for (const text of isFirstOf(each, withBody) ? NO_JSON : NO_JSON.slice(0, 2)) {
      const answer = await send(each, { text })
      expect([text, statusOf(each, answer)]).toEqual([text, badShape(each)])
    }
    const other = Array.isArray(each.body) ? {} : []
    for (const body of [null, 7, 'text', true, other]) {
      const answer = await send(each, { body })
      expect([body, statusOf(each, answer)]).toEqual([body, badShape(each)])
    }
  })

  test.each(withBody)('is refused by $name when it is compressed, which is said', async each => {
    const text = new Uint8Array(gzipSync(JSON.stringify(each.body ?? {})))
    const answer = await send(each, { text, headers: { 'content-encoding': 'gzip' } })
    expect(statusOf(each, answer)).toBe(badShape(each))
    expect(JSON.stringify(answer.body)).toContain('without Content-Encoding')
  })

  test.each(withBody)(
    'is refused by $name for what it is, whatever coding is said, where it can be read',
    async each => {
      const coded = { 'content-encoding': 'gzip' }
      const bodies = [
        `{"a":1e400,"b":${'['.repeat(70)}${']'.repeat(70)}}`,
        ...(each.route.body?.isRequired ? [''] : []),
      ]
      for (const text of bodies) {
        const [plain, said] = [await send(each, { text }), await send(each, { text, headers: coded })]
        expect(said.status).toBe(plain.status)
        expect(JSON.stringify(said.body)).not.toContain('Content-Encoding')
      }
    },
  )

  test.each(withRequiredBody)('is refused by $name when it is missing or empty', async each => {
    expect(statusOf(each, await send(each))).toBe(badShape(each))
    expect(statusOf(each, await send(each, { text: ' ' }))).toBe(badShape(each))
  })

  test.each(withBody.filter(({ route }) => route.family === 'management'))(
    'is refused by $name when it nests too deeply to be kept',
    async each => {
      const text = `{"attributes":${'['.repeat(64)}${']'.repeat(64)}}`
      expect(statusOf(each, await send(each, { text }))).toBe(422)
    },
  )
})

test.each(withRequiredBody)(
  'a body with a field that is missing or of the wrong type is refused by $name with the place of each',
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
      // The items of a batch and their defaults are looked at one by one, by the handler.
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
    'that are missing, malformed or unknown are 401 at $name, before anything else',
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

  test.each(CASES.filter(({ route }) => route.access === 'public'))(
    'are not looked at by $name',
    async each => {
      // The console has no file of that name.
      const status = each.route.paramNames.length === 0 ? 200 : 404
      expect((await send(each, { key: 'nonsense' })).status).toBe(status)
      expect((await send(each, { key: null })).status).toBe(status)
    },
  )

  test.each(CASES.filter(({ route }) => route.access === 'optional-key'))(
    'are not needed by $name, but must be valid when they are sent',
    async each => {
      expect((await send(each, { key: null })).status).toBe(200)
      expect((await send(each)).status).toBe(200)
      expect(statusOf(each, await send(each, { key: 'nonsense' }))).toBe(401)
    },
  )

  test.each(ofEnvironments.slice(0, 3))(
    'for another environment than the path names are 403 at $name',
    async each => {
      for (const [project, environment] of [
        ['default', 'other'],
        ['other', 'default'],
        ['00000000-0000-4000-8000-000000000000', '00000000-0000-4000-8000-000000000000'],
        ['%00', 'default'],
      ] as const) {
        const elsewhere = { ...each, path: filledIn(each.route.path, project, environment) }
        expect(statusOf(each, await send(elsewhere, { body: each.body, key: API_KEY }))).toBe(403)
        if (each.route.body)
          expect(statusOf(each, await send(elsewhere, { text: '{', key: API_KEY }))).toBe(403)
        expect(statusOf(each, await send(elsewhere, { body: each.body, key: ADMIN_KEY }))).toBe(404)
      }
    },
  )
})

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
const paths = [...new Map(CASES.map(each => [each.path, each])).values()]

test.each(paths)('a wrong method is 405 with the right ones at $path, credentials or none', async each => {
  const here = routes.filter(route => matches(route.path, each.path))
  const right = new Set<string>(here.map(({ method }) => method))
  if (right.has('GET')) right.add('HEAD')
  for (const method of METHODS.filter(candidate => !right.has(candidate))) {
    const answer = await send(each, { method, key: method === 'DELETE' ? null : API_KEY })
    expect([method, statusOf(each, answer)]).toEqual([method, 405])
    expect(answer.headers.get('allow')).toBe([...right].toSorted().join(', '))
  }
})

function matches(template: string, path: string): boolean {
  return new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path.split('?', 1)[0]!)
}

describe('a parameter of a query that cannot be read', () => {
  const ASSIGNMENTS = '/v2/facts/default/default/role_assignments'

  test.each(['%', '50%', '%zz', '%ff', '%c0%af', '%ed%a0%80', 'a%00%'])(
    'is 422 with its name, and nobody else is found in its place: %s',
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

  test('is ignored where nobody asks for it, and what can be read is', async () => {
    const document = `${FACTS}/resource_instances/document:d1`
    expect((await verdict.get(`${document}?unknown=%ff&%ff=detailed&detailed=true`)).status).toBe(200)
    // A question mark is part of a name.
    expect((await verdict.get(`${document}?detailed=true&?detailed=%ff`)).status).toBe(200)
    expect((await verdict.get(`${document}??detailed=none`)).status).toBe(200)
    expect((await verdict.get(`${ASSIGNMENTS}?user=%EF%BF%BD+%26%25`)).status).toBe(200)
  })

  test('is refused by a list as any other that it does not know', async () => {
    for (const query of ['unknown=%ff', '%ff=user', 'user=nobody&?user=%ff', '?page=none']) {
      const answer = await verdict.get<Problem>(`${ASSIGNMENTS}?${query}`)
      expect(refusal(answer)).toEqual([422, 'INVALID_INPUT'])
      expect(answer.body.detail![0]!.msg).toBe('is no parameter of this list')
    }
  })
})
