/** Responses in lent memory. The owner of the memory overwrites it as soon as it is returned. */
import { expect, onTestFinished, test } from 'vitest'
import { LentJson } from '#http/message/request-reply.ts'
import { rawJson } from '#http/routes/management/managed.ts'
import { defineRoute } from '#http/routing/route.ts'
import { startedEdge } from './edge-server.ts'
import { RawConnection, requestText } from '#testing/requests/raw-connection.ts'

async function lender() {
  const returned: number[] = []
  const giveBack = (bytes: Uint8Array) => {
    returned.push(bytes.length)
    bytes.fill(0)
  }
  const lent = defineRoute({
    summary: 'A text of this length',
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
  return { connection, returned }
}

const letters = (length: number) => Buffer.from(`"${'x'.repeat(length)}"`)

test.each([0, 100, 1_000_000])(
  'lent memory with %i characters is returned after it is sent',
  async length => {
    const { connection, returned } = await lender()
    connection.pause()
    await connection.send(requestText(`GET /lent/${length}`))
    await expect.poll(() => returned).toEqual([length + 2])
    connection.resume()
    const answer = await connection.answer()
    expect(answer?.body === letters(length).toString()).toBe(true)
  },
)

test('lent memory that the socket does not accept at once is returned after the last byte', async () => {
  const { connection, returned } = await lender()
  connection.pause()
  await connection.send(requestText('GET /lent/4000000'))
  connection.resume()
  const answer = await connection.answer()
  expect(answer?.body === letters(4_000_000).toString()).toBe(true)
  expect(returned).toEqual([4_000_002])
})

test('memory of JSON from the main thread is freed, unless other bytes share the memory', () => {
  const [transferred, shared] = [Uint8Array.of(1, 2), new Uint8Array(4).subarray(2)]
  for (const json of [transferred, shared]) (rawJson(json) as LentJson).giveBack()
  expect([transferred.length, shared.length]).toEqual([0, 2])
})
