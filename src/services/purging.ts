/**
 * Clears away behind the answers what removals left (`management/removal.ts`): one piece after the other, each as large
 * as keeps the thread for some milliseconds.
 *
 * A piece goes on as soon as the view shows the one before it and does not wait for the disk: pieces become durable in
 * their order, and one that a crash took is simply found again, since a purge's own row goes with the last of its rows.
 */
import { ConflictError } from '#model/errors.ts'
import { COMMIT_ATTEMPTS_MAX } from '#model/limits.ts'
import { lists } from '#store/keyspace.ts'
import type { Commit } from '#store/ledger.ts'
import type { EnvironmentStore } from '#store/store.ts'
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
}

export class Purging {
  readonly #options: PurgingOptions
  readonly #size = new PieceSize()
  #running: Promise<void> | null = null
  #isClosed = false

  constructor(options: PurgingOptions) {
    this.#options = options
  }

  /** Starts purging what earlier removals left, unless that is going on. */
  resume(): void {
    if (this.#isClosed || this.#running || this.#isDone()) return
    this.#running = this.#purge().then(
      () => {
        this.#running = null
        // One that was added behind the last look.
        this.resume()
      },
      (error: unknown) => {
        this.#running = null
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
      } catch (error) {
        // Another node purges, too.
        if (!(error instanceof ConflictError) || ++conflicts === COMMIT_ATTEMPTS_MAX) throw error
      }
      await this.#letOthersGoFirst()
    }
    await durable
    if (!this.#isClosed) await this.#options.onDone()
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
