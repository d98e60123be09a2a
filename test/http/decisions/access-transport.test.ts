/** Transport of the AuthZEN endpoints (authzen.md 2): content types, encodings and required headers. */
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { ask, ENDPOINTS, EVALUATION, GOOD, messageOf, textOf } from '../../support/calls/access-requests.ts'
import { answerFindings } from '#testing/requests/routes.ts'
import { sharedService } from '#testing/processes/running-service.ts'

const BODY_BYTES_MAX = 4_096
const OPERATIONS = [
  'accessEvaluation',
  'accessEvaluations',
  'searchSubjects',
  'searchResources',
  'searchActions',
]

const strict = await sharedService({ hasStrictHeaders: true })
const verdict = await sharedService({ bodyBytesMax: BODY_BYTES_MAX })
await verdict.createViewer('alice', 'document:d1')

describe.each(ENDPOINTS)('%s', path => {
  const body = GOOD[path]

  test('returns JSON of the documented shape, with the same bytes for any order of request members', async () => {
    const first = await textOf(verdict, path, body)
    expect(answerFindings(OPERATIONS[ENDPOINTS.indexOf(path)]!, 200, JSON.parse(first))).toEqual([])
    expect(await textOf(verdict, path, body)).toBe(first)
    const reversed = Object.fromEntries(Object.entries(body).toReversed())
    expect(await textOf(verdict, path, reversed)).toBe(first)
  })

  test('rejects all content types except JSON with 400', async () => {
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

  test('rejects a compressed body with 400 and the reason, and accepts the encoding `identity`', async () => {
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

  test('with STRICT_HEADERS requires X-Request-ID, and for evaluations also Cache-Control', async () => {
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
  '%s with STRICT_HEADERS requires X-Request-ID but no Cache-Control',
  async path => {
    const check = { user: { key: 'alice' }, action: 'read', resource: { type: 'document' } }
    const body = path.endsWith('bulk') ? [check] : check
    const without = await strict.send('POST', path, { body })
    const message = expect.stringContaining('x-request-id')
    expect([without.status, without.body]).toEqual([400, { code: 400, message }])
    expect((await strict.send('POST', path, { body, headers: { 'x-request-id': 'i' } })).status).toBe(200)
    expect((await verdict.send('POST', path, { body })).status).toBe(200)
  },
)
