/** The way to Redis is disturbed: signals get lost, connections break, answers do not arrive. Nothing acknowledged is lost. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { orders, STALE_MS_MAX, startNodesOnWires } from './support/nodes-on-wires.ts'
import { Workload } from './support/workload.ts'

const options = { staleMsMax: STALE_MS_MAX }

test('while every published message is lost, nodes follow by the timer, and nobody is refused', async () => {
  const { nodes, wires } = await startNodesOnWires()
  const workload = await Workload.start(nodes, options)
  for (const wire of wires) wire.isLosingSignals = true
  await workload.hasWritten(200)
  const seen = await workload.end()
  expect(Math.min(...wires.map(({ lostSignals }) => lostSignals))).toBeGreaterThan(100)
  expect(seen).toMatchObject({ refused: 0, failedWrites: 0, commits: workload.history.sent })
})

test('connections killed by the server again and again, in the middle of commits too, cost time only', async () => {
  const { redis, nodes } = await startNodesOnWires()
  const workload = await Workload.start(nodes, options)
  const server = orders(redis)
  for (let round = 0; round < 60; round += 1) {
    await server.call('CLIENT', 'KILL', 'TYPE', round % 2 === 0 ? 'normal' : 'pubsub', 'SKIPME', 'yes')
    await pause(37)
  }
  await workload.hasWritten(50)
  const seen = await workload.end()
  expect(seen).toMatchObject({ refused: 0, failedWrites: 0, commits: workload.history.sent })
})

test('a commit whose answer is cut off, or which never arrived, is done once', async () => {
  const { nodes, wires } = await startNodesOnWires()
  const workload = await Workload.start(nodes, options)
  for (let round = 0; round < 20; round += 1) {
    const kind = round % 2 === 0 ? 'lose-answer' : 'lose-command'
    await wires[(round >> 1) % 2]!.failOn('EVALSHA', kind)
  }
  const seen = await workload.end()
  expect(seen).toMatchObject({ refused: 0, failedWrites: 0, commits: workload.history.sent })
})

test('while nodes lack the right to their channels they follow by the timer and say so once; nobody is refused', async () => {
  const { redis, nodes } = await startNodesOnWires()
  const workload = await Workload.start(nodes, options)
  const server = orders(redis)
  // Ends the connections that listen, too.
  await server.call('ACL', 'SETUSER', 'default', 'resetchannels')
  await workload.hasWritten(200)
  await server.call('ACL', 'SETUSER', 'default', '&*')
  await workload.hasWritten(50)
  while (!nodes.every(({ log }) => log.includes('Redis has its channels open again'))) await pause(50)
  const seen = await workload.end()
  expect(seen).toMatchObject({ refused: 0, failedWrites: 0, commits: workload.history.sent })
  for (const { log } of nodes) expect(log.match(/NOPERM/g)).toHaveLength(1)
})
