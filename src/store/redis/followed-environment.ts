/**
 * One environment of a shared ledger as this node has it: commits go to Redis, everything that is read comes from the local
 * copy, which follows the log.
 *
 *     commit ──► Redis ──► log ──► copy (rows, lists, log, one write) ──► feed ──► index
 *                  └─ "there is more" ─┘
 *
 * Invariant: whoever reads sees the copy of one history at one moment. When that history is gone, or the log no longer
 * reaches back to the copy, another copy is loaded beside it and takes its place as a whole; feeds of the former then end with
 * `STORE_RESET`. Until then, and until who follows has gone over to it, the former one answers, and grows stale. A history is
 * begun by a start only: a node that has followed one does not take an empty Redis for the truth, but says that it is empty.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { AuthzError, historyReplaced } from '#model/errors.ts'
import type { Revision } from '#model/revision.ts'
import type { Ledger } from '#store/ledger.ts'
import type { SnapshotPlace } from '#store/snapshot-place.ts'
import type { EnvironmentStore } from '#store/store.ts'
import type { View } from '#store/view.ts'
import { type Followed, FollowedLedger, type FollowedState } from './followed-ledger.ts'
import type { HeadListener } from './head-channels.ts'
import type { LocalCopy } from './local-copy.ts'
import { PresentView } from './present-view.ts'
import { EmptyStoreError, type RedisLedger } from './redis-ledger.ts'
import { isReply } from './redis-link.ts'
import { pauseMs } from './retry-pause.ts'
import { StandingFailure } from './standing-failure.ts'
import { DamagedStoreError } from './damaged-store-error.ts'
import type { StoreLog } from '#store/store-log.ts'

/** Commits that may be on their way into the copy at once. */
const WRITES_UNDER_WAY_MAX = 128
/** How long `close` waits for unanswered commits. */
const CLOSE_MS_MAX = 3_000
/** How long who asks for all that Redis has waits until the copy shows it. */
const CAUGHT_UP_MS_MAX = 1_000
/**
 * How long decisions rest on a copy whose lists cannot be built, before another copy is loaded. A load costs as much as a
 * start.
 */
const LISTED_AGAIN_MS = 30_000
/** How long to wait before another attempt to load, and how long after many failed attempts. */
const RELOAD_PAUSE_MS = 500
const RELOAD_PAUSE_MS_MAX = 5_000

/**
 * An empty Redis counts only when it is found so many times in a row. Found once, it may be the removal of this environment
 * on another node, of which this one has not heard yet.
 */
const EMPTY_FOUND_MIN = 2

/** The build of a copy's lists. */
interface Listing {
  readonly stop: AbortController
  readonly done: Promise<void>
}

export interface FollowedEnvironmentOptions {
  readonly environmentId: string
  readonly log: StoreLog
  /** When the copy had everything that Redis had, by `performance.now()`. */
  readonly heardAt: number
  /** Opens the ledger as it is now and loads a fresh copy of it. */
  readonly load: () => Promise<Followed>
  /** Builds the lists of a copy that has none. Throws the signal's reason when the signal is given. */
  readonly buildLists: (copy: LocalCopy, signal: AbortSignal) => Promise<void>
  /** Called when the former copy is closed, so its files may be removed. */
  readonly onReplaced: () => void
  /** Called when index and lists have been made of the present copy. */
  readonly onRead: () => void
  /** Counts that another history has taken the place of the present one. Returns how often that happened in this process. */
  readonly countReplacedHistory: () => number
  /** Told when Redis has lost part of the environment, so that nobody may decide on the copy. */
  readonly onDamage: (damage: DamagedStoreError) => void
  /** Told of an unexpected error that keeps the environment from being followed. It goes on trying with other copies. */
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
  /** When the copy that decisions rest on last had everything. */
  #freshAt: number
  /** When the present copy last had everything, whether or not decisions rest on it. */
  #copyFreshAt: number
  /** Whether nobody decides on the environment at present. */
  #isSetAside = false
  /** The defect or damage for which the environment is not followed; null while it is followed. */
  #fault: AuthzError | null = null
  /** Whether decisions rest on the present copy. Until then they rest on the former one. */
  #isTakenOver = true
  #timesFoundEmpty = 0
  /** Loads in a row that failed, or led to a copy that could not be followed. */
  #loadsInVain = 0
  /** The part of the environment that Redis has lost; null: nothing. */
  #damage: DamagedStoreError | null = null
  readonly #losing: StandingFailure
  readonly #asking: StandingFailure
  readonly #loading: StandingFailure
  /** Ledgers whose history went on differently, or ended: what was committed there may be lost. */
  readonly #abandoned = new WeakSet<RedisLedger>()
  #checking: Promise<void> | null = null
  readonly #commits = new Set<Promise<unknown>>()
  /** Functions that each end a wait for a revision. */
  readonly #waiting = new Set<() => void>()
  #isGivenUp = false

