/**
 * Detects servers that evict keys when they are full. An evicted key is lost data. A ledger does not need
 * eviction, but a server that evicts the keys of other programs can also evict these keys. A start rejects
 * such a server unless the operator allows it. A running node checks this again after each connection and
 * once per hour, and logs a warning.
 */
import { Cluster } from 'ioredis'
import { AuthzError } from '#model/errors.ts'
import type { RedisClient } from './redis-client.ts'
import type { StoreLog } from '#store/store-log.ts'

/** Policy of a server that keeps everything and rejects writes when it is full. */
const KEEPS_ALL = 'noeviction'
/** Represents a server that does not report its policy, for example because the user lacks permission. */
const UNKNOWN = 'unknown'
/** Interval of the check while a node runs, in milliseconds. */
const SAID_MS = 3_600_000

export class EvictionWatch {
  readonly #client: RedisClient
  readonly #log: StoreLog
  readonly #timer: NodeJS.Timeout

  constructor(client: RedisClient, log: StoreLog) {
    this.#client = client
    this.#log = log
    const look = (): void => void evictionPolicy(client).then(policy => this.#say(policy))
    client.on('ready', look)
    this.#timer = setInterval(look, SAID_MS)
    this.#timer.unref()
  }

  /** Throws `STORE_REFUSED` if the server evicts keys. */
  async requireNone(): Promise<void> {
    const policy = await evictionPolicy(this.#client)
    if (policy === null || policy === UNKNOWN) return
    const message = `Redis evicts keys when it is full, so facts can be lost: its maxmemory-policy is ${policy}`
    const remedy = `set it to ${KEEPS_ALL}, or set ALLOW_EVICTION=true`
    throw new AuthzError('STORE_REFUSED', `${message}; ${remedy}`)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #say(policy: string | null): void {
    if (policy === UNKNOWN) {
      this.#log.warn(
        {},
        `Redis does not report its maxmemory-policy: facts can be lost unless it is ${KEEPS_ALL}`,
      )
    } else if (policy !== null) {
      this.#log.warn({ policy }, `Redis evicts keys when it is full: facts can be lost; set ${KEEPS_ALL}`)
    }
  }
}

/** Returns the first evicting policy of all servers that keep data, or null if there is none. */
async function evictionPolicy(client: RedisClient): Promise<string | null> {
  const servers = client instanceof Cluster ? client.nodes('master') : [client]
  const policies = await Promise.all(
    servers.map(async server => {
      const info = await server.info('memory').catch(() => '')
      const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1]
      if (policy !== undefined) return policy
      const answer = (await server.config('GET', 'maxmemory-policy').catch(() => [])) as readonly string[]
      return answer[1] ?? UNKNOWN
    }),
  )
  const others = policies.filter(policy => policy !== KEEPS_ALL)
  return others.find(policy => policy !== UNKNOWN) ?? others[0] ?? null
}
