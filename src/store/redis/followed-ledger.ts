/**
 * The ledger of a followed environment, as services see it: commits go to Redis, and all reads use the
 * replica.
 */
import { AuthzError, ConflictError, historyReplaced } from '#model/errors.ts'
import type { Revision } from '#model/revision.ts'
import type { Commit, LogEntry, Ledger, Row } from '#store/ledger.ts'
import { storeClosed } from '#store/store-closed-error.ts'
import type { LastSyncRecord } from '#store/redis/copy/last-sync-record.ts'
import type { LocalCopy } from '#store/redis/copy/local-copy.ts'
import { COMMIT_MS_MAX, type RedisLedger } from '#store/redis/ledger/redis-ledger.ts'
import type { LogPosition } from '#store/redis/ledger/redis-log.ts'

/**
 * Minimum time limit for the wait until the replica has a commit that Redis has accepted. It applies even if
 * the commit itself has used up the time of the caller.
 */
const SEEN_MS_MIN = 1_000
const UNKNOWN =
  'this node did not receive the accepted commit from the store in time: the change may or may not have been made'
const NOT_MADE =
  'the change was not made: it conflicts with a concurrent change that this node has not received yet'

/** A replica, and the ledger that it replicates. */
export interface Followed {
  readonly source: RedisLedger
  readonly copy: LocalCopy
  /** Record of the time at which the replica last had everything that Redis had. */
  readonly lastSync: LastSyncRecord
}

/** State of the environment that the ledger needs. */
export interface FollowedState {
  readonly followed: Followed
  readonly isClosed: boolean
  /** Reason why commits and following are not possible at the moment. Null if they are possible. */
  readonly fault: AuthzError | null
  /** Makes the environment wait for this commit when it closes. */
  track<Answer>(commit: Promise<Answer>): Promise<Answer>
  /**
   * Resolves to true when the replica has the revision, which the ledger `from` has reported. Resolves to
   * false if this takes more than `ms` milliseconds.
   */
  reachedWithin(ms: number, revision: Revision, from: RedisLedger): Promise<boolean>
  /** Reports an error of Redis that a caller received. */
  noteDoubt(error: unknown): void
}

export class FollowedLedger implements Ledger {
  readonly #environment: FollowedState

  constructor(environment: FollowedState) {
    this.#environment = environment
  }

  async head(): Promise<Revision> {
    const { source, copy } = this.#open()
    return { epoch: source.epoch, sequence: copy.mark.sequence }
  }

  /**
   * Commits to Redis, and then waits until the replica has the commit, so that the writer can read what it
   * wrote.
   */
  async commit(commit: Commit, onApplied?: (blockedMs: number) => void): Promise<Revision> {
    const { source, copy } = this.#open()
    if (commit.epoch !== undefined && commit.epoch !== source.epoch) throw historyReplaced()
    const revision = await this.#environment.track(this.#commit(source, commit, copy.position()))
    onApplied?.(this.#environment.followed.copy.keptThreadMs(revision.sequence))
    return revision
  }

  async #commit(source: RedisLedger, commit: Commit, ground: LogPosition): Promise<Revision> {
    const until = performance.now() + COMMIT_MS_MAX
    try {
      const revision = await source.commitOn(ground, commit)
      await this.#seen(revision, source, until, new AuthzError('STORE_UNAVAILABLE', UNKNOWN))
      return revision
    } catch (error) {
      // The caller will try again and then needs to read the conflicting row from the replica.
      if (error instanceof ConflictError) {
        const { epoch, mark } = source
        const head = { epoch, sequence: mark.sequence }
        await this.#seen(head, source, until, new AuthzError('STORE_REFUSED', NOT_MADE))
      }
      if (error instanceof AuthzError) this.#environment.noteDoubt(error)
      throw error
    }
  }

  /**
   * Waits until the replica has the revision. The wait has a time limit, because Redis can lose the commit
   * before any node has read it. Throws `otherwise` when the time is over.
   */
  async #seen(revision: Revision, source: RedisLedger, until: number, otherwise: AuthzError): Promise<void> {
    const withinMs = Math.max(SEEN_MS_MIN, until - performance.now())
    if (!(await this.#environment.reachedWithin(withinMs, revision, source))) throw otherwise
  }

  async *rows(): AsyncIterable<readonly Row[]> {
    const { copy } = this.#open()
    for (const batch of copy.view.batches()) {
      yield batch
      this.#open()
    }
  }

  feed(after: Revision): AsyncIterable<LogEntry> {
    const { copy } = this.#open()
    return copy.feed(after)
  }

  replay(after: Revision): AsyncIterable<LogEntry> {
    const { copy, source } = this.#open()
    return new EitherReplay(copy.replay(after), () => source.replay(after))
  }

  #open(): Followed {
    if (this.#environment.isClosed) throw storeClosed()
    if (this.#environment.fault) throw this.#environment.fault
    return this.#environment.followed
  }
}

/**
 * Replays the log of the replica. If that log does not contain the position, replays the log of Redis. The
 * log of a replica contains only commits that were made after the replica was loaded. This class is not a
 * generator, because `return` of a generator waits for an entry that might never arrive.
 */
class EitherReplay implements AsyncIterableIterator<LogEntry> {
  #from: AsyncIterator<LogEntry>
  readonly #other: () => AsyncIterable<LogEntry>
  #isDecided = false

  constructor(first: AsyncIterable<LogEntry>, other: () => AsyncIterable<LogEntry>) {
    this.#from = first[Symbol.asyncIterator]()
    this.#other = other
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<LogEntry, undefined>> {
    if (this.#isDecided) return this.#from.next()
    this.#isDecided = true
    try {
      return await this.#from.next()
    } catch (error) {
      if (!(error instanceof AuthzError) || error.code !== 'REVISION_TOO_OLD') throw error
      this.#from = this.#other()[Symbol.asyncIterator]()
      return this.#from.next()
    }
  }

  async return(): Promise<IteratorResult<LogEntry, undefined>> {
    await this.#from.return?.()
    return { done: true, value: undefined }
  }
}
