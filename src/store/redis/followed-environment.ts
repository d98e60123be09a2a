/**
 * One environment of a shared ledger on this node: commits go to Redis, and all reads use the local replica,
 * which follows the log.
 *
 *     commit ──► Redis ──► log ──► replica (rows, lists, log, one write) ──► feed ──► index
 *                  └─ "there is more" ─┘
 *
 * Invariant: readers see the replica of one epoch at one moment. If Redis no longer has this epoch, or its
 * log no longer contains the next commit, another replica is loaded next to the current one and replaces it
 * as a whole. Feeds of the former replica then end with `STORE_RESET`. The former replica serves reads and
 * becomes stale until the followers have switched to the new one. Only a start begins an epoch. If Redis
 * becomes empty while a node follows an epoch, the node reports this and keeps its data.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { AuthzError, historyReplaced } from '#model/errors.ts'
import type { Revision } from '#model/revision.ts'
import type { Ledger } from '#store/ledger.ts'
import type { SnapshotPlace } from '#store/snapshot-place.ts'
import type { EnvironmentStore } from '#store/store.ts'
import type { View } from '#store/view.ts'
import { type Followed, FollowedLedger, type FollowedState } from './followed-ledger.ts'
import type { HeadListener } from '#store/redis/link/head-channels.ts'
import type { LocalCopy } from '#store/redis/copy/local-copy.ts'
import { PresentView } from '#store/redis/copy/present-view.ts'
import { EmptyStoreError, type RedisLedger } from '#store/redis/ledger/redis-ledger.ts'
import { isReply } from '#store/redis/link/redis-link.ts'
import { backoffMs } from '#store/redis/link/backoff.ts'
import { OngoingFailure } from '#store/redis/link/ongoing-failure.ts'
import { DamagedStoreError } from '#store/redis/link/damaged-store-error.ts'
import type { StoreLog } from '#store/store-log.ts'

/** Maximum number of commits that can be in progress in the replica at one time. */
const WRITES_UNDER_WAY_MAX = 128
/** Maximum time that `close` waits for commits without a response. */
const CLOSE_MS_MAX = 3_000
/** Maximum time that `caughtUp` waits until the replica shows everything that Redis has. */
const CAUGHT_UP_MS_MAX = 1_000
/**
 * How long decisions use a replica whose secondary indexes cannot be built. After this time, another replica
 * is loaded. The time is long, because a load costs as much as a start.
 */
const LISTED_AGAIN_MS = 30_000
/**
 * Pause before the next attempt to load a replica, and the maximum of this pause after many failed attempts.
 */
const RELOAD_PAUSE_MS = 500
const RELOAD_PAUSE_MS_MAX = 5_000

/**
 * Redis counts as empty only after this number of consecutive checks without data. A single check can find no
 * data because another node removed this environment and this node has not learned of the removal yet.
 */
const EMPTY_FOUND_MIN = 2

/** A build of the secondary indexes of a replica. */
interface Listing {
  readonly stop: AbortController
  readonly done: Promise<void>
}

export interface FollowedEnvironmentOptions {
  readonly environmentId: string
  readonly log: StoreLog
  /** Last time at which the replica had everything that Redis had, in the clock of `performance.now()`. */
  readonly syncedAt: number
  /** Opens the ledger in its current state and loads a new replica of it. */
  readonly load: () => Promise<Followed>
  /** Builds the missing secondary indexes of a replica. Throws the reason of the signal if it is aborted. */
  readonly buildLists: (copy: LocalCopy, signal: AbortSignal) => Promise<void>
  /** Called when the former replica is closed, so that its files can be removed. */
  readonly onReplaced: () => void
  /** Called when index and secondary indexes have been built from the current replica. */
  readonly onRead: () => void
  /** Counts the replacement of an epoch. Returns the number of replacements in this process. */
  readonly countReplacedHistory: () => number
  /** Called if Redis has lost a part of the environment. The environment must then make no decisions. */
  readonly onDamage: (damage: DamagedStoreError) => void
  /**
   * Receives an unexpected error that prevents following. The environment keeps trying with other replicas.
   */
  readonly onFault: (error: Error) => void
}

