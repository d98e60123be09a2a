/** Order of requests of several environments: number of requests per environment and event-loop iteration. */
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  COST_PER_ITERATION,
  LARGE_BODY_BYTES_MIN,
  FairArrivalScheduler,
} from '#http/edge/arrival-scheduler.ts'
import { allowedBody, AUTHORIZATION, type EdgeServer, postText, startEdge } from './edge-server.ts'

/** A scheduler, and the shares whose requests it has answered, in order. */
function open() {
  const answered: string[] = []
  const turns = new FairArrivalScheduler()
  const arrive = (share: string, { count = 1, bytes = 0 } = {}): void => {
    for (let n = 0; n < count; n++) turns.take(bytes, share, () => answered.push(share))
  }
  return { turns, arrive, answered, countOf: (share: string) => answered.filter(one => one === share).length }
}

const nextTurn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
/** Upper bound of the requests that are not counted per share. */
const SLACK = 2_048
const PIPELINED = 2_000

test('the requests of one share per iteration are limited, and another share does not wait for the rest', async () => {
  const { arrive, answered, countOf } = open()
  arrive('many', { count: 3 * COST_PER_ITERATION })
  expect(countOf('many')).toBeLessThanOrEqual(COST_PER_ITERATION + SLACK)
  arrive('one')
  expect(answered.at(-1)).toBe('one')
  for (let turn = 1; countOf('many') < 3 * COST_PER_ITERATION; turn++) {
    const before = countOf('many')
    await nextTurn()
    expect(countOf('many') - before).toBeLessThanOrEqual(COST_PER_ITERATION)
    expect(turn).toBeLessThan(5)
  }
})

test('waiting requests are answered round-robin over the shares', async () => {
  const { arrive, answered } = open()
  for (const share of ['a', 'b']) arrive(share, { count: COST_PER_ITERATION + SLACK })
  const before = answered.length
  arrive('a', { count: 2 })
  arrive('b', { count: 2 })
  expect(answered.length).toBe(before)
  await nextTurn()
  const later = answered.slice(before)
  expect(later.slice(0, 6)).toEqual(['a', 'b', 'a', 'b', 'a', 'b'])
})

test('a request does not overtake waiting requests of its share', async () => {
  const { turns, arrive } = open()
  arrive('a', { count: 2 * COST_PER_ITERATION + SLACK })
  await nextTurn()
  expect(turns.begin(0, 'a')).toBe(false)
  expect(turns.begin(0, 'b')).toBe(true)
})

test('a share with long bodies gets fewer responses per iteration', async () => {
  const { arrive, countOf } = open()
  arrive('long', { count: 1_000, bytes: LARGE_BODY_BYTES_MIN - 1 })
  expect(countOf('long')).toBeLessThanOrEqual(30)
})

test('one large body is answered per iteration, round-robin over the shares', async () => {
  const { arrive, answered } = open()
  for (const share of ['a', 'a', 'a', 'b']) arrive(share, { bytes: LARGE_BODY_BYTES_MIN })
  expect(answered).toEqual(['a'])
  while (answered.length < 4) {
    const before = answered.length
    await nextTurn()
    expect(answered.length - before).toBeLessThanOrEqual(1)
  }
  expect(answered).toEqual(['a', 'a', 'b', 'a'])
})

/** Number of requests handled in the current event-loop iteration, and the maximum of this number. */
let inTurn = 0
let most = 0
let edge: EdgeServer
beforeAll(async () => {
  edge = await startEdge({}, () => {
    if (inTurn === 0) setImmediate(() => (inTurn = 0))
    inTurn += 1
    most = Math.max(most, inTurn)
  })
})
afterAll(() => edge.server.close())

test('connections of one share that pipeline thousands of requests share its limit per iteration', async () => {
  const statuses = await Promise.all(Array.from({ length: 8 }, () => statusesOf(edge.port, PIPELINED)))
  expect(most).toBeLessThanOrEqual(COST_PER_ITERATION + SLACK + statuses.length)
  expect(new Set(statuses.flat())).toEqual(new Set(['200']))
})

test('clients with a hundred connections that pipeline a hundred requests lose no connection', async () => {
  const connections = Array.from({ length: 100 }, () => statusesOf(edge.port, 100))
  for (const statuses of await Promise.all(connections)) expect(statuses).toHaveLength(100)
})

/** Pipelines `count` requests. Resolves with the statuses of the responses when the connection is closed. */
function statusesOf(port: number, count: number): Promise<string[]> {
  const text = postText('/allowed', allowedBody(), [AUTHORIZATION]).repeat(count)
  const socket = connect(port, '127.0.0.1', () => socket.write(text, 'latin1'))
  const pieces: string[] = []
  let answers = 0
  socket.on('error', () => {})
  socket.on('data', (piece: Buffer) => {
    pieces.push(piece.toString('latin1'))
    answers += pieces.at(-1)!.split('HTTP/1.1').length - 1
    if (answers === count) socket.destroy()
  })
  return new Promise(resolve => {
    socket.on('close', () => {
      resolve(Array.from(pieces.join('').matchAll(/HTTP\/1\.1 (\d+)/gu), ([, status]) => status!))
    })
  })
}
