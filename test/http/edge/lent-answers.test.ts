/** Answers in memory that is lent: whoever lent it writes over it as soon as it comes back. */
import { expect, onTestFinished, test } from 'vitest'
import { LentJson } from '#http/message/request-reply.ts'
import { defineRoute } from '#http/routing/route.ts'
import { startedEdge } from './edge-server.ts'
import { RawConnection, requestText } from '#testing/requests/raw-connection.ts'

async function lender() {
  const cameBack: number[] = []
  const giveBack = (bytes: Uint8Array) => {
    cameBack.push(bytes.length)
    bytes.fill(0)
  }
  const lent = defineRoute({
    summary: 'A text of so many letters',
    responses: { 200: { description: 'Fine' } },
    method: 'GET',
    path: '/lent/{length}',
    operationId: 'lent',
    family: 'native',
    access: 'public',
    handle: ({ params }) => ({ status: 200, body: new LentJson(letters(Number(params.length)), giveBack) }),
  })
  const edge = await startedEdge({ routes: [lent] })
  const connection = await RawConnection.open(edge.port)
  onTestFinished(() => connection.destroy())
  return { connection, cameBack }
}

const letters = (length: number) => Buffer.from(`"${'x'.repeat(length)}"`)

test.each([0, 100, 1_000_000])('%i letters are sent before their memory comes back', async length => {
  const { connection, cameBack } = await lender()
  connection.pause()
  await connection.send(requestText(`GET /lent/${length}`))
  await expect.poll(() => cameBack).toEqual([length + 2])
  connection.resume()
  const answer = await connection.answer()
  expect(answer?.body === letters(length).toString()).toBe(true)
})

test('the memory of what goes out piece by piece does not come back', async () => {
  const { connection, cameBack } = await lender()
  connection.pause()
  await connection.send(requestText('GET /lent/4000000'))
  connection.resume()
  const answer = await connection.answer()
  expect(answer?.body === letters(4_000_000).toString()).toBe(true)
  expect(cameBack).toEqual([])
})
