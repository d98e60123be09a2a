/**
 * Clears away behind the answers what removals left (`commands/removal.ts`): one piece after the other, each as large
 * as keeps the thread for some milliseconds.
 *
 * A piece goes on as soon as the view shows the one before it and does not wait for the disk: pieces become durable in
 * their order, and one that a crash took is simply found again, since a purge's own row goes with the last of its rows.
 */
import { pendingDeadIds } from '#management/commands/dead-ids.ts'
import { Draft } from '#management/commands/draft.ts'
import { PieceSize } from '#management/commands/piece-size.ts'
import { purgePiece } from '#management/commands/removal.ts'
import type { Surroundings } from '#management/commands/surroundings.ts'
import { AuthzError, ConflictError } from '#model/errors.ts'
import { COMMIT_ATTEMPTS_MAX, REMOVALS_PENDING_MAX } from '#model/limits.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import type { Commit } from '#store/ledger.ts'
import type { EnvironmentStore } from '#store/store.ts'

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

/** A removal came while too many await their purge, or behind one that waits for that. */
export class RemovalsPendingError extends AuthzError {
  /** Things that it removes. */
  readonly removed: number

  constructor(removed: number, max: number) {
    const message = `${max} removed things of this environment still have dependants to be purged, which is the most; try again shortly`
    super('OVERLOADED', message, { limit: 'removals' })
    this.removed = removed
  }
}

/** The place in line of a removal that waits for room. */
export interface RoomTurn {
  readonly removed: number
  /** Lets those behind it have their turn. Safe to repeat. */
  end(): void
}

export class Purging {
  readonly #options: PurgingOptions
  readonly #size = new PieceSize()
  readonly #pendingMax: number
  #running: Promise<void> | null = null
  #isClosed = false
  /** Removed things of commits that are being made. */
  #held = 0
  /** Removals that wait for room, in order of arrival. */
  readonly #line = new Set<RoomTurn>()
  /** Called when there is more room, when the line moves on, and when no more will be purged. */
  readonly #onRoom = new Set<() => void>()

  constructor(options: PurgingOptions) {
    this.#options = options
    this.#pendingMax = options.pendingMax ?? REMOVALS_PENDING_MAX
  }

  /**
   * Holds a place for so many removed things of a commit that is about to be made; returns what gives it back, once it has been
   * made or has failed. Throws `RemovalsPendingError` when there are too many already, or others wait for room; `turn`: it has
   * waited itself.
   */
  hold(removed: number, turn: RoomTurn | null = null): () => void {
    if (removed === 0) return () => {}
    const isNext = turn !== null || this.#line.size === 0
    if (!isNext || !this.#hasRoomFor(removed)) throw new RemovalsPendingError(removed, this.#pendingMax)
    this.#held += removed
    turn?.end()
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#held -= removed
      // What was committed is to be purged by now, or nobody who waits would find room.
      this.resume()
      this.#tell()
    }
  }

  /**
   * Resolves when so much has been purged that there is room for a removal of so many, in the order of the calls, or when it took
   * too long. Who comes meanwhile waits behind it, or a large removal would never find room beside steady small ones.
   */
  async whenRoomFor(removed: number): Promise<RoomTurn> {
    this.resume()
    const over = Promise.withResolvers<void>()
    const timer = setTimeout(over.resolve, ROOM_MS_MAX)
    const end = (): void => {
      if (this.#line.delete(turn)) this.#tell()
    }
    const turn: RoomTurn = { removed, end }
    this.#line.add(turn)
    const look = (): void => {
      if (this.#isStuck() || this.#isTurnOf(turn)) over.resolve()
    }
    this.#onRoom.add(look)
    look()
    await over.promise
    clearTimeout(timer)
    this.#onRoom.delete(look)
    return turn
  }

  /** Whether what is pending stays so for now: purging was ended, or has met a fault. */
  #isStuck(): boolean {
    return this.#isClosed || (this.#running === null && !this.#isDone())
  }

  /** A removal waits until half of the room is free, not until one more fits: each wait then serves many removals. */
  #isTurnOf(turn: RoomTurn): boolean {
    const [first] = this.#line
    if (first !== turn) return false
    const pending = this.#pending() + this.#held
    return pending === 0 || pending <= Math.min(this.#pendingMax / 2, this.#pendingMax - turn.removed)
  }

  /** A single removal may be as large as a commit can be, if nothing else is pending. */
  #hasRoomFor(removed: number): boolean {
    const pending = this.#pending() + this.#held
    return pending === 0 || pending + removed <= this.#pendingMax
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
        // A purge may have been added after the last look.
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
    this.#tell()
    await this.#running
  }

  async #purge(): Promise<void> {
    let durable: Promise<unknown> = Promise.resolve()
    let conflicts = 0
    // Each turn looks at the list anew: a purge that was added meanwhile would be taken up by nobody else.
    while (!this.#isClosed && !this.#isDone()) {
      try {
        durable = (await this.#purgePiece()).durable
        conflicts = 0
        this.#tell()
      } catch (error) {
        // Another node purges at the same time.
        if (!(error instanceof ConflictError) || ++conflicts === COMMIT_ATTEMPTS_MAX) throw error
      }
      await this.#letOthersGoFirst()
    }
    await durable
    if (!this.#isClosed) await this.#options.onDone()
  }

  #tell(): void {
    for (const look of this.#onRoom) look()
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
