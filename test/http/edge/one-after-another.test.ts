/** Consecutive requests in one thread, which reuse exchange objects, do not affect each other. */
import { expect, test } from 'vitest'
import { Random } from '#testing/data/random.ts'
import { allowedBody, AUTHORIZATION, BODY_BYTES_MAX, postText, sharedEdge, startEdge } from './edge-server.ts'
import { type RawAnswer, RawConnection, requestText } from '#testing/requests/raw-connection.ts'

const KEY = AUTHORIZATION
const ROUNDS = 300

const edge = await sharedEdge()
const post = (path: string, headers: readonly string[], body: string) => postText(path, body, headers)

const THING = JSON.stringify({ key: 'thing', attributes: {} })
const ACTION = JSON.stringify({ action: { name: 'read' } })
const NAMED = post('/allowed', [KEY, 'X-Request-ID: mine'], allowedBody())
const REQUESTS = [
  NAMED,
  post('/allowed', [KEY], allowedBody()),
  post('/allowed', [KEY, 'X-One: 1', 'X-Two: 2', 'X-Three: 3'], allowedBody(1_000)),
  post('/allowed', [], allowedBody()),
  post('/allowed', ['Authorization: Bearer unknown', 'X-Request-ID: theirs'], allowedBody()),
  post('/allowed', [KEY], '{"user":'),
  post('/allowed', [KEY], '{}'),
  post('/allowed', [KEY], allowedBody(BODY_BYTES_MAX + 1)),
  post('/allowed/bulk', [KEY], '[1,2]'),
  post('/nowhere', [KEY], 'anything'),
  post('/v2/things', [KEY], THING),
  post('/v2/things', [], THING),
  post('/v2/failures/later', [], ''),
  post('/failures/broken', [], 'x'),
  post('/access/v1/evaluation', [KEY, 'Content-Type: application/json'], ACTION),
  post('/access/v1/evaluation', [KEY], ACTION),
  requestText('GET /healthy'),
  // This response is sent as fast as the client reads it.
  requestText('GET /large/1100000', ['Content-Length: 1'], 'x'),
  requestText('DELETE /v2/things/bulk', [KEY]),
]

/** The response without its date and generated request id. */
function comparable(answer: RawAnswer | null): unknown {
  if (answer === null) return null
  const headers = [...answer.headers].filter(([name]) => name !== 'date')
  const text = JSON.stringify([answer.status, headers, answer.body])
  return text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/gu, 'new')
}

/** Sends a request. Sends its last `lastBytes` bytes only after the server has read the other bytes. */
async function ask(port: number, text: string, lastBytes = 0): Promise<unknown> {
  const connection = await RawConnection.open(port)
  const cut = text.length - lastBytes
  await connection.send(text.slice(0, cut))
  if (lastBytes > 0) {
    await fetch(`http://127.0.0.1:${port}/healthy`)
    await connection.send(text.slice(cut))
  }
  const answer = comparable(await connection.answer())
  connection.destroy()
  return answer
}

/** Disconnects, and expects responses to other requests. One of them is in flight at the disconnect. */
async function expectOthersAnswered(ending: RawConnection): Promise<void> {
  const begun = await RawConnection.open(edge.port)
  await begun.send(NAMED.slice(0, -1))
  const others = await ask(edge.port, NAMED)
  ending.destroy()
  await ending.closed
  expect(await ask(edge.port, NAMED)).toBe(others)
  expect((await begun.ask(NAMED.slice(-1)))?.status).toBe(200)
  begun.destroy()
}

test('each request gets the same response as from a new server', async () => {
  const alone = await Promise.all(
    REQUESTS.map(async text => {
      const fresh = await startEdge()
      const answer = await ask(fresh.port, text)
      await fresh.server.close()
      return answer
    }),
  )
  expect(new Set(alone).size, 'different responses').toBeGreaterThan(13)
  const random = new Random(4)
  for (let round = 0; round < ROUNDS; round++) {
    const which = random.below(REQUESTS.length)
    const text = REQUESTS[which]!
    const bodyBytes = text.length - text.indexOf('\r\n\r\n') - 4
    const lastBytes = random.chance(0.2) ? random.below(bodyBytes + 1) : 0
    if (random.chance(0.1)) {
      const gone = await RawConnection.open(edge.port)
      await gone.send(random.pick(REQUESTS).slice(0, -1))
      gone.destroy()
    }
    expect(await ask(edge.port, text, lastBytes), `round ${round}: ${text}`).toBe(alone[which])
  }
})

test.each([
  ['a decision', 200, NAMED],
  ['a GET', 200, requestText('GET /healthy')],
  ['an empty response', 204, requestText('DELETE /v2/things/bulk', [KEY])],
  ['a HEAD', 200, requestText('HEAD /healthy')],
  ['an error', 401, post('/allowed', [], '{}')],
])('a client that disconnects after %s affects no other request', async (_, status, before) => {
  const connection = await RawConnection.open(edge.port)
  await connection.send(before)
  expect((await connection.answer({ isToHead: before.startsWith('HEAD') }))?.status).toBe(status)
  await expectOthersAnswered(connection)
})

test('a response that cannot be written closes its connection and affects no other request', async () => {
  const lost = await RawConnection.open(edge.port)
  await lost.send(post('/failures/unwritable', ['X-Request-ID: lost'], 'x'))
  const begun = await RawConnection.open(edge.port)
  await begun.send(NAMED.slice(0, -1))
  await lost.closed
  expect(await lost.answer()).toBeNull()
  expect(edge.faults.map(({ requestId }) => requestId)).toContain('lost')
  expect(await ask(edge.port, NAMED)).toContain('mine')
  expect((await begun.ask(NAMED.slice(-1)))?.status).toBe(200)
  begun.destroy()
})

test('a client that disconnects during a long response affects no other request', async () => {
  const slow = await RawConnection.open(edge.port)
  slow.pause()
  // Larger than the buffers of the kernel, so that most of it is not sent yet.
  await slow.send(requestText('GET /large/8000000', ['Content-Length: 1'], 'x'))
  await fetch(`${edge.origin}/healthy`)
  await expectOthersAnswered(slow)
})

test('an asynchronous response is sent to its own client after later requests', async () => {
  const waiting = await RawConnection.open(edge.port)
  await waiting.send(requestText('GET /latch', ['X-Request-ID: waiting', 'Content-Length: 1'], 'x'))
  await edge.latch.entered
  for (let others = 0; others < 3; others++) expect(await ask(edge.port, NAMED)).toContain('mine')
  edge.latch.release()
  const answer = await waiting.answer()
  expect([answer?.status, answer?.headers.get('x-request-id')]).toEqual([200, 'waiting'])
  waiting.destroy()
})
