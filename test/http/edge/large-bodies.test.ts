/** Several large bodies that become whole in one turn of the event loop: nobody waits for more than one of them. */
import { expect, onTestFinished, test } from 'vitest'
import { LARGE_BODY_BYTES_MIN } from '#http/large-body-turns.ts'
import { allowedBody, AUTHORIZED, type EdgeServer, startEdge } from './edge-server.ts'
import { RawConnection, requestText } from './raw-connection.ts'

/** What a server was asked, in the order in which it called the handlers, and in which turn of the loop it did. */
interface Asked {
  readonly name: string
  readonly turn: number
}

async function started(): Promise<{ edge: EdgeServer; asked: Asked[] }> {
  const asked: Asked[] = []
  let turn = 0
  let isOver = false
  const count = (): void => {
    turn++
    if (!isOver) setImmediate(count)
  }
  count()
  const edge = await startEdge({
    limits: { bodyBytesMax: 2 * LARGE_BODY_BYTES_MIN },
    onCall: name => asked.push({ name, turn }),
  })
  onTestFinished(async () => {
    isOver = true
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

function question(name: string, bytes: number): string {
  const body = allowedBody(bytes)
  const headers = [
    `Authorization: ${AUTHORIZED.authorization}`,
    `X-Request-ID: ${name}`,
    `Content-Length: ${body.length}`,
  ]
  return requestText('POST /allowed', headers, body)
}

/** Nothing is left on its way when this returns: the server, which runs in this thread, has read all that was sent. */
async function unfinished(edge: EdgeServer, names: readonly string[]): Promise<Unfinished[]> {
  const all = names.map(async name => {
    const text = question(name, LARGE_BODY_BYTES_MIN)
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

async function firstAsked(asked: readonly Asked[]): Promise<void> {
  while (asked.length === 0) await new Promise(resolve => setImmediate(resolve))
}

test('large bodies are read one in each turn of the loop, and who asks less goes first', async () => {
  const { edge, asked } = await started()
  const names = ['first', 'second', 'third', 'fourth']
  const large = await unfinished(edge, names)
  const short = await RawConnection.open(edge.port)
  onTestFinished(() => short.destroy())
  for (const { connection, rest } of large) void connection.send(rest)
  void short.send(question('short', 0))
  const answers = await Promise.all(
    [short, ...large.map(({ connection }) => connection)].map(one => one.answer()),
  )
  expect(answers.map(answer => answer?.status)).toEqual([200, 200, 200, 200, 200])
  expect(asked.map(({ name }) => name)).toEqual(['first', 'short', 'second', 'third', 'fourth'])
  const turns = asked.filter(({ name }) => name !== 'short').map(({ turn }) => turn)
  expect(turns).toEqual(turns.map((_, index) => turns[0]! + index))
})

test('one whose caller leaves while it waits is not read, and those behind it are', async () => {
  const { edge, asked } = await started()
  const names = ['first', 'second', 'third', 'fourth', 'leaves', 'last']
  const large = await unfinished(edge, names)
  for (const { connection, rest } of large) void connection.send(rest)
  await firstAsked(asked)
  expect(asked.length).toBeLessThan(3)
  large[names.indexOf('leaves')]!.connection.reset()
  const stay = large.filter((_, index) => names[index] !== 'leaves')
  const answers = await Promise.all(stay.map(({ connection }) => connection.answer()))
  expect(answers.map(answer => answer?.status)).toEqual([200, 200, 200, 200, 200])
  expect(asked.map(({ name }) => name)).toEqual(names.filter(name => name !== 'leaves'))
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
