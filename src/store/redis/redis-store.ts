/**
 * A store whose ledgers are in Redis, shared with other processes. It has two connections: one for commands,
 * and one for subscriptions. A timer compares the position of each environment with Redis, because
 * notifications can be lost.
 *
 * A start that cannot reach Redis continues with the local replicas, as the previous process would have. It
 * makes decisions until the replicas are too old; their age counts from when they were last caught up
 * (`last-sync-record.ts`). When Redis is reachable again, a ledger that was resumed in this way first
 * compares its position with Redis, to detect that the epoch was replaced or rewound.
 */
import { AuthzError } from '#model/errors.ts'
import type { Revision } from '#model/revision.ts'
import { EnvironmentSet } from '#store/embedded/environment-set.ts'
import type { BeginOptions, EnvironmentStore, Store } from '#store/store.ts'
import { copiedEnvironments, CopyDirectory } from '#store/redis/copy/copy-directory.ts'
import { loadCopy } from '#store/redis/copy/copy-load.ts'
import { EvictionWatch } from '#store/redis/link/eviction.ts'
import { FollowedEnvironment } from './followed-environment.ts'
import type { Followed } from './followed-ledger.ts'
import { HeadChannels } from '#store/redis/link/head-channels.ts'
import { LastSyncRecord } from '#store/redis/copy/last-sync-record.ts'
import { LocalCopy } from '#store/redis/copy/local-copy.ts'
import { connect, NextConnection, type RedisClient } from '#store/redis/link/redis-client.ts'
import { type RedisKeys, redisKeys } from '#store/redis/link/redis-keys.ts'
import { EmptyStoreError, RedisLedger } from '#store/redis/ledger/redis-ledger.ts'
import { isReply, RedisLink, UnansweredError } from '#store/redis/link/redis-link.ts'
import { hasOtherNode } from './other-nodes.ts'
import { RedisNodeHeartbeats } from './redis-node-heartbeats.ts'
import type { RedisStoreOptions } from './redis-store-options.ts'
import { placeName } from '#store/redis/link/redis-url.ts'
import { RemovedEnvironments } from './removed-environments.ts'
import { connectionFailure, noConnection, OngoingFailure } from '#store/redis/link/ongoing-failure.ts'
import { DamagedStoreError, emptiedStore, emptiedUnderNodes } from '#store/redis/link/damaged-store-error.ts'

/** Maximum time that a start waits for its connections. */
const FIRST_CONNECTION_MS_MAX = 10_000
/** Maximum time that a start waits for Redis if it could continue with a local replica. */
const ALONE_AFTER_MS_MAX = 2_000
/** How long a start waits before it tries again to open an environment, if there is still no connection. */
const OPEN_AGAIN_MS = 1_000
/** After this many consecutive starts that did not complete reading a replica, another one is loaded. */
const UNFINISHED_STARTS_MAX = 3
/**
 * Number of comparisons with Redis within `staleAfterMs`. With several comparisons, a single failure does not
 * make the node stale.
 */
const CHECKS_PER_STALE = 5
const CHECK_MS_MAX = 1_000

/** Initial state for following an environment. */
interface Beginning {
  readonly source: RedisLedger
  readonly copy: LocalCopy
  /**
   * Last time at which the replica had everything, in the clock of `performance.now()`. Can precede this
   * process.
   */
  readonly syncedAt: number
  /** Whether the ledger was resumed without a request to Redis. */
  readonly isResumed: boolean
}

interface Connection {
  readonly client: RedisClient
  readonly failure: OngoingFailure
}

export class RedisStore implements Store {
  readonly isShared = true
  readonly nodeHeartbeats: RedisNodeHeartbeats
  readonly #options: RedisStoreOptions
  readonly #connections: readonly Connection[]
  readonly #link: RedisLink
  readonly #channels: HeadChannels
  readonly #removed: RemovedEnvironments
  readonly #environments = new EnvironmentSet<FollowedEnvironment>((id, options) => this.#open(id, options))
  readonly #following = new Map<string, FollowedEnvironment>()
  /** Directories of the replicas that this process found at its start. */
  readonly #begunWith = new Set<string>()
  /** Environments that are being dropped. Code that retries to open one of them must stop. */
  readonly #dropping = new Set<string>()
  readonly #timer: NodeJS.Timeout
  /** Name of the store in the records next to its replicas. */
  readonly #name: string
  readonly #openedAt = performance.now()
  #isAlone = false
  readonly #eviction: EvictionWatch
  #replacedHistories = 0
  #closed: Promise<void> | null = null

