/** A Redis server and nodes for the current test. The connection of each node to Redis can be cut. */
import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { onTestFinished } from 'vitest'
import { CuttingProxy } from '../../support/processes/cutting-proxy.ts'
import { startedRedis } from '../../support/processes/redis-server.ts'
import type { RedisProcess } from '#testing/processes/redis-process.ts'
import { NodeProcess } from './node-process.ts'

/** Short enough for a test, and long enough for a machine under load. */
const STALE_AFTER_MS = 1_000
const MAX_STALE_MS = 4_000
/** Delay until a node notices the limit: its polling interval, and additional time on a busy machine. */
const LATENESS_MS_MAX = 700

export const TIMING = { STALE_AFTER_MS: `${STALE_AFTER_MS}`, MAX_STALE_MS: `${MAX_STALE_MS}` }
export const STALE_MS_MAX = MAX_STALE_MS + LATENESS_MS_MAX

export interface NodesOnWires {
  readonly redis: RedisProcess
  readonly prefix: string
  readonly nodes: NodeProcess[]
  /** One connection per node, in the order of the nodes. */
  readonly wires: CuttingProxy[]
  /** Starts another node with its own connection. */
  add(): Promise<NodeProcess>
}

export interface NodesOnWiresOptions {
  readonly nodes?: number
  readonly redisArguments?: readonly string[]
  readonly settings?: Readonly<Record<string, string>>
}

export async function startNodesOnWires(options: NodesOnWiresOptions = {}): Promise<NodesOnWires> {
  const { nodes: count = 2, redisArguments = [], settings = {} } = options
  const redis = await startedRedis({ arguments: redisArguments })
  const prefix = randomUUID()
  const nodes: NodeProcess[] = []
  const wires: CuttingProxy[] = []
  const add = async (): Promise<NodeProcess> => {
    const wire = await CuttingProxy.to(redis)
    const node = new NodeProcess(`node-${nodes.length + 1}`, {
      storeUrl: `redis://${wire.host}:${wire.port}?prefix=${prefix}`,
      settings: { ...TIMING, ...settings },
    })
    nodes.push(node)
    wires.push(wire)
    await node.serving()
    return node
  }
  await Promise.all(Array.from({ length: count }, add))
  return { redis, prefix, nodes, wires, add }
}

/** A direct connection for administrative commands. */
export function orders(redis: RedisProcess): Redis {
  const client = new Redis({ host: redis.host, port: redis.port, protocol: 2, maxRetriesPerRequest: null })
  client.on('error', () => undefined)
  onTestFinished(() => client.disconnect())
  return client
}
