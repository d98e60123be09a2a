/**
 * One environment in this process: its store, its management, and the index that follows it. A failure closes
 * only this environment:
 *
 *     store opens ─► index is loaded ─► open: decides, follows
 *          │               │              │ a commit that the index cannot take, a row that cannot be read, …
 *          └───────────────┴──────────────┴─► closed: requests fail with the reason ─► retried until open
 *
 * A closed environment makes no decisions. A write then does not wait for visibility, and its response is
 * sent when it is durable. Management remains available as far as rows can be read, so that callers can
 * remove data that does not fit into the index. The environment is opened again after a growing pause, or
 * soon after a commit. The pauses limit the share of the process that these attempts use.
 */
import type { EnvironmentScope } from '#management/drafts/context.ts'
import type { CatchUps } from '#management/changes/catch-ups.ts'
import type { ReadQueue } from '#scheduling/admission.ts'
import type { RuntimeServices } from '#management/drafts/runtime-services.ts'
import type { TimeShare } from '#scheduling/thread-scheduler.ts'
import { DEFAULT_TENANT } from '#model/decision.ts'
import { AuthzError } from '#model/errors.ts'
import type { Revision } from '#model/revision.ts'
import { type Closure, closureOf } from '#replica/closed-environment.ts'
import type { AccessEngine } from '#replica/access-index.ts'
import type { ClosableIndexHost, ExpiryHost, IndexKeeper, CapacityReservation } from '#replica/index-host.ts'
import { Replica } from '#replica/replica.ts'
import type { EnvironmentStore } from '#store/store.ts'
import { EnvironmentService } from './environment-service.ts'

const FIRST_PAUSE_MS = 250
const PAUSE_MS_MAX = 60_000
/**
 * Minimum ratio of a pause to the duration of the attempt before it. Loading a large index takes long, and
 * other environments need the thread.
 */
const PAUSE_PER_ATTEMPT = 10
/** Minimum ratio after a commit, which may have removed the cause of the closure. */
const PAUSE_PER_ATTEMPT_AFTER_COMMIT = 2

export interface LiveEnvironmentOptions {
  readonly scope: EnvironmentScope
  readonly runtime: RuntimeServices
  /** Its share of the thread. */
  readonly timeShare: TimeShare
  readonly longReads: ReadQueue
  readonly catchUps: CatchUps
  readonly auditRetentionMs: number
  /** Opens the environment's store, or creates it. `onUnreachable`: see `Store.environment`. */
  openStore(onUnreachable: (error: AuthzError) => void): Promise<EnvironmentStore>
  /** Closes the store and deletes its content. Idempotent. */
  dropStore(): Promise<void>
  readonly indexes: ClosableIndexHost & IndexKeeper & CapacityReservation & ExpiryHost
  /** Makes an empty engine for effective access changes. */
  readonly newAccessEngine: () => AccessEngine
  /** Delay between the expiration of a grant and its deletion. */
  readonly expiredHoldMs: number
  /** Called when the environment is closed, and when the reason changes. */
  onClosed(closure: Closure, error: unknown): void
  /** Called when the environment is open again. */
  onOpened(closure: Closure): void
}

interface Opened {
  readonly store: EnvironmentStore
  readonly replica: Replica
  readonly service: EnvironmentService
}

export class LiveEnvironment {
  readonly #options: LiveEnvironmentOptions
  #opened: Opened | null = null
  #closure: Closure | null = null
  /** Resolves when no thread uses the closed index any longer. */
  #closing: Promise<void> = Promise.resolve()
  #attempt: Promise<void> = Promise.resolve()
  /** Resolves when the first attempt waits for an unreachable store. */
  readonly #isUnreachable = Promise.withResolvers<void>()
  #attemptMs = 0
  #pauseMs = FIRST_PAUSE_MS
  #timer: NodeJS.Timeout | undefined
  /** Time at which the timer fires. */
  #dueAt = Infinity
  /** The newest commit that the last attempt may have seen. */
  #triedAt = 0
  #isEnding = false

