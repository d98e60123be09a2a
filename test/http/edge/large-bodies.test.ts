/** Several large bodies that become whole in one turn of the event loop: nobody waits for more than one of them. */
import { expect, onTestFinished, test } from 'vitest'
import { BYTES_HERE_MAX } from '#http/routing/large-bodies.ts'
import { LARGE_BODY_BYTES_MIN } from '#http/edge/request-scheduler.ts'
import { allowedBody, AUTHORIZED, type EdgeServer, startEdge } from './edge-server.ts'
import { RawConnection, requestText } from '#testing/requests/raw-connection.ts'

/** `asked`: the names of requests, in the order in which their handlers were called. */
async function started(
  onCall: (name: string) => void = () => {},
): Promise<{ edge: EdgeServer; asked: string[] }> {
  const asked: string[] = []
  const edge = await startEdge({
    limits: { bodyBytesMax: 2 * BYTES_HERE_MAX },
    onCall: name => {
      asked.push(name)
      onCall(name)
    },
  })
  onTestFinished(async () => {
    await edge.server.close()
    expect(edge.faults).toEqual([])
  })
  return { edge, asked }
}

/** A connection that has sent all of a request but its last byte, and that byte. */
interface Unfinished {
  readonly connection: RawConnection
  readonly rest: string
}

function request(path: string, name: string, body: string): string {
  const headers = [
    `Authorization: ${AUTHORIZED.authorization}`,
    `X-Request-ID: ${name}`,
    `Content-Length: ${body.length}`,
  ]
  return requestText(`POST ${path}`, headers, body)
}

const ofShort = (name: string) => request('/allowed', name, allowedBody())
const ofLarge = (name: string) => request('/allowed', name, allowedBody(LARGE_BODY_BYTES_MIN))
const ofChange = (name: string) => {
  const body = JSON.stringify({ key: 'thing', attributes: 'x'.repeat(LARGE_BODY_BYTES_MIN) })
  return request('/v2/things', name, body)
}

/** Nothing is left on its way when this returns: the server, which runs in this thread, has read all that was sent. */
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
  // Each takes turns of the loop, in each of which the server reads up to half a megabyte of every connection.
  for (let times = 0; times < 20; times++) await fetch(`${edge.origin}/nowhere`)
  return connections
}

async function firstAsked(asked: readonly string[]): Promise<void> {
  while (asked.length === 0) await new Promise(resolve => setImmediate(resolve))
}

const LONG_BYTES = BYTES_HERE_MAX + LARGE_BODY_BYTES_MIN

test.each([
  ['large', ofLarge],
  ['long', (name: string) => request('/allowed', name, allowedBody(LONG_BYTES))],
])(
  'between two %s bodies the loop turns, and who asked little meanwhile goes first',
  async (_kind, textOf) => {
    const names = ['first', 'second', 'third', 'fourth']
    const { edge, asked } = await started(name => {
      if (names.includes(name)) void short.send(ofShort(`behind ${name}`))
    })
    const short = await RawConnection.open(edge.port)
    onTestFinished(() => short.destroy())
    const large = await unfinished(edge, names, textOf)
    for (const { connection, rest } of large) void connection.send(rest)
    for (const { connection } of large) expect((await connection.answer())?.status).toBe(200)
    for (const _ of names) expect((await short.answer())?.status).toBe(200)
    expect(asked).toEqual(names.flatMap(name => [name, `behind ${name}`]))
  },
)

test.each([
  ['question', ofLarge],
  ['change', ofChange],
])('a %s whose caller leaves while it waits is not read, and those behind it are', async (_kind, textOf) => {
  const { edge, asked } = await started()
  const names = ['first', 'second', 'third', 'fourth', 'leaves', 'last']
  const large = await unfinished(edge, names, textOf)
  for (const { connection, rest } of large) void connection.send(rest)
  await firstAsked(asked)
  expect(asked.length).toBeLessThan(3)
  large[names.indexOf('leaves')]!.connection.reset()
  const stay = large.filter((_, index) => names[index] !== 'leaves')
  const answers = await Promise.all(stay.map(({ connection }) => connection.answer()))
  expect(answers.map(answer => answer?.status)).toEqual(stay.map(() => 200))
  expect(asked).toEqual(names.filter(name => name !== 'leaves'))
})

test('a server that closes answers those that wait', async () => {
  const { edge, asked } = await started()
  const large = await unfinished(edge, ['first', 'second', 'third'])
  for (const { connection, rest } of large) void connection.send(rest)
  const answers = Promise.all(large.map(({ connection }) => connection.answer()))
  await firstAsked(asked)
  expect(asked.length).toBeLessThan(3)
  await edge.server.close()
  expect((await answers).map(answer => answer?.status)).toEqual([200, 200, 200])
})

test('who sends the next request behind one that waits loses the connection, and nobody else does', async () => {
  const { edge, asked } = await started()
  const large = await unfinished(edge, ['first', 'hurries', 'last'])
  const [first, hurries, last] = large
  void first!.connection.send(first!.rest)
  void hurries!.connection.send(hurries!.rest + ofShort('behind'))
  void last!.connection.send(last!.rest)
  expect(await hurries!.connection.answer()).toBe(null)
  expect((await first!.connection.answer())?.status).toBe(200)
  expect((await last!.connection.answer())?.status).toBe(200)
  expect(asked).toEqual(['first', 'last'])
})
