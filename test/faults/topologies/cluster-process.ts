/** A Redis Cluster of three servers without replicas, in processes of this machine. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { freePort } from '#testing/processes/free-port.ts'
import { type RedisProcess, startRedis } from '#testing/processes/redis-process.ts'

const SLOTS = 16_384
const NODES = 3

export interface ClusterProcesses {
  readonly nodes: readonly RedisProcess[]
  /** A store URL with a new prefix. */
  url(): string
  /** Resolves when each server serves and knows all others. */
  whenWhole(): Promise<void>
  stop(): Promise<void>
}

export async function startCluster(): Promise<ClusterProcesses> {
  const nodes = await Promise.all(Array.from({ length: NODES }, startNode))
  const asking = async (ask: (clients: readonly Redis[]) => Promise<void>): Promise<void> => {
    const clients = nodes.map(({ host, port }) => new Redis({ host, port }))
    try {
      await ask(clients)
    } finally {
      for (const client of clients) client.disconnect()
    }
  }
  await asking(clients => join(nodes, clients))
  return {
    nodes,
    whenWhole: () => asking(whole),
    url: () => {
      const hosts = nodes.map(({ host, port }) => `${host}:${port}`).join(',')
      return `redis+cluster://${hosts}?prefix=${randomUUID()}`
    },
    stop: async () => void (await Promise.all(nodes.map(node => node.stop()))),
  }
}

async function startNode(): Promise<RedisProcess> {
  const busPort = await freePort()
  const cluster = ['--cluster-enabled', 'yes', '--cluster-port', String(busPort)]
  const timeout = ['--cluster-node-timeout', '2000']
  const onDisk = ['--appendonly', 'yes', '--appendfsync', 'always']
  return startRedis({ arguments: [...cluster, ...timeout, ...onDisk] })
}

async function join(nodes: readonly RedisProcess[], clients: readonly Redis[]): Promise<void> {
  for (const [index, client] of clients.entries()) {
    const [first, next] = [index, index + 1].map(part => Math.floor((part * SLOTS) / NODES))
    await client.call('CLUSTER', 'ADDSLOTSRANGE', first!, next! - 1)
    await client.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1)
  }
  for (const node of nodes.slice(1)) {
    const [, busPort] = /cluster-port (\d+)/.exec(node.commandLine.join(' ').replaceAll('--', ''))!
    await clients[0]!.call('CLUSTER', 'MEET', node.host, node.port, busPort!)
  }
  await whole(clients)
}

async function whole(clients: readonly Redis[]): Promise<void> {
  for (const client of clients) {
    const isWhole = async () => {
      const info = String(await client.call('CLUSTER', 'INFO'))
      const wanted = ['cluster_state:ok', `cluster_slots_ok:${SLOTS}`, `cluster_known_nodes:${NODES}`]
      return wanted.every(line => info.includes(line))
    }
    while (!(await isWhole())) await pause(50)
  }
}
