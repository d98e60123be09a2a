/**
 * Creates connections to Redis. This is the only place that knows the options of the client and the
 * differences of the topologies. A cluster is one client with a connection to each of its nodes; the other
 * topologies are one connection.
 */
import { isIP } from 'node:net'
import { Cluster, Redis, type RedisOptions } from 'ioredis'
import type { ClusterAddress, Login, RedisAddress, RedisHost, SentinelAddress } from './redis-url.ts'
import { reconnectPauseMs } from './reconnect.ts'

/** A client. It reconnects by itself when its connection is lost. */
export type RedisClient = Redis | Cluster

/**
 * If a server sends nothing for this long while a response is due, it counts as unreachable. Every command
 * takes less time than this.
 */
const SILENCE_MS_MAX = 5_000
const CONNECT_MS_MAX = 3_000
/**
 * Interval at which a cluster is queried for its slots. It is also queried when a node reports that a slot
 * has moved.
 */
const SLOTS_REFRESH_MS = 5_000

/**
 * Returns a client that is connecting. Commands are rejected until it is ready. `CLIENT LIST` shows `name`.
 */
export function connect(address: RedisAddress, name: string): RedisClient {
  const client = clientOf(address, `verdict-${name}`)
  // The client prints errors that have no listener. `connectionFailure` also listens and logs them.
  client.on('error', () => undefined)
  return client
}

/**
 * Lets any number of callers wait for the next connection of a client, with a single listener. Node.js would
 * report one listener per caller as a leak.
 */
export class NextConnection {
  readonly #waiting = new Set<() => void>()

  constructor(client: RedisClient) {
    const wake = (): void => {
      for (const resolve of this.#waiting) resolve()
    }
    client.on('ready', wake)
    client.on('end', wake)
  }

  /**
   * Resolves when the next connection is made, when no connection will ever be made, and at the latest after
   * `withinMs`.
   */
  async made(withinMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, withinMs)
    this.#waiting.add(resolve)
    await promise
    clearTimeout(timer)
    this.#waiting.delete(resolve)
  }
}

function clientOf(address: RedisAddress, connectionName: string): RedisClient {
  const options = { ...EVERY_CONNECTION, ...loginOf(address.login), connectionName }
  switch (address.topology) {
    case 'single': {
      const { host, database } = address
      return new Redis({
        ...options,
        ...host,
        db: database,
        ...(address.isEncrypted && { tls: tlsOf(host) }),
      })
    }
    case 'sentinel':
      return new Redis({ ...options, ...sentinelOptions(address), db: address.database })
    case 'cluster':
      return clusterOf(address, options)
  }
}

const EVERY_CONNECTION = {
  // A script might have run although its response was lost. Therefore the client must not repeat the command.
  // The sender repeats it instead and marks it as a repetition.
  autoResendUnfulfilledCommands: false,
  // Because of the previous option, commands without a response would stay pending forever. With 0 retries,
  // they fail when the connection fails.
  maxRetriesPerRequest: 0,
  // For the same reason, the client must not queue commands. The sender waits for a connection itself.
  enableOfflineQueue: false,
  // Responses use the same protocol and are binary, whichever other protocols the server supports.
  protocol: 2,
  socketTimeout: SILENCE_MS_MAX,
  connectTimeout: CONNECT_MS_MAX,
  // The client would send `CLIENT SETINFO`. That command is not needed, and some compatible servers do not
  // support it.
  disableClientInfo: true,
  // The client does not subscribe again after an interruption. The subscriber does this itself, because it
  // must also search for missed commits.
  autoResubscribe: false,
  // Such an error means that the server was the primary until recently and is a replica now. The client must
  // reconnect to the new primary.
  reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
  retryStrategy: reconnectPauseMs,
} as const satisfies RedisOptions

function sentinelOptions({ sentinels, master, sentinelLogin, isEncrypted }: SentinelAddress) {
  const { username, password } = sentinelLogin
  return {
    sentinels: [...sentinels],
    name: master,
    role: 'master' as const,
    ...(username !== null && { sentinelUsername: username }),
    ...(password !== null && { sentinelPassword: password }),
    ...(isEncrypted && { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true }),
    sentinelRetryStrategy: reconnectPauseMs,
    sentinelCommandTimeout: CONNECT_MS_MAX,
    // A primary that was cut off keeps running for a while and does not know that another one has replaced
    // it.
    failoverDetector: true,
  }
}

function clusterOf(
  { nodes, isEncrypted }: ClusterAddress,
  options: typeof EVERY_CONNECTION & ReturnType<typeof loginOf> & { readonly connectionName: string },
): Cluster {
  // The cluster client decides whether and when a lost connection to a node is made again.
  const { retryStrategy: _pause, ...nodeOptions } = options
  return new Cluster([...nodes], {
    redisOptions: { ...nodeOptions, ...(isEncrypted && { tls: {} }) },
    enableOfflineQueue: false,
    clusterRetryStrategy: reconnectPauseMs,
    slotsRefreshInterval: SLOTS_REFRESH_MS,
    slotsRefreshTimeout: CONNECT_MS_MAX,
    // With another value, the client would silently repeat a command that might have run.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
  })
}

function loginOf({ username, password }: Login) {
  return { ...(username !== null && { username }), ...(password !== null && { password }) }
}

/**
 * Returns the server name for TLS, by which a server selects one of several certificates. An IP address is
 * not allowed as a server name.
 */
function tlsOf({ host }: RedisHost): { servername?: string } {
  return isIP(host) === 0 ? { servername: host } : {}
}
