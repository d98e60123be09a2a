/**
 * Keeps the engines of one environment caught up with its ledger: loads them from the view, then applies
 * every commit.
 *
 * The view changes while it is loaded, and the feed starts at the revision that the view had before the load.
 * Changes are idempotent, so an engine can receive some of them twice. Until it has received every commit
 * that the view had at the end of the load, its state can mix several moments. Therefore it is not published
 * earlier.
 *
 * If the epoch of the ledger is replaced, or the log no longer contains the next commit, new engines are
 * loaded. The current engines keep making decisions until the new ones replace them as a whole. Any other
 * failure ends the following and is reported to the caller of `start`, who can call `startAnew`.
 */
import { AuthzError, type ErrorCode, historyReplaced } from '#model/errors.ts'
import type { Revision } from '#model/revision.ts'
import type { SnapshotPlace } from '#store/snapshot-place.ts'
import type { EnvironmentStore } from '#store/store.ts'
import type { IndexHost, IndexKeeper } from './index-host.ts'
import { loadChanges } from './load-changes.ts'

interface RevisionWaiter {
  readonly revision: Revision
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export class Replica {
  readonly #environmentId: string
  readonly #store: EnvironmentStore
  readonly #host: IndexHost
  readonly #keeper: IndexKeeper | null
  /** Location where engines of the current view can be saved; null if they are not saved. */
  #place: SnapshotPlace | null = null
  #isClosed = false
  #applying: Promise<void> = Promise.resolve()
  /** Revision that every decision reflects; null before the first load. */
  #visible: Revision | null = null
  readonly #formerEpochs = new Set<string>()
  #waiters: RevisionWaiter[] = []
  /** Reason why following has ended; null while it continues. */
  #endReason: unknown = null
  /** Ends the current following with an error; null if nothing is followed. */
  #failFollowing: ((error: unknown) => void) | null = null

  /** `keeper` saves engines from one start to the next; null if they are not saved. */
  constructor(
    environmentId: string,
    store: EnvironmentStore,
    host: IndexHost,
    keeper: IndexKeeper | null = null,
  ) {
    this.#environmentId = environmentId
    this.#store = store
    this.#host = host
    this.#keeper = keeper
  }

  /**
   * Loads the engines, and resolves when they make decisions. Following continues until the ledger closes.
   * `onFault` receives an error that ends it earlier, in the same event-loop iteration in which the waiters
   * for a revision are rejected.
   */
  async start(onFault: (error: unknown) => void): Promise<void> {
    await this.#beginFrom(async () => (await this.#restore()) ?? (await this.#load()), onFault)
  }

  /**
   * Like `start`, for use after a start has failed or a fault has ended the following. Loads the engines from
   * all rows.
   */
  async startAnew(onFault: (error: unknown) => void): Promise<void> {
    await this.#beginFrom(() => this.#load(), onFault)
  }

  /** Starts following. If that fails, rejects the waiters, because their revision will not become visible. */
  async #beginFrom(start: () => Promise<Revision>, onFault: (error: unknown) => void): Promise<void> {
    try {
      this.#begin(await start(), onFault)
    } catch (error) {
      this.#end(error)
      throw error
    }
  }

  /**
   * Whether decisions reflect, or will reflect, future commits. Otherwise a writer must not wait for
   * visibility.
   */
  get isComing(): boolean {
    return this.#endReason === null
  }

