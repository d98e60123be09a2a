/**
 * Opens a store from a URL. This is the only file that imports adapters.
 *
 *     lmdb:DIR     DIR/verdict.lock, and DIR/<environment id>/ with an lmdb environment and its journal each
 *     memory:      nothing on disk, lost with the process
 *     redis://…    the ledgers in Redis, shared with other processes; a local replica of each in the data
 *                  directory. With TLS (rediss://), Sentinel (redis+sentinel://) or a cluster
 *                  (redis+cluster://): see redis/link/redis-url.ts
 *
 * Environments share only the directory and its lock. Messages contain only the scheme of a URL: a Redis URL
 * can contain a password.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { AuthzError } from '#model/errors.ts'
import { LOG_ENTRIES_MAX_DEFAULT } from '#store/embedded/commit-log.ts'
import { DirectoryLock } from '#store/embedded/directory-lock.ts'
import { EmbeddedStore } from '#store/embedded/embedded-store.ts'
import { JournaledTables } from '#store/journal/journaled-tables.ts'
import { hasDataFile, requireDataFile } from '#store/lmdb/check-data-file.ts'
import { LmdbTables } from '#store/lmdb/lmdb-tables.ts'
import { MemoryTables } from '#store/memory/memory-tables.ts'
import { isRedisUrl, parseRedisUrl, type RedisAddress, withPasswords } from '#store/redis/link/redis-url.ts'
import { SILENT, type StoreLog } from '#store/store-log.ts'
import type { LargeWrites } from '#store/large-writes.ts'
import type { Row } from '#store/ledger.ts'
import type { Store } from '#store/store.ts'
import type { ListRule } from '#store/view.ts'

export interface OpenStoreOptions {
  /** Number of newest commits that the log of each ledger keeps, at least 1. */
  readonly logEntriesMax?: number
  /**
   * Password for Redis, if the URL contains none. If the URL selects another store, opening throws
   * `INVALID_INPUT`.
   */
  readonly redisPassword?: string | null
  readonly redisSentinelPassword?: string | null
  /** Directory for local replicas of a shared store, relative to the working directory. */
  readonly dataDirectory?: string
  /**
   * Maximum time in milliseconds until a shared store notices that it no longer receives the commits of other
   * nodes.
   */
  readonly staleAfterMs?: number
  /**
   * Time in milliseconds for which a node waits for other nodes before it begins a new organization in an
   * empty Redis. If another node runs, opening fails. 0, the default, means that it does not wait.
   */
  readonly newStoreWaitMs?: number
  /**
   * Maximum time in milliseconds for which decisions can use a local replica after it was last caught up. 0
   * means no limit.
   */
  readonly maxStaleMs?: number
  /**
   * Whether to accept a Redis that evicts keys when it is full. By default, opening fails with such a Redis.
   */
  readonly allowsEviction?: boolean
  /**
   * If an environment has at most this number of rows, its secondary indexes are built before the first read.
   * In a larger environment, they are built later.
   */
  readonly listedAtOnceMax?: number
  /**
   * Whether loads of an index never look up rows of this kind by key. The entries of these rows in the table
   * of keys are then built later, together with the secondary indexes. If absent, loads look up rows of all
   * kinds.
   */
  readonly isKeyedLater?: (key: Uint8Array) => boolean
  /** Whether a row can be decoded. If absent, every row counts as readable. */
  readonly isReadable?: (row: Pick<Row, 'key' | 'value'>) => boolean
  /**
   * Builds keys and secondary indexes of the tables in this directory in another thread. If absent, this
   * thread builds them.
   */
  readonly buildLists?: (directory: string, signal: AbortSignal) => Promise<void>
  /**
   * Makes writes in another thread that would block this thread for too long. If absent, this thread makes
   * all writes.
   */
  readonly largeWrites?: LargeWrites | null
  readonly log?: StoreLog
  /**
   * Called if a shared store has lost a part of an environment. The environment must then make no decisions.
   */
  readonly onDamage?: (environmentId: string, damage: AuthzError) => void
  /**
   * Receives a defect or damage that prevents following an environment of a shared store. The store keeps
   * trying to follow the environment. If the function is absent, the error becomes an unhandled rejection.
   */
  readonly onFault?: (environmentId: string, error: Error) => void
}

/**
 * Opens the store at `url`. A relative directory is relative to the working directory and is created if it is
 * missing. `listRule` determines the secondary indexes of the views.
 *
 * Throws `INVALID_INPUT` if the form of the URL is not listed at the beginning of this file or its directory
 * cannot be used, and `STORE_LOCKED` if another process has the store open. Throws `STORE_UNAVAILABLE` if the
 * server cannot be reached and no local replica can be used instead, and `STORE_REFUSED` if the server evicts
 * keys.
 */
