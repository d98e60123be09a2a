/**
 * From a URL to a store: the only file that imports adapters.
 *
 *     lmdb:DIR     DIR/verdict.lock, DIR/<environment id>/ with one lmdb environment each, and its journal
 *     memory:      nothing on disk, gone with the process
 *     redis://…    the ledgers in Redis, shared with other processes; a local copy of each in the data directory. With TLS
 *                  (rediss://), Sentinel (redis+sentinel://) or a cluster (redis+cluster://): redis/redis-url.ts
 *
 * Environments share nothing but the directory and its lock. Messages never carry more of a URL than its scheme:
 * those of other stores may hold a password.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { AuthzError } from '#model/errors.ts'
import { LOG_ENTRIES_MAX_DEFAULT } from '#store/embedded/commit-log.ts'
import { DirectoryLock } from '#store/embedded/directory-lock.ts'
import { EmbeddedStore } from '#store/embedded/embedded-store.ts'
import { JournaledTables } from '#store/journal/journaled-tables.ts'
import { hasDataFile, requireDataFile } from '#store/lmdb/data-file.ts'
import { LmdbTables } from '#store/lmdb/lmdb-tables.ts'
import { MemoryTables } from '#store/memory/memory-tables.ts'
import { isRedisUrl, parseRedisUrl, type RedisAddress, withPasswords } from '#store/redis/redis-url.ts'
import { SILENT, type StoreLog } from '#store/store-log.ts'
import type { LargeWrites } from './large-writes.ts'
import type { Row } from './ledger.ts'
import type { Store } from './store.ts'
import type { ListRule } from './view.ts'

export interface OpenStoreOptions {
  /** How many of the newest commits the log of each ledger keeps, at least 1. */
  readonly logEntriesMax?: number
  /** Passwords of a Redis whose URL has none; `INVALID_INPUT` where another store is meant. */
  readonly redisPassword?: string | null
  readonly redisSentinelPassword?: string | null
  /** The directory for local copies of a shared store, relative to the working directory. */
  readonly dataDirectory?: string
  /** How soon a shared store must notice that it no longer hears of the commits of others, in milliseconds. */
  readonly staleAfterMs?: number
  /**
   * For how long decisions may rest on a local copy, counted from when it last had everything; 0: without limit.
   * Milliseconds.
   */
  readonly maxStaleMs?: number
  /** Whether to accept a Redis that evicts keys when it is full. By default a start with it is refused. */
  readonly allowsEviction?: boolean
  /**
   * An environment with at most so many rows is loaded with its lists before anything is read. In a larger one the lists
   * follow.
   */
  readonly listedAtOnceMax?: number
  /**
   * Whether loads of an index never look up rows with that key, so that the table of keys may be built with the lists.
   * Absent: they look up all.
   */
  readonly isKeyedLater?: (key: Uint8Array) => boolean
  /** Whether a row can be decoded; absent: each can. */
  readonly isReadable?: (row: Pick<Row, 'key' | 'value'>) => boolean
  /** Builds keys and lists of the tables in that directory in another thread. Absent: this thread builds them. */
  readonly buildLists?: (directory: string, signal: AbortSignal) => Promise<void>
  /** Makes writes in another thread that would keep this one for too long. Absent: this thread makes them. */
  readonly largeWrites?: LargeWrites | null
  readonly log?: StoreLog
  /** Told when a shared store has lost part of an environment, on which nobody may decide then. */
  readonly onDamage?: (environmentId: string, damage: AuthzError) => void
  /**
   * Told of a defect or damage that keeps an environment of a shared store from being followed. The store goes on trying.
   * Absent: the error is thrown as an unhandled rejection.
   */
  readonly onFault?: (environmentId: string, error: Error) => void
}

/**
 * Opens the store at `url`; a relative directory is relative to the working directory and is created when missing.
 * `listRule` says which lists the views keep.
 *
 * Throws `INVALID_INPUT` when the URL is none of the above or its directory cannot be had, `STORE_LOCKED` when
 * another process has it open, `STORE_UNAVAILABLE` when it cannot be reached and no local copy may stand in for it,
 * `STORE_REFUSED` when it throws keys away.
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
    const { onDamage = () => {}, allowsEviction = false } = options
    const { directory, lock } = lockedDirectory(dataDirectory)
    const release = () => lock.release()
    // What a copy loses with the machine it has from Redis again.
    const openTables = (path: string) =>
      JournaledTables.open(new LmdbTables(path), largeWrites, { isFlushed: false, log })
    const rows = { isKeyedLater, isReadable, listedAtOnceMax, buildLists }
    const loading = { staleAfterMs, maxStaleMs, allowsEviction, ...rows }
    const events = { log, onDamage, onFault, release }
    // Its client takes as long to load as all of an embedded store.
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
    // Directories with a dot are copies of a shared store.
    keptIds: () =>
      readdirSync(directory).filter(name => !name.includes('.') && hasDataFile(join(directory, name))),
    removeTables: id => rmSync(join(directory, id), { recursive: true, force: true }),
    directoryOf: id => join(directory, id),
    backupDirectory: () => mkdtempSync(join(directory, BACKUP_PREFIX)),
    release: () => lock.release(),
  })
}

/** Throws `INVALID_INPUT` unless there is such a store, and the passwords beside the URL belong to it. Opens nothing. */
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
      throw new AuthzError('INVALID_INPUT', `${name} is set, and STORE_URL names no Redis`)
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

/** With a dot, so that it is taken for no environment. Nobody calls a file of his own so: what is called so goes at a start. */
const BACKUP_PREFIX = '.verdict-backup-'

/** Lists of so many rows are built in a second or two. */
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

/** Step by step: Node's recursive `mkdir` never ends where a file system, such as /proc, says that nothing is there. */
function makeDirectory(path: string): void {
  const parent = dirname(path)
  if (!existsSync(parent)) makeDirectory(parent)
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // The directory may have existed, or have been made meanwhile.
    if (!existsSync(path) || !statSync(path).isDirectory()) throw error
  }
}