  /** Ends the following with that fault and reports it. Returns false if nothing is followed. */
  fail(error: unknown): boolean {
    if (this.#failFollowing === null) return false
    this.#failFollowing(error)
    return true
  }

  /**
   * Resolves when every decision reflects the revision. Rejects if following has ended before, and with
   * `STORE_RESET` if the revision belongs to an epoch that was replaced.
   */
  whenVisible(revision: Revision): Promise<void> {
    if (this.#isVisible(revision)) return Promise.resolve()
    if (this.#endReason !== null) return Promise.reject(this.#endReason as Error)
    if (this.#formerEpochs.has(revision.epoch)) return Promise.reject(historyReplaced())
    return new Promise((resolve, reject) => {
      this.#waiters.push({ revision, resolve, reject })
    })
  }

  #begin(from: Revision, onFault: (error: unknown) => void): void {
    const fail = (error: unknown): void => {
      // If a fault has already ended this following, its loop ends by itself at the next entry.
      if (this.#failFollowing !== fail) return
      this.#failFollowing = null
      this.#end(error)
      if (!hasCode(error, 'STORE_CLOSED')) onFault(error)
    }
    this.#failFollowing = fail
    this.#endReason = null
    const isOver = (): boolean => this.#failFollowing !== fail
    void this.#followAll(from, isOver).then(
      () => fail(new AuthzError('STORE_CLOSED', 'the store is closed')),
      fail,
    )
  }

  /** Stops applying commits, and saves the engines for the next start. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#applying
    // If the view was replaced, the current engines belong to the former view and must not be saved next to
    // the new one.
    if (this.#place === null || this.#place !== this.#store.snapshotPlace()) return
    await this.#keeper?.keep(this.#environmentId, this.#place)
  }

  /** Restores the engines that an earlier process saved, and catches them up before they make decisions. */
  async #restore(): Promise<Revision | null> {
    const place = this.#store.snapshotPlace()
    if (!this.#keeper || !place) return null
    const head = await this.#store.ledger.head()
    let at = await this.#keeper.restore(this.#environmentId, place, head.epoch)
    if (at === null || at.sequence > head.sequence) return null
    try {
      at = await this.#catchUp(at, head)
    } catch (error) {
      if (!isLeftBehind(error)) throw error
      return null
    }
    if (place !== this.#store.snapshotPlace()) return null
    await this.#publish(place)
    this.#advance(at)
    return at
  }

  /** Applies the commits after `from`, up to `to`. */
  async #catchUp(from: Revision, to: Revision): Promise<Revision> {
    if (from.epoch === to.epoch && from.sequence >= to.sequence) return from
    let at = from
    for await (const entry of this.#store.ledger.feed(from)) {
      await this.#host.apply(this.#environmentId, entry.changes, entry.revision, entry)
      at = entry.revision
      if (at.sequence >= to.sequence) return at
    }
    throw new AuthzError('STORE_CLOSED', 'the store is closed')
  }

  /**
   * Loads fresh engines from the current tables. Repeats the load if the tables are replaced in the meantime.
   */
  async #load(): Promise<Revision> {
    this.#place = null
    for (;;) {
      const place = this.#store.snapshotPlace()
      try {
        const at = await this.#loadLevel(place)
        if (at !== null) return at
      } catch (error) {
        // Tables that are replaced are closed during the read. The load then starts again with the new
        // tables.
        if (place === this.#store.snapshotPlace() && !isLeftBehind(error)) throw error
      }
    }
  }

  /** Returns null if the tables were replaced while they were read. */
  async #loadLevel(place: SnapshotPlace | null): Promise<Revision | null> {
    const { ledger, view } = this.#store
    const { epoch } = await ledger.head()
    const from: Revision = { epoch, sequence: view.sequence() }
    await this.#host.load(this.#environmentId, loadChanges(view), from, place)
    // Commits made before this point did not wait for visibility, because following had ended. The head that
    // is read next includes them.
    this.#endReason = null
    const head = await ledger.head()
    // The view might have shown a commit that was not on disk yet. Without secondary indexes, it might lag
    // behind the ledger.
    const shown = { ...head, sequence: Math.max(head.sequence, view.sequence()) }
    const at = await this.#catchUp(from, shown)
    if (place !== this.#store.snapshotPlace()) return null
    await this.#publish(place)
    if (this.#visible !== null && this.#visible.epoch !== epoch) {
      this.#formerEpochs.add(this.#visible.epoch)
      // A restored backup can continue a former history.
      this.#formerEpochs.delete(epoch)
      const isLost = (waiter: RevisionWaiter) => waiter.revision.epoch !== epoch
      for (const waiter of this.#take(isLost)) waiter.reject(historyReplaced())
    }
    this.#advance(at)
    return at
  }

  /** Publishes the engines that were loaded from the tables at `place`, which are the current tables. */
  async #publish(place: SnapshotPlace | null): Promise<void> {
    await this.#host.publish(this.#environmentId)
    this.#place = place
    this.#store.takeOver(place)
  }

  async #followAll(start: Revision, isOver: () => boolean): Promise<void> {
    for (let from = start; ; from = await this.#load()) {
      try {
        return await this.#follow(from, isOver)
      } catch (error) {
        if (isOver() || !isLeftBehind(error)) throw error
      }
    }
  }

  async #follow(after: Revision, isOver: () => boolean): Promise<void> {
    for await (const entry of this.#store.ledger.feed(after)) {
      if (this.#isClosed || isOver()) return
      const applying = this.#host.apply(this.#environmentId, entry.changes, entry.revision, entry)
      this.#applying = applying.catch(() => undefined)
      await applying
      this.#advance(entry.revision)
    }
  }

  #end(reason: unknown): void {
    this.#endReason = reason
    for (const waiter of this.#waiters.splice(0)) waiter.reject(reason)
  }

  #advance(revision: Revision): void {
    this.#visible = revision
    for (const waiter of this.#take(({ revision: wanted }) => this.#isVisible(wanted))) waiter.resolve()
  }

  #isVisible({ epoch, sequence }: Revision): boolean {
    return this.#visible?.epoch === epoch && sequence <= this.#visible.sequence
  }

  /** Removes and returns the waiters for which `isMeant` is true. */
  #take(isMeant: (waiter: RevisionWaiter) => boolean): RevisionWaiter[] {
    const taken = this.#waiters.filter(isMeant)
    this.#waiters = this.#waiters.filter(waiter => !isMeant(waiter))
    return taken
  }
}

/** Whether a feed ended because its log no longer contains the requested position. */
function isLeftBehind(error: unknown): boolean {
  return hasCode(error, 'STORE_RESET') || hasCode(error, 'REVISION_TOO_OLD')
}

function hasCode(error: unknown, code: ErrorCode): boolean {
  return error instanceof AuthzError && error.code === code
}
