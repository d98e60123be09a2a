/** Bodies of decisions are read from their bytes, in memory that is used again: pieces of several requests are kept apart. */
import { expect, test } from 'vitest'
import type { Route } from '#http/routing/route.ts'
import { routes } from '#testing/requests/routes.ts'
import { API_KEY, question, sharedService } from '#testing/processes/running-service.ts'
import { RawConnection, requestText } from '#testing/requests/raw-connection.ts'

const verdict = await sharedService()
await verdict.createDocumentModel()
await verdict.users('alice', '鍵😀')
for (const user of ['alice', '鍵😀']) await verdict.assign(user, 'viewer', 'document:d1')

test('decisions are read from their bytes, and nothing else is', () => {
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

/** A body, and the response to it. */
function bulk(length: number): { readonly body: Buffer; readonly right: string } {
  const users = Array.from({ length }, (_, n) => ['alice', 'bob', '鍵😀', 'x'.repeat(n % 40)][n % 4] || 'y')
  const allow = users.map(user => ({ allow: user === 'alice' || user === '鍵😀' }))
  return {
    body: Buffer.from(JSON.stringify(users.map(user => question(user, 'read', 'document:d1')))),
    right: JSON.stringify({ allow: allow.map(each => ({ ...each, result: each.allow })) }),
  }
}

test('a body that comes in pieces, cut anywhere, is answered as one that comes whole', async () => {
  const { body, right } = bulk(3)
  const connection = await RawConnection.open(verdict.port)
  for (let cut = 1; cut < body.length; cut += 5) {
    await connection.send(request(body))
    await connection.send(body.subarray(0, cut))
    await connection.send(body.subarray(cut))
    expect((await connection.answer())?.body).toBe(right)
  }
  connection.destroy()
})

test('bodies that come in pieces at the same time are kept apart, again and again', async () => {
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
    for (const [index, { right }] of bulks.entries())
      expect((await connections[index]!.answer())?.body).toBe(right)
  }
  for (const connection of connections) connection.destroy()
})
