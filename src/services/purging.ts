/**
 * Clears away behind the answers what removals left (`management/removal.ts`): one piece after the other, each as large
 * as keeps the thread for some milliseconds.
 *
 * A piece goes on as soon as the view shows the one before it and does not wait for the disk: pieces become durable in
 * their order, and one that a crash took is simply found again, since a purge's own row goes with the last of its rows.
 */
import { AuthzError, ConflictError } from '#model/errors.ts'
import { COMMIT_ATTEMPTS_MAX, REMOVALS_PENDING_MAX } from '#model/limits.ts'
import { lists } from '#store/keyspace.ts'
import type { Commit } from '#store/ledger.ts'
import type { EnvironmentStore } from '#store/store.ts'
import { pendingDeadIds } from './management/dead-ids.ts'
import { Draft } from './management/draft.ts'
import { PieceSize } from './management/piece-size.ts'
import { purgePiece } from './management/removal.ts'
import type { Surroundings } from './surroundings.ts'

export interface PurgingOptions {
  readonly store: EnvironmentStore
  readonly surroundings: Pick<Surroundings, 'newCommitId' | 'onBackgroundFault' | 'elapsedMs'>
  /** Resolves when the commands that have lost a race by now are done. */
  readonly whenLosersAreDone: () => Promise<unknown>
  /** Called each time everything has been purged. */
  readonly onDone: () => Promise<unknown>
  /** Removed things that may await their purge when more are to be removed; absent: as many as ever may. */
  readonly pendingMax?: number
}

/** How long a removal waits for those before it to be purged. */
const ROOM_MS_MAX = 5_000

/** A removal came while too many await their purge. */
export class RemovalsPendingError extends AuthzError {
  constructor(max: number) {
    const message = `${max} removed things of this environment still have dependants to be purged, which is the most; try again shortly`
    super('OVERLOADED', message, { limit: 'removals' })
  }
}

export class Purging {
  readonly #options: PurgingOptions
  readonly #size = new PieceSize()
  readonly #pendingMax: number
  #running: Promise<void> | null = null
  #isClosed = false
  /** Of commits that are being made. */
  #held = 0
  /** Called when a piece is purged, and when no more will be. */
  readonly #onPiece = new Set<() => void>()

  constructor(options: PurgingOptions) {
    this.#options = options
    this.#pendingMax = options.pendingMax ?? REMOVALS_PENDING_MAX
  }

  /**
   * Holds a place for so many removed things of a commit that is about to be made; returns what gives it back, once it has been
   * made or has failed. Throws `RemovalsPendingError` when there are too many already.
   */
  hold(removed: number): () => void {
    if (!this.#hasRoomFor(removed)) throw new RemovalsPendingError(this.#pendingMax)
    this.#held += removed
    let isHeld = true
    return () => {
      if (isHeld) this.#held -= removed
      isHeld = false
    }
  }

  /** Resolves when something has been purged and there may be room for a removal again, or when it took too long. */
  async whenSmaller(): Promise<void> {
    this.resume()
    const over = Promise.withResolvers<void>()
    const timer = setTimeout(over.resolve, ROOM_MS_MAX)
    const look = (): void => {
      if (this.#running === null || this.#pending() + this.#held <= this.#pendingMax / 2) over.resolve()
    }
    this.#onPiece.add(look)
    look()
    await over.promise
    clearTimeout(timer)
    this.#onPiece.delete(look)
  }

  /** What is removed alone may be as much as fits into a commit. */
  #hasRoomFor(removed: number): boolean {
    const pending = this.#pending() + this.#held
    return removed === 0 || pending === 0 || pending + removed <= this.#pendingMax
  }

  #pending(): number {
    return pendingDeadIds(this.#options.store.view).size
  }

  /** Starts purging what earlier removals left, unless that is going on. */
  resume(): void {
    if (this.#isClosed || this.#running || this.#isDone()) return
    this.#running = this.#purge().then(
      () => {
        this.#running = null
        // One that was added behind the last look.
        this.resume()
        this.#tell()
      },
      (error: unknown) => {
        this.#running = null
        this.#tell()
        this.#options.surroundings.onBackgroundFault(error)
      },
    )
  }

  /** Lets the piece that is under way finish and starts no other; the rest is done after the next start. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#running
  }

  async #purge(): Promise<void> {
    let durable: Promise<unknown> = Promise.resolve()
    let conflicts = 0
    // Looked at anew each time: others may have been added meanwhile, and nobody else would take them up.
    while (!this.#isClosed && !this.#isDone()) {
      try {
        durable = (await this.#purgePiece()).durable
        conflicts = 0
        this.#tell()
      } catch (error) {
        // Another node purges, too.
        if (!(error instanceof ConflictError) || ++conflicts === COMMIT_ATTEMPTS_MAX) throw error
      }
      await this.#letOthersGoFirst()
    }
    await durable
    if (!this.#isClosed) await this.#options.onDone()
  }

  #tell(): void {
    for (const look of this.#onPiece) look()
  }

  /**
   * A ledger may answer without a turn of the event loop, and then one piece after the other would keep the thread. And
   * a command that meets rows which are being purged would lose to piece after piece; those that lost so far go first.
   */
  async #letOthersGoFirst(): Promise<void> {
    await new Promise(resolve => setImmediate(resolve))
    await this.#options.whenLosersAreDone()
  }

  /** Resolves when the view shows the piece. */
  async #purgePiece(): Promise<{ readonly durable: Promise<unknown> }> {
    const { store, surroundings } = this.#options
    const from = surroundings.elapsedMs()
    const draft = new Draft(store.view)
    const rows = purgePiece(draft, this.#size.rows)
    const commit = draft.toCommit(surroundings.newCommitId())
    const draftedMs = surroundings.elapsedMs() - from
    const { writtenMs, durable } = await this.#apply(commit)
    this.#size.learn(rows, Math.max(draftedMs, writtenMs))
    return { durable }
  }

  #apply(commit: Commit): Promise<{ readonly writtenMs: number; readonly durable: Promise<unknown> }> {
    return new Promise((resolve, reject) => {
      const durable: Promise<unknown> = this.#options.store.ledger.commit(commit, writtenMs => {
        resolve({ writtenMs, durable })
      })
      // A ledger may know of no state between applied and durable.
      durable.then(() => resolve({ writtenMs: 0, durable }), reject)
    })
  }

  #isDone(): boolean {
    return this.#options.store.view.count(lists.all('purge')) === 0
  }
}
