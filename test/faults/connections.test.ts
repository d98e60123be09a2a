/** Pub/sub messages, connections and responses of Redis are lost, but no acknowledged write is lost. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { orders, startNodesOnWires } from './support/nodes-on-wires.ts'
import { Workload } from './support/workload.ts'

test('nodes find new commits by polling and reject no request while every published message is lost', async () => {
  const { nodes, wires } = await startNodesOnWires()
  const workload = await Workload.start(nodes)
  for (const wire of wires) wire.isLosingSignals = true
  await workload.hasWritten(200)
  const seen = await workload.end()
  expect(Math.min(...wires.map(({ lostSignals }) => lostSignals))).toBeGreaterThan(100)
  expect(seen).toMatchObject({ refused: 0, failedWrites: 0, commits: workload.history.sent })
})

test('connections that the server kills repeatedly, even during commits, cause no failed request', async () => {
  const { redis, nodes } = await startNodesOnWires()
  const workload = await Workload.start(nodes)
  const server = orders(redis)
  for (let round = 0; round < 60; round += 1) {
    await server.call('CLIENT', 'KILL', 'TYPE', round % 2 === 0 ? 'normal' : 'pubsub', 'SKIPME', 'yes')
    await pause(37)
  }
  await workload.hasWritten(50)
  const seen = await workload.end()
  expect(seen).toMatchObject({ refused: 0, failedWrites: 0, commits: workload.history.sent })
})
