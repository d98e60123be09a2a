/** A primary, a replica and three sentinels that monitor them, in processes of this machine. */
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { type RedisProcess, startRedis } from '#testing/processes/redis-process.ts'

const MASTER = 'verdict-primary'
const PASSWORD = 'of-the-servers'
const SENTINEL_PASSWORD = 'of-the-sentinels'
const SENTINELS = 3

export interface SentinelProcesses {
  readonly primary: RedisProcess
  readonly replica: RedisProcess
  /** A store URL with a new prefix. */
  url(): string
  /** Resolves when the replica has caught up with the primary. */
  hasSynced(): Promise<void>
  /** Resolves when the sentinels have promoted the replica. */
  hasFailedOver(): Promise<void>
  stop(): Promise<void>
}

export async function startSentinels(): Promise<SentinelProcesses> {
  const password = ['--requirepass', PASSWORD, '--masterauth', PASSWORD]
  const primary = await startRedis({ arguments: password })
  const of = ['--replicaof', primary.host, String(primary.port)]
  const replica = await startRedis({ arguments: [...password, ...of] })
  const sentinels = await Promise.all(Array.from({ length: SENTINELS }, () => startSentinel(primary)))
  const orders = [primary, replica].map(({ host, port }) => {
    const client = new Redis({ host, port, password: PASSWORD })
    client.on('error', () => undefined)
    return client
  }) as [Redis, Redis]
  const replication = (client: Redis) => client.info('replication')
  while (!(await replication(orders[1])).includes('master_link_status:up')) await pause(50)
  await Promise.all(sentinels.map(sentinel => knowsAll(sentinel)))
  return {
    primary,
    replica,
    url: () => {
      const hosts = sentinels.map(({ host, port }) => `${host}:${port}`).join(',')
      const names = `master=${MASTER}&sentinel_password=${SENTINEL_PASSWORD}&prefix=${randomUUID()}`
      return `redis+sentinel://:${PASSWORD}@${hosts}?${names}`
    },
    hasSynced: async () => {
      const offset = (text: string) => /master_repl_offset:(\d+)/.exec(text)![1]
      while (offset(await replication(orders[0])) !== offset(await replication(orders[1]))) await pause(10)
    },
    hasFailedOver: async () => {
      while (!(await replication(orders[1])).includes('role:master')) await pause(50)
    },
    stop: async () => {
      for (const client of orders) client.disconnect()
      await Promise.all([...sentinels, replica, primary].map(server => server.stop()))
    },
  }
}

/** Sentinels write into their configuration files. */
async function startSentinel(primary: RedisProcess): Promise<RedisProcess> {
  return startRedis({
    isSentinel: true,
    arguments: (_port, directory) => {
      const file = join(directory, 'sentinel.conf')
      writeFileSync(
        file,
        [
          `requirepass ${SENTINEL_PASSWORD}`,
          `sentinel sentinel-pass ${SENTINEL_PASSWORD}`,
          `sentinel monitor ${MASTER} ${primary.host} ${primary.port} 2`,
          `sentinel auth-pass ${MASTER} ${PASSWORD}`,
          `sentinel down-after-milliseconds ${MASTER} 3000`,
          `sentinel failover-timeout ${MASTER} 5000`,
        ].join('\n'),
      )
      return [file]
    },
  })
}

async function knowsAll({ host, port }: RedisProcess): Promise<void> {
  const client = new Redis({ host, port, password: SENTINEL_PASSWORD })
  const isWhole = async () => {
    const info = await client.info('sentinel')
    return info.includes(`slaves=1,sentinels=${SENTINELS}`)
  }
  while (!(await isWhole())) await pause(100)
  client.disconnect()
}
