/** The transport of the AuthZEN endpoints (authzen.md section 2): methods, types, bodies, request ids, credentials. */
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import {
  ask,
  ENDPOINTS,
  EVALUATION,
  GOOD,
  messageOf,
  RESOURCES_FOUND,
  textOf,
} from '../support/access-requests.ts'
import { answerFindings } from '#testing/requests/routes.ts'
import { ADMIN_KEY, API_KEY, sharedService, startedService } from '#testing/processes/running-service.ts'

const BODY_BYTES_MAX = 4_096
const METADATA = '/.well-known/authzen-configuration'
const OPERATIONS = [
  'accessEvaluation',
  'accessEvaluations',
  'searchSubjects',
  'searchResources',
  'searchActions',
]

const verdict = await sharedService({ bodyBytesMax: BODY_BYTES_MAX })
await verdict.createDocumentModel()
await verdict.user('alice')
await verdict.assign('alice', 'viewer', 'document:d1')

describe.each(ENDPOINTS)('%s', path => {
  const body = GOOD[path]

  test('answers 200 with JSON of its documented shape', async () => {
    const text = await textOf(verdict, path, body)
    expect(answerFindings(OPERATIONS[ENDPOINTS.indexOf(path)]!, 200, JSON.parse(text))).toEqual([])
  })

  test('answers the same request with the same bytes, whatever the order of its members', async () => {
    const first = await textOf(verdict, path, body)
    for (let round = 0; round < 3; round += 1) expect(await textOf(verdict, path, body)).toBe(first)
    const turned = Object.fromEntries(Object.entries(body).toReversed())
    expect(await textOf(verdict, path, turned)).toBe(first)
  })

  test.each(['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('is 405 for %s and names POST', async method => {
    for (const key of [API_KEY, null]) {
      const answer = await ask(verdict, path, { method, key, headers: { 'x-request-id': 'wrong method' } })
      messageOf(answer, 405)
      expect(answer.headers.get('allow')).toBe('POST')
      expect(answer.headers.get('x-request-id')).toBe('wrong method')
    }
  })

  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'APPLICATION/JSON',
    'Application/Json ; a=b; c="d"',
  ])('takes the content type %s', async type => {
    expect((await ask(verdict, path, { body, headers: { 'content-type': type } })).status).toBe(200)
  })

  test.each([
    null,
    'text/plain',
    'text/json',
    'application/jsonx',
    'application/json-patch+json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=application/json',
    'json',
  ])('is 400 for the content type %s', async type => {
    messageOf(await ask(verdict, path, { body, headers: { 'content-type': type } }), 400)
  })

  test.each([
    ['nothing', ''],
    ['blanks', ' \n'],
    ['half of an object', '{"subject":'],
    ['two objects', '{}{}'],
    ['an array', '[]'],
    ['an array with a good request', JSON.stringify([body])],
    ['null', 'null'],
    ['a number', '7'],
    ['a text', '"request"'],
    ['true', 'true'],
    ['two byte order marks', `\ufeff\ufeff${JSON.stringify(body)}`],
    ['an unpaired surrogate', JSON.stringify(body).replace('alice', String.raw`\ud800`)],
    ['brackets without end', '['.repeat(BODY_BYTES_MAX)],
  ])('is 400 for a body of %s', async (_about, text) => {
    const answer = await ask(verdict, path, { text, headers: { 'x-request-id': 'bad body' } })
    // Two bodies have no place for the surrogate: then it is a good request.
    if (text === JSON.stringify(body)) expect(answer.status).toBe(200)
    else messageOf(answer, 400)
    expect(answer.headers.get('x-request-id')).toBe('bad body')
  })

  test('is 400 for a compressed body, and says so; takes one that says it is not', async () => {
    const text = new Uint8Array(gzipSync(JSON.stringify(body)))
    const answer = await ask(verdict, path, { text, headers: { 'content-encoding': 'gzip' } })
    expect(messageOf(answer, 400)).toContain('without Content-Encoding')
    expect(messageOf(await ask(verdict, path, { text }), 400)).not.toContain('Content-Encoding')
    const plain = { 'content-encoding': 'identity' }
    expect((await ask(verdict, path, { body, headers: plain })).status).toBe(200)
    expect(messageOf(await ask(verdict, path, { text, headers: plain }), 400)).not.toContain(
      'Content-Encoding',
    )
  })

  test('is 400 for a body that is no UTF-8', async () => {
    const text = Buffer.from(JSON.stringify({ ...body, note: '?' }).replace('?', '\xff'), 'latin1')
    messageOf(await ask(verdict, path, { text: new Uint8Array(text) }), 400)
  })

  test('is 413 for a body over the ceiling and takes one that reaches it', async () => {
    const padded = (bytes: number) => JSON.stringify(body).padEnd(bytes, ' ')
    expect((await ask(verdict, path, { text: padded(BODY_BYTES_MAX) })).status).toBe(200)
    const headers = { 'x-request-id': 'too large' }
    const answer = await ask(verdict, path, { text: padded(BODY_BYTES_MAX + 1), headers })
    messageOf(answer, 413)
    expect(answer.headers.get('x-request-id')).toBe('too large')
  })

  test('is 401 with a challenge for missing and wrong credentials, before anything else of the request', async () => {
    for (const authorization of [null, `Basic ${API_KEY}`, `Bearer ${API_KEY}x`, 'Bearer', API_KEY]) {
      for (const text of [JSON.stringify(body), '{']) {
        const headers = { authorization, 'content-type': 'text/plain', 'x-request-id': 'who' }
        const answer = await ask(verdict, path, { text, key: null, headers })
        expect(messageOf(answer, 401)).not.toContain(API_KEY)
        expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="verdict"')
        expect(answer.headers.get('x-request-id')).toBe('who')
      }
    }
  })

  test('takes the bearer scheme in any case', async () => {
    for (const scheme of ['bearer', 'BEARER', 'bEaReR']) {
      const headers = { authorization: `${scheme} ${API_KEY}` }
      expect((await ask(verdict, path, { body, headers })).status).toBe(200)
    }
  })

  test('is 403 for the key of the organization, whatever the body (D-31)', async () => {
    for (const text of [JSON.stringify(body), '{']) {
      const answer = await ask(verdict, path, { text, key: ADMIN_KEY, headers: { 'x-request-id': 'admin' } })
      messageOf(answer, 403)
      expect(answer.headers.get('x-request-id')).toBe('admin')
    }
  })

  test('tells of a wrong content type before it looks at the JSON, and of that before the shape', async () => {
    const headers = { 'content-type': 'text/plain' }
    expect(messageOf(await ask(verdict, path, { text: '{', headers }), 400)).toContain('Content-Type')
    expect(messageOf(await ask(verdict, path, { text: '{' }), 400)).toContain('JSON')
    if (path !== ENDPOINTS[1]) {
      expect(messageOf(await ask(verdict, path, { body: {} }), 400)).toContain('subject')
    }
  })

  test('echoes the request id exactly and does without one', async () => {
    for (const id of [
      '1',
      'bfe9eb29-ab87-4ca3-be83-a1d5d8305716',
      'with blanks, "quotes" and ;:/?#[]@!$&()*+',
      'x'.repeat(1_000),
    ]) {
      const answer = await ask(verdict, path, { body, headers: { 'x-request-id': id } })
      expect([answer.status, answer.headers.get('x-request-id')]).toEqual([200, id])
    }
    const without = await ask(verdict, path, { body })
    expect(without.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('replaces a request id that could not stand in a header', async () => {
    for (const id of ['a\tb', 'caf\u00e9 au lait', '']) {
      const answer = await ask(verdict, path, { body, headers: { 'x-request-id': id } })
      expect([answer.status, answer.headers.get('x-request-id')]).toEqual([
        200,
        expect.stringMatching(/^[0-9a-f-]{36}$/),
      ])
    }
  })

  test('with STRICT_HEADERS is 400 without X-Request-ID, and evaluations also without Cache-Control', async () => {
    const strict = await startedService({ hasStrictHeaders: true })
    const id = { 'x-request-id': 'strict' }
    const both = { ...id, 'cache-control': 'no-cache' }
    const isEvaluation = path.startsWith(EVALUATION)
    expect(messageOf(await ask(strict, path, { body, key: null }), 401)).toContain('API key')
    expect(messageOf(await ask(strict, path, { body }), 400)).toContain('x-request-id')
    const onlyId = await ask(strict, path, { body, headers: id })
    if (isEvaluation) expect(messageOf(onlyId, 400)).toContain('cache-control')
    else expect(onlyId.status).toBe(200)
    expect(onlyId.headers.get('x-request-id')).toBe('strict')
    expect((await ask(strict, path, { body, headers: both })).status).toBe(200)
  })

  test('without STRICT_HEADERS needs neither and takes both', async () => {
    const headers = { 'x-request-id': 'lenient', 'cache-control': 'no-store' }
    expect((await ask(verdict, path, { body })).status).toBe(200)
    expect((await ask(verdict, path, { body, headers })).status).toBe(200)
  })
})

describe.each(['/allowed', '/allowed/bulk', '/user-permissions', '/authorized_users'])('%s', path => {
  test('with STRICT_HEADERS is 400 without X-Request-ID and needs no Cache-Control', async () => {
    const strict = await startedService({ hasStrictHeaders: true })
    const question = { user: { key: 'alice' }, action: 'read', resource: { type: 'document' } }
    const body = path.endsWith('bulk') ? [question] : question
    const without = await strict.send('POST', path, { body })
    expect([without.status, without.body]).toEqual([
      400,
      { code: 400, message: expect.stringContaining('x-request-id') },
    ])
    expect((await strict.send('POST', path, { body, headers: { 'x-request-id': 'i' } })).status).toBe(200)
    expect((await verdict.send('POST', path, { body })).status).toBe(200)
  })
})

test('an unknown path below the interface is 404 in plain text, with the request id', async () => {
  for (const path of [
    '/access/v1/nothing',
    '/access/v1',
    `${EVALUATION}/`,
    '/access/v1/search',
    `${RESOURCES_FOUND}/x`,
  ]) {
    const answer = await ask(verdict, path, { body: {}, headers: { 'x-request-id': 'lost' } })
    messageOf(answer, 404)
    expect(answer.headers.get('x-request-id')).toBe('lost')
  }
})

test('the metadata document answers GET and HEAD only, and errors in plain text', async () => {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    const answer = await ask(verdict, METADATA, { method, headers: { 'x-request-id': 'm' } })
    messageOf(answer, 405)
    expect(answer.headers.get('allow')).toBe('GET, HEAD')
    expect(answer.headers.get('x-request-id')).toBe('m')
  }
})
