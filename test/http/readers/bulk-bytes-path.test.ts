/** Bodies of decision requests are read from reused buffers, which must not mix concurrent requests. */
import { expect, test } from 'vitest'
import type { Route } from '#http/routing/route.ts'
import { routes } from '#testing/requests/routes.ts'
import { API_KEY, question, sharedService } from '#testing/processes/running-service.ts'
import { RawConnection, requestText } from '#testing/requests/raw-connection.ts'

const verdict = await sharedService()
await verdict.createDocumentModel()
await verdict.users('alice', '鍵😀')
for (const user of ['alice', '鍵😀']) await verdict.assign(user, 'viewer', 'document:d1')

test('only checks and evaluations are read directly from their bytes', () => {
  const isRead = ({ readBytes }: Route) => readBytes !== null
  const read = routes.filter(isRead).map(({ operationId }) => operationId)
  expect(read.toSorted()).toEqual(['accessEvaluation', 'accessEvaluations', 'isAllowed', 'isAllowedBulk'])
})

function request(body: Buffer): string {
  return requestText('POST /allowed/bulk', [
    `Authorization: Bearer ${API_KEY}`,
    `Content-Length: ${body.length}`,
  ])
}

/** A body and the expected response. */
function bulk(length: number): { readonly body: Buffer; readonly expected: string } {
  const users = Array.from({ length }, (_, n) => ['alice', 'bob', '鍵😀', 'x'.repeat(n % 40)][n % 4] || 'y')
  const allow = users.map(user => ({ allow: user === 'alice' || user === '鍵😀' }))
  return {
    body: Buffer.from(JSON.stringify(users.map(user => question(user, 'read', 'document:d1')))),
    expected: JSON.stringify({ allow: allow.map(each => ({ ...each, result: each.allow })) }),
  }
}

test('a body that arrives in two chunks, split at any position, has the same response', async () => {
  const { body, expected } = bulk(3)
  const connection = await RawConnection.open(verdict.port)
  for (let cut = 1; cut < body.length; cut += 5) {
    await connection.send(request(body))
    await connection.send(body.subarray(0, cut))
    expect((await connection.ask(body.subarray(cut)))?.body).toBe(expected)
  }
  connection.destroy()
})

test('bodies whose chunks arrive interleaved on several connections are not mixed', async () => {
  const bulks = [bulk(90), bulk(200), bulk(5)]
  const connections = await Promise.all(bulks.map(() => RawConnection.open(verdict.port)))
  for (let round = 0; round < 3; round++) {
    for (const [index, { body }] of bulks.entries()) await connections[index]!.send(request(body))
    for (const third of [0, 1, 2]) {
      for (const [index, { body }] of bulks.entries()) {
        const [from, to] = [third, third + 1].map(part => Math.floor((body.length * part) / 3))
        await connections[index]!.send(body.subarray(from, to))
      }
    }
    for (const [index, { expected }] of bulks.entries())
      expect((await connections[index]!.answer())?.body).toBe(expected)
  }
  for (const connection of connections) connection.destroy()
})