export async function openStore(
  url: string,
  listRule: ListRule,
  options: OpenStoreOptions = {},
): Promise<Store> {
  const { logEntriesMax = LOG_ENTRIES_MAX_DEFAULT, largeWrites = null } = options
  const embedded = { listRule, logEntriesMax, largeWrites }
  requireStoreUrl(url, options)
  if (url === 'memory:') {
    const parts = {
      openTables: async () => new MemoryTables(),
      requireTables: () => {},
      keptIds: () => [],
      removeTables: () => {},
      release: () => {},
      directoryOf: () => null,
      backupDirectory: () => {
        throw new AuthzError('INVALID_INPUT', 'a store in memory has no backup; export environments')
      },
    }
    return new EmbeddedStore({ ...embedded, ...parts })
  }
  if (isRedisUrl(url)) {
    const address = addressOf(url, options)
    const { dataDirectory = './data', staleAfterMs = 5_000, log = SILENT, onFault = uncaught } = options
    const {
      maxStaleMs = 60_000,
      listedAtOnceMax = LISTED_AT_ONCE_MAX,
      buildLists = null,
      isKeyedLater = () => false,
      isReadable = () => true,
    } = options
    const { onDamage = () => {}, allowsEviction = false, newStoreWaitMs = 0 } = options
    const { directory, lock } = lockedDirectory(dataDirectory)
    const release = () => lock.release()
    // Data that a crash of the machine removes from a replica is loaded from Redis again.
    const openTables = (path: string) =>
      JournaledTables.open(new LmdbTables(path), largeWrites, { isFlushed: false, log })
    const rows = { isKeyedLater, isReadable, listedAtOnceMax, buildLists }
    const loading = { staleAfterMs, newStoreWaitMs, maxStaleMs, allowsEviction, ...rows }
    const events = { log, onDamage, onFault, release }
    // This module is loaded only if it is needed, because loading the Redis client takes as long as loading
    // all modules of an embedded store.
    const { RedisStore } = await import('#store/redis/redis-store.ts')
    return RedisStore.open({ address, ...embedded, ...loading, directory, openTables, ...events })
  }
  const { directory, lock } = lockedDirectory(url.slice('lmdb:'.length))
  for (const name of readdirSync(directory))
    if (name.startsWith(BACKUP_PREFIX)) rmSync(join(directory, name), { recursive: true, force: true })
  return new EmbeddedStore({
    ...embedded,
    openTables: id =>
      JournaledTables.open(new LmdbTables(join(directory, id)), largeWrites, { log: options.log ?? SILENT }),
    requireTables: id => requireDataFile(join(directory, id)),
    // Directories with a dot are replicas of a shared store.
    keptIds: () =>
      readdirSync(directory).filter(name => !name.includes('.') && hasDataFile(join(directory, name))),
    removeTables: id => rmSync(join(directory, id), { recursive: true, force: true }),
    directoryOf: id => join(directory, id),
    backupDirectory: () => mkdtempSync(join(directory, BACKUP_PREFIX)),
    release: () => lock.release(),
  })
}

/**
 * Throws `INVALID_INPUT` unless the URL is valid and its store uses the separate passwords. Opens nothing.
 */
export function requireStoreUrl(url: string, options: StorePasswords = {}): void {
  if (isRedisUrl(url)) return void addressOf(url, options)
  if (url !== 'memory:' && !/^lmdb:./.test(url)) {
    const came = url.includes(':') ? `${url.slice(0, url.indexOf(':') + 1)}…` : 'text without a scheme'
    const expected =
      'STORE_URL must be lmdb:DIRECTORY, memory:, redis://…, redis+sentinel://… or redis+cluster://… (rediss… with TLS)'
    throw new AuthzError('INVALID_INPUT', `${expected}, not ${came}`)
  }
  for (const [name, value] of [
    ['REDIS_PASSWORD', options.redisPassword],
    ['REDIS_SENTINEL_PASSWORD', options.redisSentinelPassword],
  ] as const) {
    if (value !== undefined && value !== null)
      throw new AuthzError('INVALID_INPUT', `${name} is set, but STORE_URL is not a Redis URL`)
  }
}

type StorePasswords = Pick<OpenStoreOptions, 'redisPassword' | 'redisSentinelPassword'>

function addressOf(
  url: string,
  { redisPassword = null, redisSentinelPassword = null }: StorePasswords,
): RedisAddress {
  return withPasswords(parseRedisUrl(url), {
    password: redisPassword,
    sentinelPassword: redisSentinelPassword,
  })
}

/**
 * Prefix of the names of backup directories. It contains a dot, so that no backup is mistaken for an
 * environment. Each start removes directories with this prefix.
 */
const BACKUP_PREFIX = '.verdict-backup-'

/**
 * Default of `listedAtOnceMax`. Building the secondary indexes of this number of rows takes one or two
 * seconds.
 */
const LISTED_AT_ONCE_MAX = 50_000

function uncaught(_environmentId: string, error: Error): never {
  throw error
}

function lockedDirectory(path: string): { readonly directory: string; readonly lock: DirectoryLock } {
  const directory = resolve(path)
  try {
    makeDirectory(directory)
  } catch (cause) {
    const message = `the data directory ${directory} cannot be created: ${cause instanceof Error ? cause.message : cause}`
    throw new AuthzError('INVALID_INPUT', message, { cause })
  }
  return { directory, lock: new DirectoryLock(directory) }
}

/**
 * Creates each level separately: Node's recursive `mkdir` never returns if a file system such as /proc
 * reports that a directory does not exist.
 */
function makeDirectory(path: string): void {
  const parent = dirname(path)
  if (!existsSync(parent)) makeDirectory(parent)
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // The error is ignored if the directory already existed or was created in the meantime.
    if (!existsSync(path) || !statSync(path).isDirectory()) throw error
  }
}
