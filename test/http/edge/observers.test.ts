/** Those who are told of requests: counters, traces, and the owner of a server that is closing. */
import { expect, test } from 'vitest'
import type { WaitingClient } from '#decisions/decision-pool.ts'
import type { HttpServerOptions } from '#http/edge/server.ts'
import { defineRoute } from '#http/routing/route.ts'
import { allowedBody, AUTHORIZED, countingObserver, type EdgeServer, startedEdge } from './edge-server.ts'
import { RawConnection, requestText } from '#testing/requests/raw-connection.ts'
import { HANG_MS } from '../../support/hang.ts'

const BODY = allowedBody()
const ALLOWED = requestText(
  'POST /allowed',
  [`Authorization: ${AUTHORIZED.authorization}`, `Content-Length: ${BODY.length}`],
  BODY,
)

async function started(options: Partial<HttpServerOptions>): Promise<EdgeServer> {
  const edge = await startedEdge(options)
  return edge
}

test('a caller who hangs up is counted as one without an answer, whatever the one before was told', async () => {
  const { statuses, observer } = countingObserver()
  const { port, origin } = await started({ observer })
  const connection = await RawConnection.open(port)
  await connection.send(ALLOWED)
  await connection.answer()
  await connection.send(ALLOWED.slice(0, -1))
  connection.destroy()
  await connection.closed
  while (!statuses.includes(0)) await fetch(`${origin}/nowhere`)
  expect(statuses.filter(status => status !== 404)).toEqual([200, 0])
})

test('an answer that cannot be written is counted as a defect, whatever it was to be', async () => {
  const { statuses, observer } = countingObserver()
  const { port } = await started({ observer })
  const connection = await RawConnection.open(port)
  await connection.send(requestText('POST /failures/unwritable', ['Content-Length: 1'], 'x'))
  await connection.closed
  expect(statuses).toEqual([500])
})

test('requests that are answered at once share one conversation; those that wait have one each', async () => {
  const callers: WaitingClient[] = []
  const waiting = Promise.withResolvers<void>()
  const route = (path: '/at-once' | '/later', answered: () => Promise<void> | null) =>
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
  const { origin } = await started({
    routes: [route('/at-once', () => null), route('/later', () => waiting.promise)],
  })
  for (let times = 0; times < 20; times++) {
    await fetch(`${origin}/at-once`, { method: 'POST', body: times % 2 === 0 ? 'x' : null })
  }
  expect(new Set(callers).size).toBe(1)
  callers.length = 0
  const later = Array.from({ length: 5 }, () => fetch(`${origin}/later`, { method: 'POST', body: 'x' }))
  while (callers.length < 5) await fetch(`${origin}/at-once-not`)
  expect(new Set(callers).size).toBe(5)
  waiting.resolve()
  expect((await Promise.all(later)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
})

test.each(['begin', 'end'])(
  'a trace that fails to %s is reported; the request is answered and over',
  async when => {
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
    const { server, port, origin, faults } = await started({ observer, tracing })
    const connection = await RawConnection.open(port)
    await connection.send(ALLOWED)
    expect((await connection.answer())?.status).toBe(200)
    await connection.send(ALLOWED.slice(0, -1))
    connection.destroy()
    await connection.closed
    while (!statuses.includes(0)) await fetch(`${origin}/nowhere`)
    expect(faults[0]?.error).toMatchObject({ message: `no ${when}` })
    // Waits for nobody: all are over.
    await server.close({ withinMs: HANG_MS })
    expect(statuses).toContain(200)
  },
)

test('while a server is drained, an answer in pieces is what it is otherwise', async () => {
  const { server, port } = await started({})
  const whole = async () => {
    const connection = await RawConnection.open(port)
    await connection.send(requestText('GET /pieces/100000'))
    const answer = await connection.answer()
    connection.destroy()
    return answer!
  }
  const before = await whole()
  server.drain()
  const drained = await whole()
  expect(drained.body === before.body).toBe(true)
  expect([before, drained].map(({ headers }) => headers.get('connection'))).toEqual([undefined, 'close'])
})

test('while a server is drained, every answer asks its caller to go elsewhere', async () => {
  const { server, port } = await started({})
  server.drain()
  const key = `Authorization: ${AUTHORIZED.authorization}`
  const requests = [
    ALLOWED,
    requestText('GET /healthy'),
    requestText('GET /large/1100000'),
    requestText('DELETE /v2/things/bulk', [key]),
  ]
  for (const text of requests) {
    const connection = await RawConnection.open(port)
    await connection.send(text)
    expect((await connection.answer())?.headers.get('connection'), text).toBe('close')
    connection.destroy()
  }
})

test('an id that was made is one and the same in the answer and wherever the request is told of, whatever comes between', async () => {
  const told: string[] = []
  const { observer } = countingObserver()
  const slow = { ms: 0, onSlow: ({ requestId }: { readonly requestId: string }) => void told.push(requestId) }
  const { port } = await started({ observer, slow })
  const answerTo = async (connection: RawConnection) => {
    const answer = await connection.answer()
    return answer?.headers.get('x-request-id')
  }
  const held = await RawConnection.open(port)
  await held.send(ALLOWED.slice(0, -1))
  const other = await RawConnection.open(port)
  const answered: unknown[] = []
  // More than differ in their last digits only.
  for (let count = 0; count < 300; count++) {
    await other.send(ALLOWED)
    answered.push(await answerTo(other))
  }
  await held.send(ALLOWED.slice(-1))
  answered.push(await answerTo(held))
  expect(told).toEqual(answered)
  expect(new Set(told).size).toBe(301)
  for (const connection of [held, other]) connection.destroy()
})
