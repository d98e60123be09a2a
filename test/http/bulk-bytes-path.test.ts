/** `BYTES_PATH` on and off: a caller cannot tell which, by no answer, good or bad. */
import { expect, test } from 'vitest'
import type { Route } from '#http/routing/route.ts'
import { WORLD } from '#testing/hostile/hostile-requests.ts'
import { loadModel } from '#testing/requests/load-model.ts'
import { routes } from '#testing/requests/routes.ts'
import { API_KEY, type Client, sharedService } from '#testing/processes/running-service.ts'
import { RawConnection } from '#testing/requests/raw-connection.ts'

const LIMITS = { bulkChecksMax: 500, hasStrictHeaders: true }
const on = await sharedService({ ...LIMITS, hasBytesPath: true })
const off = await sharedService({ ...LIMITS, hasBytesPath: false })
for (const service of [on, off]) {
  await loadModel(async (method, path, body) => {
    const answer = await service.send(method, path, { body })
    expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBe(200)
  }, WORLD)
}

const GOOD_HEADERS: Record<string, string> = { authorization: `Bearer ${API_KEY}`, 'x-request-id': 'same' }

async function answerOf(service: Client, path: string, body: Buffer, headers: Record<string, string>) {
  const response = await fetch(service.address + path, { method: 'POST', headers, body })
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}

/** The answer, which is the same of both. */
async function sameAnswer(body: Buffer | string, headers = GOOD_HEADERS, path = '/allowed/bulk') {
  const bytes = Buffer.from(body)
  const answer = await answerOf(on, path, bytes, headers)
  expect(answer, bytes.toString('latin1')).toEqual(await answerOf(off, path, bytes, headers))
  return answer
}

test('decisions are read from their bytes, and nothing else is', () => {
  const isRead = ({ readBytes }: Route) => readBytes !== null
  const read = routes.filter(isRead).map(({ operationId }) => operationId)
  expect(read.toSorted()).toEqual(['accessEvaluation', 'accessEvaluations', 'isAllowed', 'isAllowedBulk'])
})

/** Questions of every user, instance and tenant. */
const CHECKS = ['default', 'acme', 'elsewhere', undefined].flatMap(tenant =>
  ['d1', 'd2', 'a:b', 'a1', 'none', null, undefined, 'y'.repeat(37)].flatMap(key =>
    ['alice', 'bob', 'carol', 'dave', '鍵😀', '鍵', '__proto__', 'stranger', 'x'.repeat(100)].flatMap(user =>
      ['read', 'fly'].map(action => ({
        user: { key: user },
        action,
        resource: { type: 'document', key, tenant },
      })),
    ),
  ),
)

test('what is refused before or behind the body is refused alike, and a byte order mark is skipped alike', async () => {
  const good = JSON.stringify(CHECKS.slice(0, 2))
  expect((await sameAnswer(good, { 'x-request-id': 'same' })).status).toBe(401)
  expect((await sameAnswer(good, { authorization: `Bearer ${API_KEY}` })).status).toBe(400)
  const tooMany = JSON.stringify(CHECKS.slice(0, LIMITS.bulkChecksMax + 1))
  expect(await sameAnswer(tooMany)).toMatchObject({
    status: 400,
    text: expect.stringContaining('MAX_BULK_CHECKS') as string,
  })
  expect((await sameAnswer('')).status).toBe(400)
  expect((await sameAnswer(`\ufeff${good}`)).status).toBe(200)
  expect((await sameAnswer(`\ufeff\ufeff${good}`)).status).toBe(400)
})

test('a body that comes in pieces, cut anywhere, is answered as one that comes whole', async () => {
  const body = Buffer.from(JSON.stringify(CHECKS.slice(0, 3)))
  const { text } = await sameAnswer(body)
  const head = `POST /allowed/bulk HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${API_KEY}\r\nX-Request-ID: same\r\n`
  const connection = await RawConnection.open(on.port)
  for (let cut = 1; cut < body.length; cut += 5) {
    await connection.send(`${head}Content-Length: ${body.length}\r\n\r\n`)
    await connection.send(body.subarray(0, cut))
    await connection.send(body.subarray(cut))
    expect((await connection.answer())?.body).toBe(text)
  }
  connection.destroy()
})

test('bodies that come in pieces at the same time are kept apart, again and again', async () => {
  const bodies = [CHECKS.slice(0, 90), CHECKS.slice(100, 300), CHECKS.slice(40, 45)].map(checks =>
    Buffer.from(JSON.stringify(checks)),
  )
  const right = await Promise.all(bodies.map(async body => (await sameAnswer(body)).text))
  const connections = await Promise.all(bodies.map(() => RawConnection.open(on.port)))
  const head = `POST /allowed/bulk HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${API_KEY}\r\nX-Request-ID: same\r\n`
  for (let round = 0; round < 3; round++) {
    for (const [index, body] of bodies.entries()) {
      await connections[index]!.send(`${head}Content-Length: ${body.length}\r\n\r\n`)
    }
    for (const share of [0.3, 0.7, 1]) {
      for (const [index, body] of bodies.entries()) {
        const from = share === 0.3 ? 0 : Math.floor(body.length * (share === 1 ? 0.7 : 0.3))
        await connections[index]!.send(body.subarray(from, Math.floor(body.length * share)))
      }
    }
    for (const [index, connection] of connections.entries()) {
      expect((await connection.answer())?.body).toBe(right[index])
    }
  }
  for (const connection of connections) connection.destroy()
})