  constructor(followed: Followed, options: FollowedEnvironmentOptions) {
    this.#followed = followed
    this.#options = options
    this.#freshAt = options.heardAt
    this.#copyFreshAt = this.#freshAt
    const { log, environmentId } = options
    const standing = (failing: string, over: string) =>
      new StandingFailure({ log, fields: { environment: environmentId }, failing, over })
    this.#losing = standing(
      'Redis has lost data of an environment: it is closed until that is restored',
      'Redis has all data of the environment again: it is open',
    )
    this.#asking = standing(
      'Redis refuses to say where an environment stands: asking again',
      'Redis says again where it stands',
    )
    this.#loading = standing('cannot load another copy: trying again', 'another copy was loaded')
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
    throw new AuthzError('STORE_REFUSED', 'this node has yet to see what others did: nothing was changed')
  }

  readonly whenListed = (): Promise<void> => this.#listing.done

  snapshotPlace(): SnapshotPlace | null {
    return this.#followed.copy.snapshotPlace
  }

  /** For how long it may have missed what others committed, in milliseconds; 0 while nobody decides on it. */
  stalenessMs(): number {
    return this.#isSetAside ? 0 : performance.now() - this.#freshAt
  }

  /** Whether the history is gone and no other has been taken over. */
  get isEmptied(): boolean {
    return !this.#isSetAside && this.#timesFoundEmpty >= EMPTY_FOUND_MIN
  }

  /** The reason for which nothing can be committed or followed at present; null: there is none. */
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
   * Asks Redis for its position. A copy that has all up to there is fresh. A failure needs no report, since staleness shows
   * it.
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

  /** Notes an error of Redis that a caller met. Damage ends decisions; a refusal is logged. */
  noteDoubt(error: unknown): void {
    if (error instanceof DamagedStoreError) this.#noteDamage(error)
    else if (error instanceof AuthzError && isReply(error.cause)) this.#asking.noteFailure(error)
  }

  /**
   * Resolves when the copy has the revision, which `from` has told. Throws `STORE_RESET` when that history was replaced
   * meanwhile, also by a history of the same epoch that lacks its last commits.
   */
  async reached(revision: Revision, from: RedisLedger): Promise<void> {
    for (;;) {
      const { source, copy } = this.#followed
      if (source.epoch !== revision.epoch || this.#abandoned.has(from)) throw historyReplaced()
      try {
        return await copy.reached(revision.sequence)
      } catch (error) {
        // The copy was replaced by another one of the same history, which has the revision or will have it.
        if (this.isClosed || this.#followed.copy === copy) throw error
      }
    }
  }

  /** As `reached`, for at most `ms` milliseconds: false when the copy does not have the revision by then. */
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

  /** `close` waits for this commit. */
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
    this.#followed.heard.close()
    // Awaited last: the check may be waiting for a revision that the copy was never to have.
    await this.#checking
  }

  async #compare(): Promise<void> {
    const askedAt = performance.now()
    const { source, copy, heard } = this.#followed
    const known = this.#damage
    const head = await source.position()
    // Damage that was found meanwhile is newer than this answer, even if both came at once.
    if (this.#damage === known) this.#noteWhole()
    const own = copy.position()
    const isSame = own.sequence !== head.sequence || sameBytes(own.id, head.id)
    if (!isSame || copy.mark.sequence > head.sequence) return source.mark.nudge()
    source.mark.advance(head.sequence)
    await copy.reached(head.sequence)
    if (this.#followed.copy !== copy) return
    this.#copyFreshAt = askedAt
    if (this.#isTakenOver) this.#freshAt = askedAt
    if (!this.isClosed) heard.note(performance.now() - askedAt)
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
    // Told each time: when the damage was first found, the environment may not have been open yet.
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
    // No decision rested on the former copy.
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
      log.info({ environment: environmentId }, 'building lists: decisions are made, management waits')
      await buildLists(copy, stop.signal)
      await copy.complete()
      log.info({ environment: environmentId }, 'lists are built')
    }
    const done = build()
    done.catch((cause: unknown) => {
      if (stop.signal.aborted) return
      onFault(new Error(`the lists of environment ${environmentId} cannot be built`, { cause }))
      // Decisions go on. The following ends, and another copy is loaded.
      const { source } = this.#followed
      if (this.#followed.copy !== copy) return
      void pause(LISTED_AGAIN_MS, undefined, { signal: stop.signal }).then(
        () => source.close(new AuthzError('STORE_UNAVAILABLE', 'the lists cannot be built', { cause })),
        () => undefined,
      )
    })
    return { stop, done }
  }

  async #stopListing(): Promise<void> {
    this.#listing.stop.abort(new AuthzError('STORE_CLOSED', 'the copy is not used any more'))
    await this.#listing.done.catch(() => undefined)
  }

  async #run(): Promise<void> {
    while (!this.isClosed) {
      try {
        await this.#follow()
      } catch (error) {
        if (this.isClosed) return
        // A copy that could be followed for a while was not loaded in vain.
        if (this.#followed.source.wasRead) this.#loadsInVain = 0
        if (this.#loadsInVain > 0) await this.#pauseBeforeLoad()
        if (this.isClosed) return
        this.#loadsInVain += 1
        await this.#replace(error instanceof AuthzError ? error : this.#noteFault(error))
      }
    }
  }

  /**
   * Callers that wait for a revision get the reason for which it does not come, and nobody decides on the state that was
   * left behind.
   */
  #noteFault(cause: unknown): AuthzError {
    const { environmentId, onFault } = this.#options
    const fault = new AuthzError('STORE_UNAVAILABLE', 'the copy of this environment cannot follow', { cause })
    if (this.#fault === null) {
      onFault(new Error(`the copy of environment ${environmentId} cannot follow Redis`, { cause }))
    }
    this.#fault = fault
    this.#followed.copy.mark.close(fault)
    return fault
  }

  /** Applies the entries of the log as they come. Ends with the source. */
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
          // Ends the feed now, and not only when another commit comes.
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

  /** Loads another copy, however long it takes until that is possible, and puts it in place of the present one. */
  async #replace(reason: AuthzError): Promise<void> {
    const { environmentId, log, load, onReplaced } = this.#options
    const fields = { environment: environmentId, reason: reason.code }
    log.warn(fields, 'cannot go on from the local copy: loading another')
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
        former.heard.close()
        onReplaced()
        const counted = isOther ? { replacedHistories: this.#options.countReplacedHistory() } : {}
        const revision = this.#followed.copy.mark.sequence
        log.warn({ ...fields, ...counted, revision }, 'another copy is in force')
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
    const pauseFor = pauseMs(this.#loadsInVain - 1, RELOAD_PAUSE_MS, RELOAD_PAUSE_MS_MAX)
    this.#loadsInVain += 1
    await pause(pauseFor, undefined, { signal: this.#abort.signal }).catch(() => undefined)
  }
}

function sameBytes(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  return Buffer.compare(one ?? new Uint8Array(), other ?? new Uint8Array()) === 0
}
