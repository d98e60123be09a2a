/** The transport of the AuthZEN endpoints (authzen.md 2): methods, types, bodies, request ids, credentials. */
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
} from '../../support/access-requests.ts'
import { answerFindings } from '#testing/requests/routes.ts'
import { ADMIN_KEY, API_KEY, sharedService } from '#testing/processes/running-service.ts'

const BODY_BYTES_MAX = 4_096
const METADATA = '/.well-known/authzen-configuration'
const OPERATIONS = [
  'accessEvaluation',
  'accessEvaluations',
  'searchSubjects',
  'searchResources',
  'searchActions',
]

const strict = await sharedService({ hasStrictHeaders: true })
const verdict = await sharedService({ bodyBytesMax: BODY_BYTES_MAX })
await verdict.createDocumentModel()
await verdict.user('alice')
await verdict.assign('alice', 'viewer', 'document:d1')

describe.each(ENDPOINTS)('%s', path => {
  const body = GOOD[path]

  test('answers 200 with JSON of its documented shape, the same bytes whatever the order of members', async () => {
    const first = await textOf(verdict, path, body)
    expect(answerFindings(OPERATIONS[ENDPOINTS.indexOf(path)]!, 200, JSON.parse(first))).toEqual([])
    expect(await textOf(verdict, path, body)).toBe(first)
    const turned = Object.fromEntries(Object.entries(body).toReversed())
    expect(await textOf(verdict, path, turned)).toBe(first)
  })

  test('is 405 for other methods and names POST', async () => {
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const headers = { 'x-request-id': 'wrong method' }
      const answer = await ask(verdict, path, { method, key: null, headers })
      messageOf(answer, 405)
      expect(answer.headers.get('allow')).toBe('POST')
      expect(answer.headers.get('x-request-id')).toBe('wrong method')
    }
  })

  test('takes the content type of JSON and is 400 for any other', async () => {
    const answer = (type: string | null) => ask(verdict, path, { body, headers: { 'content-type': type } })
    for (const type of ['application/json;charset=UTF-8', 'Application/Json ; a=b; c="d"'])
      expect((await answer(type)).status).toBe(200)
    for (const type of [
      null,
      'application/json-patch+json',
      'multipart/form-data; boundary=application/json',
    ])
      messageOf(await answer(type), 400)
  })

  test('is 400 for a body that is no JSON, or no object', async () => {
    const text = JSON.stringify(body)
    const wrong = ['', ' \n', '{"subject":', '{}{}', '[]', `[${text}]`, 'null', '7', '"request"', 'true']
    wrong.push(`\ufeff\ufeff${text}`, '['.repeat(BODY_BYTES_MAX))
    const surrogate = text.replace('alice', String.raw`\ud800`)
    // One of the bodies names no user.
    if (surrogate !== text) wrong.push(surrogate)
    for (const bad of wrong) {
      const answer = await ask(verdict, path, { text: bad, headers: { 'x-request-id': 'bad body' } })
      messageOf(answer, 400)
      expect(answer.headers.get('x-request-id')).toBe('bad body')
    }
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

  test('is 403 for the key of the organization, whatever the body (native.md D-31)', async () => {
    for (const text of [JSON.stringify(body), '{']) {
      const answer = await ask(verdict, path, { text, key: ADMIN_KEY, headers: { 'x-request-id': 'admin' } })
      messageOf(answer, 403)
      expect(answer.headers.get('x-request-id')).toBe('admin')
    }
  })

  test('with STRICT_HEADERS is 400 without X-Request-ID, and evaluations also without Cache-Control', async () => {
    const id = { 'x-request-id': 'strict' }
    expect(messageOf(await ask(strict, path, { body, key: null }), 401)).toContain('API key')
    expect(messageOf(await ask(strict, path, { body }), 400)).toContain('x-request-id')
    const onlyId = await ask(strict, path, { body, headers: id })
    if (path.startsWith(EVALUATION)) expect(messageOf(onlyId, 400)).toContain('cache-control')
    else expect(onlyId.status).toBe(200)
    expect(onlyId.headers.get('x-request-id')).toBe('strict')
    const both = { ...id, 'cache-control': 'no-cache' }
    expect((await ask(strict, path, { body, headers: both })).status).toBe(200)
  })
})

test.each(['/allowed', '/allowed/bulk', '/user-permissions', '/authorized_users'])(
  '%s with STRICT_HEADERS is 400 without X-Request-ID and needs no Cache-Control',
  async path => {
    const question = { user: { key: 'alice' }, action: 'read', resource: { type: 'document' } }
    const body = path.endsWith('bulk') ? [question] : question
    const without = await strict.send('POST', path, { body })
    const message = expect.stringContaining('x-request-id')
    expect([without.status, without.body]).toEqual([400, { code: 400, message }])
    expect((await strict.send('POST', path, { body, headers: { 'x-request-id': 'i' } })).status).toBe(200)
    expect((await verdict.send('POST', path, { body })).status).toBe(200)
  },
)

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