  /**
   * Throws `STORE_UNAVAILABLE`, with the reason of its connections, if no server can be reached and no
   * replica can be used. A server that rejects counts as reached. Throws `STORE_REFUSED` if the server evicts
   * keys.
   */
  static async open(options: RedisStoreOptions): Promise<RedisStore> {
    const store = new RedisStore(options)
    try {
      await store.#begin()
      return store
    } catch (error) {
      await store.close()
      throw error
    }
  }

  private constructor(options: RedisStoreOptions) {
    const { address, log } = options
    const connection = (name: string): Connection => {
      const client = connect(address, name)
      return { client, failure: connectionFailure(client, name, log) }
    }
    const [commands, signals] = [connection('commands'), connection('signals')]
    this.#options = options
    this.#name = placeName(address)
    this.#connections = [commands, signals]
    this.#link = new RedisLink(commands.client)
    this.#channels = new HeadChannels(signals.client, log)
    this.#removed = new RemovedEnvironments(this.#link, address.prefix)
    this.nodeHeartbeats = new RedisNodeHeartbeats(this.#link, address.prefix)
    this.#eviction = new EvictionWatch(commands.client, log)
    this.#link.onReady(() => {
      this.#isAlone = false
      for (const environment of this.#following.values()) environment.onDoubt()
    })
    const everyMs = Math.min(CHECK_MS_MAX, options.staleAfterMs / CHECKS_PER_STALE)
    this.#timer = setInterval(() => this.#check(), everyMs)
  }

  environment(id: string, options?: BeginOptions): Promise<EnvironmentStore> {
    return this.#environments.get(id, options)
  }