export class FollowedEnvironment implements EnvironmentStore, HeadListener, FollowedState {
  readonly ledger: Ledger
  readonly view: View
  readonly #options: FollowedEnvironmentOptions
  readonly #abort = new AbortController()
  #followed: Followed
  #following: Promise<void>
  #listing: Listing
  /** Last time at which the replica that decisions use had everything that Redis had. */
  #freshAt: number
  /**
   * Last time at which the current replica had everything that Redis had, whether or not decisions use this
   * replica.
   */
  #copyFreshAt: number
  /** Whether the environment makes no decisions at the moment. */
  #isSetAside = false
  /** The defect or damage that prevents following the environment; null while it is followed. */
  #fault: AuthzError | null = null
  /** Whether decisions use the current replica. If false, they still use the former one. */
  #isTakenOver = true
  #timesFoundEmpty = 0
  /** Number of consecutive loads that failed, or whose replica could not be followed. */
  #loadsInVain = 0
  /** The part of the environment that Redis has lost; null if there is none. */
  #damage: DamagedStoreError | null = null
  readonly #losing: OngoingFailure
  readonly #asking: OngoingFailure
  readonly #loading: OngoingFailure
  /** Ledgers whose epoch diverged or ended. Commits that were made to these ledgers might be lost. */
  readonly #abandoned = new WeakSet<RedisLedger>()
  #checking: Promise<void> | null = null
  readonly #commits = new Set<Promise<unknown>>()
  /** Functions that end waits for a revision, one per wait. */
  readonly #waiting = new Set<() => void>()
  #isGivenUp = false

