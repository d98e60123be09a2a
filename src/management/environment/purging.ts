/**
 * Purges the rows that removals left (`drafts/removal.ts`), after their responses are sent: in batches that
 * block the thread for at most a few milliseconds.
 *
 * A batch starts as soon as the view shows the previous one, without waiting for the disk. Batches become
 * durable in order. After a crash, rows of lost batches are found again, because the purge's own row is
 * deleted with the last of its rows.
 */
import { pendingDeadIds } from '#store/keyspace/dead-ids.ts'
import { Draft } from '#management/drafts/draft.ts'
import { PieceSize } from '#scheduling/piece-size.ts'
import { purgePiece } from '#management/drafts/removal.ts'
import type { RuntimeServices } from '#management/drafts/runtime-services.ts'
import { AuthzError, ConflictError } from '#model/errors.ts'
import { COMMIT_ATTEMPTS_MAX, REMOVALS_PENDING_MAX } from '#model/limits.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import type { Commit } from '#store/ledger.ts'
import type { EnvironmentStore } from '#store/store.ts'

export interface PurgingOptions {
  readonly store: EnvironmentStore
  readonly runtime: Pick<RuntimeServices, 'newCommitId' | 'onBackgroundFault' | 'elapsedMs'>
  /** Resolves when the commands that are now queued after a conflict are done. */
  readonly whenLosersAreDone: () => Promise<unknown>
  /** Called whenever everything has been purged. */
  readonly onDone: () => Promise<unknown>
  /** Maximum number of removed entities that wait for their purge; absent: the default. */
  readonly pendingMax?: number
}

/** How long a removal waits for earlier ones to be purged. */
const CAPACITY_WAIT_MS_MAX = 5_000

/**
 * Thrown for a removal while too many removed entities wait for their purge, or while earlier removals wait.
 */
export class RemovalsPendingError extends AuthzError {
  /** Number of entities that it removes. */
  readonly removed: number

  constructor(removed: number, max: number) {
    const message = `${max} removed entities of this environment have dependents that are not purged yet, which is the maximum; try again shortly`
    super('OVERLOADED', message, { limit: 'removals' })
    this.removed = removed
  }
}

/** The position of a removal in the queue for capacity. */
export interface CapacityTicket {
  readonly removed: number
  /** Lets the following removals proceed. Idempotent. */
  end(): void
}

export class Purging {
  readonly #options: PurgingOptions
  readonly #size = new PieceSize()
  readonly #pendingMax: number
  #running: Promise<void> | null = null
  #isClosed = false
  /** Number of entities removed by commits that are being made. */
  #held = 0
  /** Removals that wait for capacity, in order of arrival. */
  readonly #line = new Set<CapacityTicket>()
  /** Called when capacity is freed, when the queue advances, and when purging ends. */
  readonly #onCapacity = new Set<() => void>()

  constructor(options: PurgingOptions) {
    this.#options = options
    this.#pendingMax = options.pendingMax ?? REMOVALS_PENDING_MAX
  }

  /**
   * Reserves capacity for the removed entities of a commit that is about to be made. Returns a function that
   * releases it; call it after the commit has been made or has failed. Throws `RemovalsPendingError` if there
   * are too many pending removals, or if other removals wait; a removal with a `ticket` has already waited.
   */
  hold(removed: number, ticket: CapacityTicket | null = null): () => void {
    if (removed === 0) return () => {}
    const isNext = ticket !== null || this.#line.size === 0
    if (!isNext || !this.#hasCapacityFor(removed)) throw new RemovalsPendingError(removed, this.#pendingMax)
    this.#held += removed
    ticket?.end()
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#held -= removed
      // The committed removals must be purged now; otherwise waiting removals would find no capacity.
      this.resume()
      this.#notify()
    }
  }