  /**
   * Removes the environment from Redis. Other nodes then find no data of it. They keep their replicas until
   * they drop the environment themselves.
   */
  async drop(id: string): Promise<void> {
    const { meta, rows, log, ids, channel } = redisKeys(this.#options.address.prefix, id)
    this.#dropping.add(id)
    const environment = await this.#environments.take(id)
    this.#dropping.delete(id)
    if (environment) {
      this.#following.delete(id)
      this.#channels.leave(channel)
      await environment.close()
    }
    // The mark is set first: a node that finds the mark but no data then knows that no data was lost.
    await this.#removed.add(id)
    // One command removes all keys, because an environment with only some of its keys would count as damaged.
    await this.#link.send('UNLINK', meta, rows, log, ids)
    new CopyDirectory(this.#options.directory, id).removeAll()
  }

  discardCopies({ except }: { readonly except: ReadonlySet<string> }): void {
    const { directory } = this.#options
    for (const id of copiedEnvironments(directory)) {
      if (!except.has(id)) new CopyDirectory(directory, id).removeAll()
    }
  }

  backupDirectory(): never {
    throw noBackup()
  }

  backUp(): Promise<never> {
    return Promise.reject(noBackup())
  }

  /** Returns null, because the data is in Redis: an environment can be filled only through its ledger. */
  directoryOf(): null {
    return null
  }

  stalenessMs(environmentId?: string): number {
    if (environmentId !== undefined) return this.#following.get(environmentId)?.stalenessMs() ?? 0
    let stalenessMs = 0
    for (const environment of this.#following.values())
      stalenessMs = Math.max(stalenessMs, environment.stalenessMs())
    return stalenessMs
  }

  get isAlone(): boolean {
    return this.#isAlone
  }

  isEmptied(): boolean {
    return [...this.#following.values()].some(environment => environment.isEmptied)
  }

  replacedHistories(): number {
    return this.#replacedHistories
  }

  giveUp(): void {
    this.#link.giveUp()
    for (const environment of this.#following.values()) environment.giveUp()
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    clearInterval(this.#timer)
    this.#eviction.close()
    const environments = await this.#environments.close()
    await Promise.all(environments.map(environment => environment.close()))
    this.#channels.close()
    this.#link.close()
    this.#options.release()
  }

  #check(): void {
    void this.#channels.probe()
    for (const environment of this.#following.values()) void environment.check()
  }

  async #begin(): Promise<void> {
    if (this.#hasStandIn()) {
      await this.#waitForConnections(this.#aloneAfterMs)
      const isRefused = this.#connections.some(({ failure }) => failure.isRefusal)
      if (!this.#isConnected && !isRefused) return this.#goOnAlone()
    }
    await this.#waitForConnections(FIRST_CONNECTION_MS_MAX)
    if (!this.#isConnected) throw noConnection(this.#connections, FIRST_CONNECTION_MS_MAX)
    if (!this.#options.allowsEviction) await this.#eviction.requireNone()
  }

  get #isConnected(): boolean {
    return this.#connections.every(({ client }) => client.status === 'ready')
  }

  get #aloneAfterMs(): number {
    return Math.min(ALONE_AFTER_MS_MAX, this.#options.staleAfterMs)
  }

  /** Resolves when there are connections, or at the latest `withinMs` after the store was opened. */
  async #waitForConnections(withinMs: number): Promise<void> {
    const waits = this.#connections.map(async ({ client }) => {
      const leftMs = this.#openedAt + withinMs - performance.now()
      if (client.status !== 'ready' && leftMs > 0) await new NextConnection(client).made(leftMs)
    })
    await Promise.all(waits)
  }

  /** Whether any environment has a replica that may be used for decisions. */
  #hasStandIn(): boolean {
    const { directory } = this.#options
    for (const id of copiedEnvironments(directory)) {
      const copy = new CopyDirectory(directory, id).newest()
      if (copy !== null && this.#mayStandIn(new LastSyncRecord(copy, this.#name).agoMs())) return true
    }
    return false
  }

  #mayStandIn(lastSyncAgoMs: number | null): lastSyncAgoMs is number {
    const { maxStaleMs } = this.#options
    return lastSyncAgoMs !== null && (maxStaleMs === 0 || lastSyncAgoMs < maxStaleMs)
  }

  #goOnAlone(): void {
    this.#isAlone = !this.#link.isReady
    const { maxStaleMs, log } = this.#options
    log.warn(
      { maxStaleMs },
      'Redis is unreachable: starting from the local replicas, which are used until they are too stale',
    )
  }

  /** Opens an environment. Retries until Redis can be reached or the local replica may be used. */
  async #open(id: string, options: BeginOptions): Promise<FollowedEnvironment> {
    const { log } = this.#options
    const messages = {
      failing: 'Redis cannot open an environment at the moment: waiting',
      over: 'the environment is open',
    }
    const refusal = new OngoingFailure({ log, fields: { environment: id }, ...messages })
    const from = performance.now()
    // The environments that a start opens share one time limit, so that their waits do not add up.
    const patientUntil = Math.max(from + this.#aloneAfterMs, this.#openedAt + FIRST_CONNECTION_MS_MAX)
    let { onUnreachable } = options
    for (let attempt = 0; ; attempt += 1) {
      try {
        const opened = await this.#openNow(id, options)
        refusal.noteSuccess()
        return opened
      } catch (error) {
        if (!(error instanceof UnansweredError) || this.#closed || this.#dropping.has(id)) throw error
        // Without a response, the connection failed, which is logged elsewhere.
        if (isReply(error.cause)) refusal.noteFailure(error)
        const isPatienceOver = performance.now() - from >= this.#aloneAfterMs
        const alone = this.#isAlone || isPatienceOver ? await this.#openAlone(id) : null
        if (alone) return alone
        // The first environment waits for the connections as long as a start without replicas would. Later
        // ones do not wait, so that they do not delay environments that have a replica.
        if (this.#isAlone && this.#following.size === 0)
          await this.#waitForConnections(FIRST_CONNECTION_MS_MAX)
        if (this.#isAlone) throw noConnection(this.#connections, FIRST_CONNECTION_MS_MAX)
        if (onUnreachable && performance.now() >= patientUntil && this.#hearsOthers()) {
          onUnreachable(error)
          onUnreachable = undefined
        }
        await this.#link.recovered(OPEN_AGAIN_MS, attempt)
      }
    }
  }

  async #openNow(id: string, { begin = 'always' }: BeginOptions): Promise<FollowedEnvironment> {
    const { directory, address } = this.#options
    const keys = redisKeys(address.prefix, id)
    const copies = new CopyDirectory(directory, id)
    const source = await this.#ledger(keys, id, begin === 'always').catch(async (error: unknown) => {
      if (!(error instanceof EmptyStoreError)) throw error
      const replica = begin === 'before-others' ? copies.newest() : null
      // This node has replicated data from this Redis, so Redis has lost the data.
      if (replica && new LastSyncRecord(replica, this.#name).isOfStore()) throw emptiedStore(directory)
      // Other environments with a local replica. Other nodes might know further environments.
      const others = [...copiedEnvironments(directory)].filter(other => other !== id)
      const isLost = begin === 'never' || (await RedisLedger.isAnyThere(this.#link, address.prefix, others))
      if (isLost) throw new DamagedStoreError(null)
      const isFirst = begin !== 'before-others' || !(await hasOtherNode(this.nodeHeartbeats, this.#options))
      // If there is another node, it might have begun the store in the meantime.
      return this.#ledger(keys, id, isFirst).catch((again: unknown) => {
        throw again instanceof EmptyStoreError ? emptiedUnderNodes() : again
      })
    })
    await this.#removed.forget(id)
    const copy = (await this.#found(copies, source.epoch, id)) ?? (await this.#loaded(copies, source, id))
    return this.#follow(id, copies, { source, copy, syncedAt: performance.now(), isResumed: false })
  }

  /** Opens an environment from its local replica. Returns null if no replica may be used. */
  async #openAlone(id: string): Promise<FollowedEnvironment | null> {
    const { directory, logEntriesMax, address, log } = this.#options
    const copies = new CopyDirectory(directory, id)
    const newest = copies.newest()
    const lastSyncAgoMs = newest === null ? null : new LastSyncRecord(newest, this.#name).agoMs()
    if (!this.#mayStandIn(lastSyncAgoMs)) return null
    // This time is computed before the replica is opened. Opening a large replica takes a while, and its age
    // must include this time.
    const syncedAt = performance.now() - lastSyncAgoMs
    const copy = await this.#found(copies, null, id)
    if (copy === null) return null
    const keys = redisKeys(address.prefix, id)
    const source = RedisLedger.resume(
      { link: this.#link, keys, logEntriesMax, log, fields: { environment: id } },
      copy.position(),
    )
    const environment = await this.#follow(id, copies, { source, copy, syncedAt, isResumed: true })
    log.info({ environment: id, heardAgoMs: lastSyncAgoMs }, 'opened from the local replica, without Redis')
    return environment
  }

  /**
   * Resolves when the replica has everything that the source had when the source was opened. If the source
   * was resumed, this is already the case.
   */
  async #follow(id: string, copies: CopyDirectory, begin: Beginning): Promise<FollowedEnvironment> {
    const { address, log, onDamage, onFault } = this.#options
    const { source, copy, syncedAt, isResumed } = begin
    const keys = redisKeys(address.prefix, id)
    copies.removeOthers()
    const environment = new FollowedEnvironment(
      { source, copy, lastSync: new LastSyncRecord(copies.newest()!, this.#name) },
      {
        environmentId: id,
        log,
        syncedAt,
        load: () => this.#load(copies, keys, id),
        buildLists: (incomplete, signal) => this.#buildLists(incomplete, copies.newest()!, signal),
        onReplaced: () => copies.removeOthers(),
        onRead: () => copies.noteRead(),
        countReplacedHistory: () => (this.#replacedHistories += 1),
        onDamage: damage => onDamage(id, damage),
        onFault: error => onFault(id, error),
      },
    )
    try {
      const isFirst = this.#following.size === 0
      if (isFirst && !isResumed) await this.#requirePublishing(keys, source.start)
      await this.#channels.listen(keys.channel, environment)
      if (!isResumed) await environment.reached(source.start, source)
    } catch (error) {
      this.#channels.leave(keys.channel)
      await environment.close()
      throw error
    }
    this.#following.set(id, environment)
    return environment
  }

  /**
   * Checks the permission to publish, which commits do not need. Without this check, a missing permission
   * would only show as late notifications of other nodes. The published message contains a position that all
   * listeners already know, so it has no other effect.
   */
  async #requirePublishing({ channel }: RedisKeys, { epoch, sequence }: Revision): Promise<void> {
    await this.#link.send('PUBLISH', channel, `${epoch}.${sequence}`)
  }

  /**
   * Returns the replica that the last process left, or null if it is not usable. A replica is usable if it is
   * complete and readable and, if an epoch is given, belongs to that epoch.
   */
  async #found(copies: CopyDirectory, epoch: string | null, id: string): Promise<LocalCopy | null> {
    const directory = copies.newest()
    if (directory === null) return null
    const { log } = this.#options
    // If the connection is interrupted, the same start can run this code again. Each start counts only once.
    if (!this.#begunWith.has(directory)) {
      const starts = copies.unfinishedStarts()
      if (starts >= UNFINISHED_STARTS_MAX) {
        log.warn({ environment: id, starts }, 'repeated starts failed on the local replica: loading another')
        return null
      }
      copies.noteStart()
      this.#begunWith.add(directory)
    }
    try {
      const copy = await this.#copyIn(directory)
      if (copy.isUsable(epoch)) return copy
      await copy.close()
    } catch (err) {
      log.warn({ environment: id, err }, 'the local replica cannot be opened: loading another')
    }
    return null
  }

  async #load(copies: CopyDirectory, keys: RedisKeys, id: string): Promise<Followed> {
    const source = await this.#ledger(keys, id, false).catch(async (error: unknown) => {
      if (!(error instanceof EmptyStoreError)) throw error
      if (await this.#removed.has(id)) throw new AuthzError('STORE_RESET', 'the environment was removed')
      throw (await this.#isAnotherThere(id)) ? new DamagedStoreError(null) : error
    })
    const copy = await this.#loaded(copies, source, id)
    return { source, copy, lastSync: new LastSyncRecord(copies.newest()!, this.#name) }
  }

  #ledger(keys: RedisKeys, environment: string, mayBegin: boolean): Promise<RedisLedger> {
    const { logEntriesMax, log } = this.#options
    return RedisLedger.open({ link: this.#link, keys, logEntriesMax, mayBegin, log, fields: { environment } })
  }

  /** Whether this node receives data of other environments, which proves that Redis is reachable. */
  #hearsOthers(): boolean {
    const [first] = this.#following.values()
    return first !== undefined && first.stalenessMs() < this.#options.staleAfterMs
  }

  /**
   * Whether Redis has other environments although it has nothing of this environment. The environment that
   * was followed first contains the organization, which lists all other environments.
   */
  async #isAnotherThere(id: string): Promise<boolean> {
    const [first] = [...this.#following.keys()].filter(other => other !== id)
    return first !== undefined && RedisLedger.isAnyThere(this.#link, this.#options.address.prefix, [first])
  }

  async #loaded(copies: CopyDirectory, source: RedisLedger, environmentId: string): Promise<LocalCopy> {
    const directory = copies.next()
    let copy: LocalCopy | null = null
    try {
      copy = await this.#copyIn(directory)
      const { isReadable, log } = this.#options
      const rowCount = await loadCopy({ source, copy, directory, environmentId, isReadable, log })
      if (rowCount <= this.#options.listedAtOnceMax) {
        await copy.buildLists(new AbortController().signal)
        await copy.complete()
      }
      return copy
    } catch (error) {
      await copy?.close()
      copies.removeNewest()
      throw error
    }
  }

  /** Builds the secondary indexes, in another thread if there is one. It can take minutes. */
  async #buildLists(copy: LocalCopy, directory: string, signal: AbortSignal): Promise<void> {
    const { buildLists } = this.#options
    await (buildLists ? buildLists(directory, signal) : copy.buildLists(signal))
  }

  async #copyIn(directory: string): Promise<LocalCopy> {
    return LocalCopy.in(await this.#options.openTables(directory), this.#options)
  }
}

function noBackup(): AuthzError {
  return new AuthzError('INVALID_INPUT', 'back up a store in Redis with the tools of Redis: docs/redis.md')
}
