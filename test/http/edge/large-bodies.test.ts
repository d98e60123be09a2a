/** If several large bodies complete in one event-loop iteration, other requests wait for at most one. */
import { expect, onTestFinished, test } from 'vitest'
import { BYTES_HERE_MAX } from '#http/routing/large-bodies.ts'
import { LARGE_BODY_BYTES_MIN } from '#http/edge/arrival-scheduler.ts'
import { allowedBody, AUTHORIZATION, type EdgeServer, postText, startEdge } from './edge-server.ts'
import { RawConnection } from '#testing/requests/raw-connection.ts'

/** `called` contains the names of requests, in the order of their handler calls. */
async function started(
  onCall: (name: string) => void = () => {},
): Promise<{ edge: EdgeServer; called: string[] }> {
  const called: string[] = []
  const edge = await startEdge({ limits: { bodyBytesMax: 2 * BYTES_HERE_MAX } }, name => {
    called.push(name)
    onCall(name)
  })
  onTestFinished(async () => {
    await edge.server.close()
    expect(edge.faults).toEqual([])
  })
  return { edge, called }
}

/** A connection that sent a request except the last byte, and this last byte. */
interface Unfinished {
  readonly connection: RawConnection
  readonly rest: string
}

function request(path: string, name: string, body: string): string {
  return postText(path, body, [AUTHORIZATION, `X-Request-ID: ${name}`])
}

const ofShort = (name: string) => request('/allowed', name, allowedBody())
const ofLarge = (name: string) => request('/allowed', name, allowedBody(LARGE_BODY_BYTES_MIN))
const ofChange = (name: string) => {
  const body = JSON.stringify({ key: 'thing', attributes: 'x'.repeat(LARGE_BODY_BYTES_MIN) })
  return request('/v2/things', name, body)
}

/** Resolves when the server, which runs in this thread, has read all sent bytes. */
async function unfinished(
  edge: EdgeServer,
  names: readonly string[],
  textOf = ofLarge,
): Promise<Unfinished[]> {
  const all = names.map(async name => {
    const text = textOf(name)
    const connection = await RawConnection.open(edge.port)
    onTestFinished(() => connection.destroy())
    await connection.send(text.slice(0, -1))
    return { connection, rest: text.slice(-1) }
  })
  const connections = await Promise.all(all)
  // In each event-loop iteration, the server reads up to 0.5 MB from every connection.
  for (let times = 0; times < 20; times++) await fetch(`${edge.origin}/nowhere`)
  return connections
}

async function firstCall(called: readonly string[]): Promise<void> {
  while (called.length === 0) await new Promise(resolve => setImmediate(resolve))
}

const LONG_BYTES = BYTES_HERE_MAX + LARGE_BODY_BYTES_MIN

test.each([
  ['large', ofLarge],
  ['long', (name: string) => request('/allowed', name, allowedBody(LONG_BYTES))],
])(
  'a small request that arrives between two %s bodies is processed before the second one',
  async (_kind, textOf) => {
    const names = ['first', 'second', 'third', 'fourth']
    const { edge, called } = await started(name => {
      if (names.includes(name)) void short.send(ofShort(`after ${name}`))
    })
    const short = await RawConnection.open(edge.port)
    onTestFinished(() => short.destroy())
    const large = await unfinished(edge, names, textOf)
    for (const { connection, rest } of large) void connection.send(rest)
    for (const { connection } of large) expect((await connection.answer())?.status).toBe(200)
    for (const _ of names) expect((await short.answer())?.status).toBe(200)
    expect(called).toEqual(names.flatMap(name => [name, `after ${name}`]))
  },
)

test.each([
  ['check', ofLarge],
  ['change', ofChange],
])(
  'a queued %s is dropped if its client disconnects, and later requests are processed',
  async (_kind, textOf) => {
    const { edge, called } = await started()
    const names = ['first', 'second', 'third', 'fourth', 'leaves', 'last']
    const large = await unfinished(edge, names, textOf)
    for (const { connection, rest } of large) void connection.send(rest)
    await firstCall(called)
    expect(called.length).toBeLessThan(3)
    large[names.indexOf('leaves')]!.connection.reset()
    const stay = large.filter((_, index) => names[index] !== 'leaves')
    const answers = await Promise.all(stay.map(({ connection }) => connection.answer()))
    expect(answers.map(answer => answer?.status)).toEqual(stay.map(() => 200))
    expect(called).toEqual(names.filter(name => name !== 'leaves'))
  },
)

test('a server that closes completes queued requests', async () => {
  const { edge, called } = await started()
  const large = await unfinished(edge, ['first', 'second', 'third'])
  for (const { connection, rest } of large) void connection.send(rest)
  const answers = Promise.all(large.map(({ connection }) => connection.answer()))
  await firstCall(called)
  expect(called.length).toBeLessThan(3)
  await edge.server.close()
  expect((await answers).map(answer => answer?.status)).toEqual([200, 200, 200])
})

test('a client that pipelines a request after a queued one loses its connection, and other clients do not', async () => {
  const { edge, called } = await started()
  const [first, second, last] = await unfinished(edge, ['first', 'second', 'last'])
  void first!.connection.send(first!.rest)
  void second!.connection.send(second!.rest + ofShort('pipelined'))
  void last!.connection.send(last!.rest)
  expect(await second!.connection.answer()).toBe(null)
  expect((await first!.connection.answer())?.status).toBe(200)
  expect((await last!.connection.answer())?.status).toBe(200)
  expect(called).toEqual(['first', 'last'])
})