  /**
   * Resolves when enough has been purged for a removal of that many entities, in the order of the calls, or
   * after a timeout. Later removals wait until it is done. Otherwise, a large removal would never find
   * capacity during continuous small ones.
   */
  async whenCapacityFor(removed: number): Promise<CapacityTicket> {
    this.resume()
    const over = Promise.withResolvers<void>()
    const timer = setTimeout(over.resolve, CAPACITY_WAIT_MS_MAX)
    const end = (): void => {
      if (this.#line.delete(ticket)) this.#notify()
    }
    const ticket: CapacityTicket = { removed, end }
    this.#line.add(ticket)
    const look = (): void => {
      if (this.#isStuck() || this.#isAdmitted(ticket)) over.resolve()
    }
    this.#onCapacity.add(look)
    look()
    await over.promise
    clearTimeout(timer)
    this.#onCapacity.delete(look)
    return ticket
  }

  /** Whether pending removals will not be purged for now: purging was closed or has failed. */
  #isStuck(): boolean {
    return this.#isClosed || (this.#running === null && !this.#isDone())
  }

  /**
   * A removal waits until half of the capacity is free, and not only until it fits: each wait then serves
   * many removals.
   */
  #isAdmitted(ticket: CapacityTicket): boolean {
    const [first] = this.#line
    if (first !== ticket) return false
    const pending = this.#pending() + this.#held
    return pending === 0 || pending <= Math.min(this.#pendingMax / 2, this.#pendingMax - ticket.removed)
  }

  /** If nothing else is pending, a single removal can be as large as a commit allows. */
  #hasCapacityFor(removed: number): boolean {
    const pending = this.#pending() + this.#held
    return pending === 0 || pending + removed <= this.#pendingMax
  }

  #pending(): number {
    return pendingDeadIds(this.#options.store.view).size
  }

  /** Starts purging the rows that earlier removals left, unless a purge is running. */
  resume(): void {
    if (this.#isClosed || this.#running || this.#isDone()) return
    this.#running = this.#purge().then(
      () => {
        this.#running = null
        // A purge may have been added after the last check.
        this.resume()
        this.#notify()
      },
      (error: unknown) => {
        this.#running = null
        this.#notify()
        this.#options.runtime.onBackgroundFault(error)
      },
    )
  }

  /** Waits for the current batch and starts no further one; the rest is done after the next start. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#notify()
    await this.#running
  }

  async #purge(): Promise<void> {
    let durable: Promise<unknown> = Promise.resolve()
    let conflicts = 0
    // The list is checked before each batch, because `resume` does not start a second purge for later
    // additions.
    while (!this.#isClosed && !this.#isDone()) {
      try {
        durable = (await this.#purgePiece()).durable
        conflicts = 0
        this.#notify()
      } catch (error) {
        // A conflict means that another node purges at the same time, so this node tries again.
        if (!(error instanceof ConflictError) || ++conflicts === COMMIT_ATTEMPTS_MAX) throw error
      }
      await this.#letOthersGoFirst()
    }
    await durable
    if (!this.#isClosed) await this.#options.onDone()
  }

  #notify(): void {
    for (const look of this.#onCapacity) look()
  }

  /**
   * Yields to the event loop, because a ledger may respond without an iteration and successive batches would
   * then block the thread. Also waits for queued commands with conflicts: a command that touches the purged
   * rows could otherwise get a conflict with every batch.
   */
  async #letOthersGoFirst(): Promise<void> {
    await new Promise(resolve => setImmediate(resolve))
    await this.#options.whenLosersAreDone()
  }

  /** Resolves when the view shows the batch. */
  async #purgePiece(): Promise<{ readonly durable: Promise<unknown> }> {
    const { store, runtime } = this.#options
    const from = runtime.elapsedMs()
    const draft = new Draft(store.view)
    const rows = purgePiece(draft, this.#size.rows)
    const commit = draft.toCommit(runtime.newCommitId())
    const draftedMs = runtime.elapsedMs() - from
    const { writtenMs, durable } = await this.#apply(commit)
    this.#size.learn(rows, Math.max(draftedMs, writtenMs))
    return { durable }
  }

  #apply(commit: Commit): Promise<{ readonly writtenMs: number; readonly durable: Promise<unknown> }> {
    return new Promise((resolve, reject) => {
      const durable: Promise<unknown> = this.#options.store.ledger.commit(commit, writtenMs => {
        resolve({ writtenMs, durable })
      })
      // A ledger may not report that a commit was applied before it is durable. Then the durable commit
      // resolves the promise.
      durable.then(() => resolve({ writtenMs: 0, durable }), reject)
    })
  }

  #isDone(): boolean {
    return this.#options.store.view.count(lists.all('purge')) === 0
  }
}
