/**
 * How connections to Redis are made: the one place that knows schemes of URLs and options of the client. A topology of its
 * own (Sentinel, Cluster) is another case here, and nothing else.
 */
import { Redis } from 'ioredis'
import type { RedisAddress } from './redis-url.ts'

/** One connection, made again by itself whenever it is lost. */
export type RedisClient = Redis

/** First pause before a lost connection is made again, and the longest; each is shortened by chance. */
const RECONNECT_MS_MIN = 50
const RECONNECT_MS_MAX = 2_000
/** A server that says nothing for so long while an answer is due is taken for gone. Longer than any command takes. */
const SILENCE_MS_MAX = 5_000
const CONNECT_MS_MAX = 3_000

/** A connection that is being made; commands before it is ready are refused. `name`: as `CLIENT LIST` shows it. */
export function connect(address: RedisAddress, name: string): RedisClient {
  const { scheme, host, port, database, username, password } = address
  const client = new Redis({
    host,
    port,
    db: database,
    ...(username !== null && { username }),
    ...(password !== null && { password }),
    ...(scheme === 'rediss' && { tls: { servername: host } }),
    connectionName: `verdict-${name}`,
    // A script whose answer was lost may have run: whoever sent it sends it again, in a form that says so.
    autoResendUnfulfilledCommands: false,
    // With the above the client would leave unanswered commands pending for ever; with 0 it fails them when the
    // connection does.
    maxRetriesPerRequest: 0,
    // For the same reason nothing waits in a queue of the client's: who sends knows whether there is a connection.
    enableOfflineQueue: false,
    // Binary replies throughout, whatever else the server could say.
    protocol: 2,
    socketTimeout: SILENCE_MS_MAX,
    connectTimeout: CONNECT_MS_MAX,
    // Not of use to a client that keeps no other state, and not every compatible server knows the command.
    disableClientInfo: true,
    // Whoever subscribes has to look what was missed as well, so it subscribes again itself.
    autoResubscribe: false,
    // A replica that was the primary until just now: look for the new one.
    reconnectOnError: error => error.message.startsWith('READONLY'),
    retryStrategy: attempt => {
      const longest = Math.min(RECONNECT_MS_MAX, RECONNECT_MS_MIN * 2 ** Math.min(attempt, 10))
      // Nodes that lost the server together do not come back together.
      return longest * (0.5 + Math.random() / 2)
    },
  })
  // Every command that fails says so itself, and the store watches how long it has heard nothing.
  client.on('error', () => undefined)
  return client
}