  /** Resolves when the environment is open, or closed for now. The first attempt may still be running. */
  static async open(options: LiveEnvironmentOptions): Promise<LiveEnvironment> {
    const environment = new LiveEnvironment(options)
    await Promise.race([environment.#try(), environment.#isUnreachable.promise])
    return environment
  }

  private constructor(options: LiveEnvironmentOptions) {
    this.#options = options
  }

  /** Its management; null while its store cannot be opened. */
  get service(): EnvironmentService | null {
    return this.#opened?.service ?? null
  }

  /** Why the environment is closed; null while it is open. */
  get closure(): Closure | null {
    return this.#closure
  }

  /** Whether it has at least one commit; also false while its store cannot be opened. */
  get isBegun(): boolean {
    return (this.#opened?.store.view.sequence() ?? 0) > 0
  }

  /**
   * Reports that the index can no longer decide: closes the environment and reloads its index from the rows.
   */
  fail(error: unknown): void {
    // An attempt that is running may already have published that index.
    void this.#attempt.then(() => this.#opened?.replica.fail(error))
  }

  async close(): Promise<void> {
    this.#end()
    await this.#opened?.service.close()
    await this.#opened?.replica.close()
  }

  async remove(): Promise<void> {
    this.#end()
    await this.#opened?.service.close()
    // Dropping the store ends the feed, so the index receives nothing more. It also ends a running attempt.
    await this.#options.dropStore()
    await this.#attempt
    await this.#options.indexes.remove(this.#options.scope.environmentId)
  }

  #end(): void {
    this.#isEnding = true
    clearTimeout(this.#timer)
  }

  #try(): Promise<void> {
    this.#attempt = this.#open()
    return this.#attempt
  }

  async #open(): Promise<void> {
    const from = performance.now()
    try {
      const isFirst = this.#opened === null
      const { store, replica, service } = (this.#opened ??= await this.#openStore())
      this.#triedAt = store.view.sequence()
      store.requireWhole()
      const onFault = (error: unknown): void => this.#close(error)
      await (isFirst ? replica.start(onFault) : replica.startAnew(onFault))
      if (store.view.sequence() === 0) await createDefaultTenant(service)
    } catch (error) {
      this.#attemptMs = performance.now() - from
      if (!this.#opened?.replica.fail(error)) this.#close(error)
      return this.#closing
    }
    this.#attemptMs = performance.now() - from
    // The replica has stopped following in the meantime, and that has closed the environment again. Another
    // attempt follows.
    if (!this.#opened.replica.isComing) return this.#closing
    const former = this.#closure
    this.#closure = null
    this.#pauseMs = FIRST_PAUSE_MS
    if (former) this.#options.onOpened(former)
  }

  async #openStore(): Promise<Opened> {
    const { scope, runtime, timeShare, longReads, catchUps, indexes, openStore } = this.#options
    const { auditRetentionMs, expiredHoldMs, newAccessEngine } = this.#options
    const store = await openStore(error => {
      this.#close(error)
      this.#isUnreachable.resolve()
    })
    const replica = new Replica(scope.environmentId, store, indexes, indexes)
    const service = new EnvironmentService({
      store,
      scope,
      runtime,
      timeShare,
      longReads,
      catchUps,
      auditRetentionMs,
      expiredHoldMs,
      newAccessEngine,
      whenVisible: revision => this.#whenVisible(replica, revision),
      reserveCapacity: changes => indexes.reserveCapacity(scope.environmentId, changes),
    })
    indexes.whenExpired(scope.environmentId, (removals, sequence) =>
      service.removeExpired(removals, sequence),
    )
    void store.whenListed().then(
      () => {
        service.resumePurges()
        service.removeEndedBefore()
      },
      () => undefined,
    )
    return { store, replica, service }
  }

  /**
   * Resolves when every decision of this process uses the revision, or when the environment makes no
   * decisions.
   */
  async #whenVisible(replica: Replica, revision: Revision): Promise<void> {
    if (this.#closure === null || replica.isComing) {
      try {
        return await replica.whenVisible(revision)
      } catch (error) {
        if (!this.#isClosed()) throw error
      }
    }
    await this.#closing
    if (revision.sequence > this.#triedAt) this.#trySoon()
  }

  /** A method, because the compiler would narrow the result of an earlier comparison. */
  #isClosed(): boolean {
    return this.#closure !== null
  }

  #close(error: unknown): void {
    if (this.#isEnding) return
    const { scope, indexes, runtime, onClosed } = this.#options
    const former = this.#closure
    this.#closure = closureOf(error, former?.since ?? runtime.now())
    const { reason } = this.#closure
    if (former?.reason !== reason) onClosed(this.#closure, error)
    this.#closing = indexes.close(scope.environmentId, reason)
    this.#opened?.store.setAside()
    this.#dueAt = Infinity
    this.#tryAfter(Math.max(this.#pauseMs, this.#attemptMs * PAUSE_PER_ATTEMPT))
    this.#pauseMs = Math.min(2 * this.#pauseMs, PAUSE_MS_MAX)
  }

  #trySoon(): void {
    this.#pauseMs = FIRST_PAUSE_MS
    this.#tryAfter(Math.max(FIRST_PAUSE_MS, this.#attemptMs * PAUSE_PER_ATTEMPT_AFTER_COMMIT))
  }

  /** Schedules an attempt, unless an earlier one is scheduled. */
  #tryAfter(pauseMs: number): void {
    const dueAt = performance.now() + pauseMs
    if (this.#isEnding || dueAt >= this.#dueAt) return
    this.#dueAt = dueAt
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#dueAt = Infinity
      // The attempt of an earlier timer may still be running.
      void this.#attempt.then(() => {
        if (this.#isClosed() && !this.#isEnding) void this.#try()
      })
    }, pauseMs)
    this.#timer.unref()
  }
}

/** Creates the default tenant, unless it exists: another node may create it at the same time. */
async function createDefaultTenant(service: EnvironmentService): Promise<void> {
  try {
    const body = { key: DEFAULT_TENANT, name: 'Default tenant' }
    await service.execute('createTenant', { body })
  } catch (error) {
    if (!(error instanceof AuthzError) || error.code !== 'DUPLICATE_ENTITY') throw error
  }
}
