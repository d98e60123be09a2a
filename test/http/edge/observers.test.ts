/** Observers of requests: counters, traces, the slow-request log, and draining. */
import { expect, test } from 'vitest'
import type { WaitingClient } from '#model/caller.ts'
import { defineRoute } from '#http/routing/route.ts'
import { allowedBody, AUTHORIZATION, countingObserver, postText, startedEdge } from './edge-server.ts'
import { RawConnection, requestText } from '#testing/requests/raw-connection.ts'
import { HANG_MS } from '../../support/hang.ts'

const ALLOWED = postText('/allowed', allowedBody(), [AUTHORIZATION])

test('a client that disconnects during its second request is counted without a response', async () => {
  const { statuses, observer } = countingObserver()
  const { port, origin } = await startedEdge({ observer })
  const connection = await RawConnection.open(port)
  await connection.ask(ALLOWED)
  await connection.send(ALLOWED.slice(0, -1))
  connection.destroy()
  await connection.closed
  while (!statuses.includes(0)) await fetch(`${origin}/nowhere`)
  expect(statuses.filter(status => status !== 404)).toEqual([200, 0])
})

test('a response that cannot be written is counted as 500', async () => {
  const { statuses, observer } = countingObserver()
  const { port } = await startedEdge({ observer })
  const connection = await RawConnection.open(port)
  await connection.send(requestText('POST /failures/unwritable', ['Content-Length: 1'], 'x'))
  await connection.closed
  expect(statuses).toEqual([500])
})

test('synchronous requests share one exchange object, and asynchronous requests have one each', async () => {
  const callers: WaitingClient[] = []
  const waiting = Promise.withResolvers<void>()
  const route = (path: '/now' | '/later', answered: () => Promise<void> | null) =>
    defineRoute({
      method: 'POST',
      path,
      operationId: path,
      summary: path,
      family: 'native',
      access: 'public',
      responses: { 200: { description: 'fine' } },
      handle: ({ caller }) => {
        callers.push(caller)
        const reply = { status: 200, body: 'fine' }
        return answered()?.then(() => reply) ?? reply
      },
    })
  const { origin } = await startedEdge({
    routes: [route('/now', () => null), route('/later', () => waiting.promise)],
  })
  for (let times = 0; times < 20; times++) {
    await fetch(`${origin}/now`, { method: 'POST', body: times % 2 === 0 ? 'x' : null })
  }
  expect(new Set(callers).size).toBe(1)
  callers.length = 0
  const later = Array.from({ length: 5 }, () => fetch(`${origin}/later`, { method: 'POST', body: 'x' }))
  while (callers.length < 5) await fetch(`${origin}/nowhere`)
  expect(new Set(callers).size).toBe(5)
  waiting.resolve()
  expect((await Promise.all(later)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
})

test.each(['begin', 'end'])('a trace that fails to %s is reported, and its request completes', async when => {
  const { statuses, observer } = countingObserver()
  const fail = (at: string): void => {
    if (at === when) throw new Error(`no ${at}`)
  }
  const tracing = {
    begin: () => {
      fail('begin')
      return { traceparent: '', end: () => fail('end') }
    },
  }
  const { server, port, origin, faults } = await startedEdge({ observer, tracing })
  const connection = await RawConnection.open(port)
  expect((await connection.ask(ALLOWED))?.status).toBe(200)
  await connection.send(ALLOWED.slice(0, -1))
  connection.destroy()
  await connection.closed
  while (!statuses.includes(0)) await fetch(`${origin}/nowhere`)
  expect(faults[0]?.error).toMatchObject({ message: `no ${when}` })
  // All requests are complete, so closing does not wait.
  await server.close({ withinMs: HANG_MS })
  expect(statuses).toContain(200)
})

test('a draining server returns the same streaming response with `Connection: close`', async () => {
  const { server, port } = await startedEdge({})
  const whole = async () => {
    const connection = await RawConnection.open(port)
    const answer = await connection.ask(requestText('GET /pieces/100000'))
    connection.destroy()
    return answer!
  }
  const before = await whole()
  server.drain()
  const drained = await whole()
  expect(drained.body === before.body).toBe(true)
  expect([before, drained].map(({ headers }) => headers.get('connection'))).toEqual([undefined, 'close'])
})

test('a draining server returns `Connection: close` with every response', async () => {
  const { server, port } = await startedEdge({})
  server.drain()
  const requests = [
    ALLOWED,
    requestText('GET /healthy'),
    requestText('GET /large/1100000'),
    requestText('DELETE /v2/things/bulk', [AUTHORIZATION]),
  ]
  for (const text of requests) {
    const connection = await RawConnection.open(port)
    expect((await connection.ask(text))?.headers.get('connection'), text).toBe('close')
    connection.destroy()
  }
})

test('a generated request id is the same in the response and in the slow-request log', async () => {
  const logged: string[] = []
  const { observer } = countingObserver()
  const onSlow = ({ requestId }: { readonly requestId: string }) => void logged.push(requestId)
  const slow = { ms: 0, onSlow }
  const { port } = await startedEdge({ observer, slow })
  const answerTo = async (connection: RawConnection) => {
    const answer = await connection.answer()
    return answer?.headers.get('x-request-id')
  }
  const held = await RawConnection.open(port)
  await held.send(ALLOWED.slice(0, -1))
  const other = await RawConnection.open(port)
  const answered: unknown[] = []
  // More requests than there are ids that differ only in their last digits.
  for (let count = 0; count < 300; count++) {
    await other.send(ALLOWED)
    answered.push(await answerTo(other))
  }
  await held.send(ALLOWED.slice(-1))
  answered.push(await answerTo(held))
  expect(logged).toEqual(answered)
  expect(new Set(logged).size).toBe(301)
  for (const connection of [held, other]) connection.destroy()
})
