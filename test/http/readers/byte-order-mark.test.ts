/** A byte order mark before a body is skipped, as in imports and on the command line. */
import { expect, test } from 'vitest'
import { viewOf } from '#http/message/byte-views.ts'
import { evaluationDialect, NATIVE } from '#http/bytes/dialects.ts'
import { BatchReader } from '#http/bytes/batch-reader.ts'
import { BulkReader } from '#http/bytes/bulk-reader.ts'
import { SingleReader } from '#http/bytes/single-reader.ts'
import { exampleCalls } from '../../support/calls/example-calls.ts'
import { routes } from '#testing/requests/routes.ts'
import {
  ADMIN_KEY,
  API_KEY,
  fresh,
  FACTS,
  GROUPS,
  question,
  sharedService,
} from '#testing/processes/running-service.ts'

const MARK = Buffer.from([0xef, 0xbb, 0xbf])
const on = await sharedService({ hasBytesPath: true })
const off = await sharedService({ hasBytesPath: false })
for (const service of [on, off]) {
  await service.createViewer('alice', 'document:d1')
}

function marked(body: unknown): Buffer<ArrayBuffer> {
  return Buffer.concat([MARK, Buffer.from(JSON.stringify(body))])
}

const DECISIONS = exampleCalls('none').filter(({ operation, body }) => {
  const route = routes.find(({ operationId }) => operationId === operation)!
  return route.family !== 'management' && route.method === 'POST' && body !== undefined
})

test.each(DECISIONS)(
  '$operation returns the same response for a body with a mark',
  async ({ path, body }) => {
    for (const service of [on, off]) {
      // Alternates with bodies without a mark, from which the readers learn templates.
      for (let round = 0; round < 3; round += 1) {
        const plain = await service.post(path, body)
        const withMark = await service.send('POST', path, { text: marked(body) })
        // The time of a plan is that of its request.
        const [present, expected] = [withMark.body, plain.body].map(each => ({
          ...(each as object),
          as_of: null,
        }))
        expect([withMark.status, present]).toEqual([plain.status, expected])
        expect(plain.status).toBe(200)
      }
    }
  },
)

test('management calls accept bodies with a mark, and treat a mark alone as no body', async () => {
  const [user, group] = fresh('user', 'group')
  for (const service of [on, off]) {
    const send = (method: string, path: string, text: Buffer<ArrayBuffer>, key = API_KEY) =>
      service.send(method, path, { text, key })
    const ann = { key: user, first_name: '\ufeffé' }
    expect((await send('POST', `${FACTS}/users`, marked(ann))).body).toMatchObject(ann)
    expect((await send('PATCH', `${FACTS}/users/${user}`, marked({ email: 'a@b.c' }))).status).toBe(200)
    expect((await send('PUT', `${FACTS}/users/${user}`, marked({ key: user }))).status).toBe(200)
    await service.group(group)
    await service.join(group, user)
    expect((await send('DELETE', `${GROUPS}/${group}/users/${user}`, MARK)).status).toBe(204)
    expect((await send('POST', '/v2/projects', marked({ key: user, name: 'P' }), ADMIN_KEY)).status).toBe(200)
  }
})

const check = JSON.stringify(question('alice', 'read', 'document'))

test.each([
  ['two marks', Buffer.concat([MARK, MARK, Buffer.from(check)])],
  ['only a mark', MARK],
  ['a part of a mark', Buffer.concat([MARK.subarray(0, 2), Buffer.from('{}')])],
  ['a mark after a space', Buffer.concat([Buffer.from(' '), MARK, Buffer.from(check)])],
  ['a mark after the JSON text', Buffer.concat([Buffer.from(check), MARK])],
  ['a mark in UTF-16', Buffer.from(`\ufeff${check}`, 'utf16le')],
])('a decision request with %s is a 400', async (_, text) => {
  for (const service of [on, off]) {
    for (const path of ['/allowed', '/allowed/bulk', '/access/v1/evaluation', '/access/v1/evaluations'])
      expect((await service.send('POST', path, { text })).status).toBe(400)
  }
})

test('the byte readers leave bodies with a mark to the parser, before and after other bodies', () => {
  const now = () => 0
  const single = new SingleReader(NATIVE, now)
  const subjects = { subjectTypes: new Set(['user']), isStrict: false }
  const evaluation = new SingleReader(evaluationDialect(subjects), now)
  const bulk = new BulkReader(10, now)
  const batch = new BatchReader({ checksMax: 10, ...subjects, now })
  const asked = question('alice', 'read', 'document:d1')
  const evaluated = {
    subject: { type: 'user', id: 'alice' },
    action: { name: 'read' },
    resource: { type: 'document', id: 'd' },
  }
  for (const [reader, body] of [
    [single, asked],
    [evaluation, evaluated],
    [bulk, [asked, asked]],
    [batch, { ...evaluated, evaluations: [{}, {}] }],
  ] as const) {
    const reads = [marked(body), Buffer.from(JSON.stringify(body)), marked(body)].map(
      bytes => reader.read(viewOf(bytes)) !== null,
    )
    expect(reads).toEqual([false, true, false])
  }
})