  constructor(followed: Followed, options: FollowedEnvironmentOptions) {
    this.#followed = followed
    this.#options = options
    this.#freshAt = options.syncedAt
    this.#copyFreshAt = this.#freshAt
    const { log, environmentId } = options
    const reporterOf = (failing: string, over: string) =>
      new OngoingFailure({ log, fields: { environment: environmentId }, failing, over })
    this.#losing = reporterOf(
      'Redis lost data of an environment: the environment is closed until the data is restored',
      'Redis has all data of the environment again: the environment is open',
    )
    this.#asking = reporterOf(
      'Redis rejects reads of the state of an environment: retrying',
      'Redis accepts reads of the state of the environment again',
    )
    this.#loading = reporterOf(
      'cannot load another local replica: retrying',
      'another local replica was loaded',
    )
    this.ledger = new FollowedLedger(this)
    this.view = new PresentView(() => this.#followed.copy)
    this.#listing = this.#list(followed.copy)
    this.#following = this.#run()
  }

  get followed(): Followed {
    return this.#followed
  }

  get isClosed(): boolean {
    return this.#abort.signal.aborted
  }

  /** Ends all waits for commits. */
  giveUp(): void {
    this.#isGivenUp = true
    for (const end of this.#waiting) end()
  }

  async caughtUp(): Promise<void> {
    const { source } = this.#followed
    const head = await source.head()
    source.mark.nudge()
    if (await this.reachedWithin(CAUGHT_UP_MS_MAX, head, source)) return
    throw new AuthzError(
      'STORE_REFUSED',
      'this node has not received the changes of other nodes yet: nothing was changed',
    )
  }

  readonly whenListed = (): Promise<void> => this.#listing.done

  snapshotPlace(): SnapshotPlace | null {
    return this.#followed.copy.snapshotPlace
  }

  /**
   * Returns how long the replica might have missed commits of other nodes, in milliseconds, or 0 while the
   * environment makes no decisions.
   */
  stalenessMs(): number {
    return this.#isSetAside ? 0 : performance.now() - this.#freshAt
  }

  /** Whether the epoch no longer exists in Redis and no other epoch has replaced it. */
  get isEmptied(): boolean {
    return !this.#isSetAside && this.#timesFoundEmpty >= EMPTY_FOUND_MIN
  }

  /** Reason why commits and following are not possible at the moment. Null if they are possible. */
  get fault(): AuthzError | null {
    return this.#fault
  }

  onHead(epoch: string, sequence: number): void {
    const { mark, epoch: own } = this.#followed.source
    if (epoch === own && sequence > mark.sequence) mark.advance(sequence)
    else if (epoch !== own || sequence < this.#followed.copy.mark.sequence) mark.nudge()
  }

  onDoubt(): void {
    this.#followed.source.mark.nudge()
    void this.check()
  }

  /**
   * Requests the current position from Redis. If the replica contains all commits up to this position, it is
   * fresh. Failures are not reported, because the staleness shows them.
   */
  check(): Promise<void> {
    this.#checking ??= this.#compare()
      .catch((error: unknown) => {
        this.noteDoubt(error)
        this.#followed.source.mark.nudge()
      })
      .finally(() => (this.#checking = null))
    return this.#checking
  }

  /**
   * Records an error of Redis that a caller received. If the error reports damage, decisions end. If it is a
   * rejection, it is logged.
   */
  noteDoubt(error: unknown): void {
    if (error instanceof DamagedStoreError) this.#noteDamage(error)
    else if (error instanceof AuthzError && isReply(error.cause)) this.#asking.noteFailure(error)
  }

  /**
   * Resolves when the replica has the revision, which the ledger `from` has reported. Throws `STORE_RESET` if
   * the epoch of the revision was replaced in the meantime, or if its last commits were rewound.
   */
  async reached(revision: Revision, from: RedisLedger): Promise<void> {
    for (;;) {
      const { source, copy } = this.#followed
      if (source.epoch !== revision.epoch || this.#abandoned.has(from)) throw historyReplaced()
      try {
        return await copy.reached(revision.sequence)
      } catch (error) {
        // The replica was replaced by another one of the same epoch, which has the revision or will have it.
        if (this.isClosed || this.#followed.copy === copy) throw error
      }
    }
  }

  /**
   * Like `reached`, but waits for at most `ms` milliseconds. Resolves to false if the replica does not have
   * the revision by then.
   */
  async reachedWithin(ms: number, revision: Revision, from: RedisLedger): Promise<boolean> {
    const over = Promise.withResolvers<boolean>()
    const end = (): void => over.resolve(false)
    const timer = setTimeout(end, this.#isGivenUp ? 0 : ms)
    this.#waiting.add(end)
    try {
      return await Promise.race([this.reached(revision, from).then(() => true), over.promise])
    } finally {
      clearTimeout(timer)
      this.#waiting.delete(end)
    }
  }

  /** Makes `close` wait for this commit. */
  track<Answer>(commit: Promise<Answer>): Promise<Answer> {
    const settled = commit.then(
      () => void this.#commits.delete(settled),
      () => void this.#commits.delete(settled),
    )
    this.#commits.add(settled)
    return commit
  }

  async close(): Promise<void> {
    this.#abort.abort()
    const patience = new AbortController()
    const isOver = pause(CLOSE_MS_MAX, undefined, { signal: patience.signal }).catch(() => undefined)
    await Promise.race([Promise.all(this.#commits), isOver])
    patience.abort()
    await this.#followed.source.close()
    await this.#following
    await this.#stopListing()
    await this.#followed.copy.close()
    this.#followed.lastSync.close()
    // The check is awaited last, because it might wait for a revision that this replica never receives.
    await this.#checking
  }

  async #compare(): Promise<void> {
    const askedAt = performance.now()
    const { source, copy, lastSync } = this.#followed
    const known = this.#damage
    const head = await source.position()
    // If damage was found during the request, this response does not refute it.
    if (this.#damage === known) this.#noteWhole()
    const own = copy.position()
    const isSame = own.sequence !== head.sequence || sameBytes(own.id, head.id)
    if (!isSame || copy.mark.sequence > head.sequence) return source.mark.nudge()
    source.mark.advance(head.sequence)
    await copy.reached(head.sequence)
    if (this.#followed.copy !== copy) return
    this.#copyFreshAt = askedAt
    if (this.#isTakenOver) this.#freshAt = askedAt
    if (!this.isClosed) lastSync.note(performance.now() - askedAt)
  }

  setAside(): void {
    this.#isSetAside = true
  }

  requireWhole(): void {
    if (this.#damage !== null) throw this.#damage
  }

  #noteDamage(damage: DamagedStoreError): void {
    this.#losing.noteFailure(damage)
    this.#damage = damage
    // The damage is reported each time it is found, because the environment might not have been open at the
    // first time.
    this.#options.onDamage(damage)
  }

  #noteWhole(): void {
    this.#asking.noteSuccess()
    this.#losing.noteSuccess()
    this.#damage = null
  }

  takeOver(place: SnapshotPlace | null): void {
    if (place !== this.snapshotPlace()) return
    void this.#noteRead(place)
    // While the environment was set aside, no decision used the former replica, so its age does not count.
    if (this.#isSetAside) this.#freshAt = this.#copyFreshAt
    this.#isSetAside = false
    if (this.#isTakenOver) return
    this.#isTakenOver = true
    this.#timesFoundEmpty = 0
    void this.check()
  }

  async #noteRead(place: SnapshotPlace | null): Promise<void> {
    const isListed = await this.#listing.done.then(
      () => true,
      () => false,
    )
    if (isListed && place === this.snapshotPlace()) this.#options.onRead()
  }

  #list(copy: LocalCopy): Listing {
    const stop = new AbortController()
    if (copy.isComplete) return { stop, done: Promise.resolve() }
    const { environmentId, log, buildLists, onFault } = this.#options
    const build = async (): Promise<void> => {
      log.info(
        { environment: environmentId },
        'building secondary indexes: decisions continue, management requests wait',
      )
      await buildLists(copy, stop.signal)
      await copy.complete()
      log.info({ environment: environmentId }, 'secondary indexes are built')
    }
    const done = build()
    done.catch((cause: unknown) => {
      if (stop.signal.aborted) return
      onFault(new Error(`the secondary indexes of environment ${environmentId} cannot be built`, { cause }))
      // Decisions continue with this replica. The node stops following it and loads another one.
      const { source } = this.#followed
      if (this.#followed.copy !== copy) return
      void pause(LISTED_AGAIN_MS, undefined, { signal: stop.signal }).then(
        () =>
          source.close(
            new AuthzError('STORE_UNAVAILABLE', 'the secondary indexes cannot be built', { cause }),
          ),
        () => undefined,
      )
    })
    return { stop, done }
  }

  async #stopListing(): Promise<void> {
    this.#listing.stop.abort(new AuthzError('STORE_CLOSED', 'the local replica is no longer used'))
    await this.#listing.done.catch(() => undefined)
  }

  async #run(): Promise<void> {
    while (!this.isClosed) {
      try {
        await this.#follow()
      } catch (error) {
        if (this.isClosed) return
        // If the replica could be followed for a while, its load does not count as failed.
        if (this.#followed.source.wasRead) this.#loadsInVain = 0
        if (this.#loadsInVain > 0) await this.#pauseBeforeLoad()
        if (this.isClosed) return
        this.#loadsInVain += 1
        await this.#replace(error instanceof AuthzError ? error : this.#noteFault(error))
      }
    }
  }

  /** Rejects the requests of callers that wait for a revision, and ends decisions on the outdated state. */
  #noteFault(cause: unknown): AuthzError {
    const { environmentId, onFault } = this.#options
    const fault = new AuthzError('STORE_UNAVAILABLE', 'the local replica of this environment cannot follow', {
      cause,
    })
    if (this.#fault === null) {
      onFault(new Error(`the local replica of environment ${environmentId} cannot follow Redis`, { cause }))
    }
    this.#fault = fault
    this.#followed.copy.mark.close(fault)
    return fault
  }

  /** Applies the entries of the log as they arrive. Returns when the source is closed. */
  async #follow(): Promise<void> {
    const { source, copy } = this.#followed
    const underWay = new Set<Promise<void>>()
    let failure: unknown = null
    const feed = source.feed(copy.position())
    for await (const entry of feed) {
      const written: Promise<void> = copy.apply(entry).then(
        () => void underWay.delete(written),
        (error: unknown) => {
          failure ??= error
          // Ends the feed immediately. Otherwise it would end only when the next commit arrives.
          void feed.return()
        },
      )
      underWay.add(written)
      if (underWay.size >= WRITES_UNDER_WAY_MAX) await Promise.race(underWay)
      if (failure !== null) break
    }
    await Promise.all(underWay)
    if (failure !== null) throw failure
  }

  /** Loads another replica, retrying until that succeeds, and replaces the current one with it. */
  async #replace(reason: AuthzError): Promise<void> {
    const { environmentId, log, load, onReplaced } = this.#options
    const fields = { environment: environmentId, reason: reason.code }
    log.warn(fields, 'cannot continue from the local replica: loading another')
    for (;;) {
      try {
        const former = this.#followed
        const askedAt = performance.now()
        const next = await load()
        this.#loading.noteSuccess()
        const isOther = reason.code === 'STORE_RESET'
        if (isOther) this.#abandoned.add(former.source)
        this.#followed = next
        this.#copyFreshAt = askedAt
        this.#fault = null
        this.#isTakenOver = false
        await this.#stopListing()
        this.#listing = this.#list(this.#followed.copy)
        const ended = historyReplaced()
        await former.source.close(ended)
        await former.copy.close(ended)
        former.lastSync.close()
        onReplaced()
        const counted = isOther ? { replacedHistories: this.#options.countReplacedHistory() } : {}
        const revision = this.#followed.copy.mark.sequence
        log.warn({ ...fields, ...counted, revision }, 'another local replica is in use')
        return
      } catch (error) {
        if (this.isClosed) return
        if (!(error instanceof AuthzError)) this.#noteFault(error)
        if (error instanceof EmptyStoreError) this.#timesFoundEmpty += 1
        if (error instanceof DamagedStoreError) this.#noteDamage(error)
        else this.#loading.noteFailure(error)
        await this.#pauseBeforeLoad()
        if (this.isClosed) return
      }
    }
  }

  async #pauseBeforeLoad(): Promise<void> {
    const pauseFor = backoffMs(this.#loadsInVain - 1, RELOAD_PAUSE_MS, RELOAD_PAUSE_MS_MAX)
    this.#loadsInVain += 1
    await pause(pauseFor, undefined, { signal: this.#abort.signal }).catch(() => undefined)
  }
}

function sameBytes(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  return Buffer.compare(one ?? new Uint8Array(), other ?? new Uint8Array()) === 0
}
