/**
 * Deletes the rows of expired grants in the background (`facts/expiry.ts`): in batches, one commit each, in
 * the order of expiration. While the store accepts no commits, it retries; the index already ignores these
 * grants. After a start, it scans the lists for expired grants that an earlier run did not delete, because an
 * index snapshot no longer has them.
 *
 * Other nodes do the same. A node with a fast clock would end grants too early for nodes with a correct
 * clock, so each node waits before it deletes a grant.
 */
import {
  type ExpiredFact,
  EXPIRED_PER_COMMIT,
  type ListedPlace,
  NAMES_BYTES_MAX,
} from '#management/facts/expiry.ts'
import { isRetryable } from '#management/drafts/retryable-errors.ts'
import type { Change } from '#model/change.ts'
import { jsonBytes } from '#model/text/json-text.ts'

/** Maximum number of expired grants in memory; further ones are found by scanning the lists. */
const PENDING_MAX = 100_000
/** Failures after which a grant is left for the next start, because its row may be unreadable. */
const FAILURES_MAX = 3
/**
 * How long a node waits before it removes expired grants from the shared store, because the clocks of nodes
 * differ. A random part spreads the attempts of the nodes.
 */
const SHARED_HOLD_MS = 2_000
/**
 * How long a node waits before it removes expired grants from its own store. If thousands of grants expire
 * within a second, they leave the index first; commits would delay that.
 */
const OWN_HOLD_MS = 500
const FIRST_PAUSE_MS = 500
const PAUSE_MS_MAX = 30_000

export function removalHoldMs(isShared: boolean): number {
  return isShared ? SHARED_HOLD_MS * (1 + Math.random() / 2) : OWN_HOLD_MS
}

export interface ExpiryRemovalOptions {
  /** Delay between the expiration of a grant and its deletion. */
  readonly holdMs: number
  /** Makes the commit that deletes the grants. */
  readonly remove: (expired: readonly ExpiredFact[]) => Promise<unknown>
  /**
   * Deletes a batch of the expired grants that the lists have after that place. Resolves to the place at
   * which to continue, or to null at the end of the lists.
   */
  readonly removeListed: (from: ListedPlace | null) => Promise<ListedPlace | null>
  readonly onFault: (error: unknown) => void
  /** Delay after the first failure; for tests. */
  readonly firstPauseMs?: number
}

interface PendingExpiry extends ExpiredFact {
  /** When the grant is due for deletion, as a time of `performance.now()`. */
  readonly dueAt: number
}

/** A scan of the lists. */
interface ListScan {
  readonly from: ListedPlace | null
  readonly dueAt: number
}

export class ExpiryRemoval {
  readonly #options: ExpiryRemovalOptions
  #waiting: PendingExpiry[] = []
  /** Number of finished elements at the beginning of `#waiting`. */
  #done = 0
  #look: ListScan | null = null
  /**
   * Maximum number of grants in the next commit. It is 1 after a failure, so that a grant that always fails
   * does not block the others.
   */
  #batchMax = EXPIRED_PER_COMMIT
  #failures = 0
  #isRunning = false
  #isClosed = false
  #running: Promise<void> = Promise.resolve()
  #endPause: () => void = () => {}

  constructor(options: ExpiryRemovalOptions) {
    this.#options = options
  }

  add(removals: readonly Change[], sequence: number): void {
    const dueAt = this.#heldUntil()
    const capacity = PENDING_MAX - (this.#waiting.length - this.#done)
    for (const removal of removals.slice(0, capacity)) this.#waiting.push({ removal, sequence, dueAt })
    if (removals.length > capacity) this.#look = { from: null, dueAt }
    this.#resume()
  }

  /** Starts a scan of the lists for all grants that have expired. O(expiring facts). */
  lookThroughLists(): void {
    this.#look = { from: null, dueAt: this.#heldUntil() }
    this.#resume()
  }

  /** Waits for the current commit and starts no further one. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#endPause()
    await this.#running
  }

  #heldUntil(): number {
    return performance.now() + this.#options.holdMs
  }

  /** Starts the background work unless it is running. */
  #resume(): void {
    if (this.#isRunning || this.#isClosed) return
    this.#isRunning = true
    this.#running = this.#run()
  }

  async #run(): Promise<void> {
    const { firstPauseMs = FIRST_PAUSE_MS } = this.#options
    let pauseMs = firstPauseMs
    while (!this.#isClosed && (this.#done < this.#waiting.length || this.#look)) {
      try {
        await this.#removeSome()
        pauseMs = firstPauseMs
        this.#failures = 0
        this.#batchMax = Math.min(2 * this.#batchMax, EXPIRED_PER_COMMIT)
      } catch (error) {
        if (this.#isClosed) break
        if (!isRetryable(error)) this.#failed(error)
        await this.#pause(pauseMs)
        pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)
      }
    }
    // This is set in the same event-loop iteration as the last check, so that later additions start the work
    // again.
    this.#isRunning = false
  }

  #failed(error: unknown): void {
    this.#options.onFault(error)
    const isAlone = this.#batchMax === 1 || this.#done === this.#waiting.length
    this.#batchMax = 1
    if (!isAlone || ++this.#failures < FAILURES_MAX) return
    this.#failures = 0
    if (this.#done < this.#waiting.length) this.#done += 1
    else this.#look = null
  }

  async #removeSome(): Promise<void> {
    const batch = this.#nextBatch()
    const [first] = batch
    const look = this.#look
    const leftMs = (first ?? look)!.dueAt - performance.now()
    if (leftMs > 0) return this.#pause(leftMs)
    if (!first) return this.#removeListed(look!)
    await this.#options.remove(batch)
    this.#done += batch.length
    if (this.#done < this.#waiting.length / 2) return
    this.#waiting = this.#waiting.slice(this.#done)
    this.#done = 0
  }

  async #removeListed(look: ListScan): Promise<void> {
    const from = await this.#options.removeListed(look.from)
    // If another scan was requested in the meantime, its position must not be overwritten.
    if (this.#look === look) this.#look = from && { ...look, from }
  }

  /** The next grants that are due, up to the limits of a commit. */
  #nextBatch(): PendingExpiry[] {
    const batch: PendingExpiry[] = []
    let bytes = 0
    for (let at = this.#done; at < this.#waiting.length && batch.length < this.#batchMax; at++) {
      const next = this.#waiting[at]!
      bytes += jsonBytes(next.removal, NAMES_BYTES_MAX)
      const isTooMuch = bytes > NAMES_BYTES_MAX || next.dueAt > performance.now()
      if (batch.length > 0 && isTooMuch) break
      batch.push(next)
    }
    return batch
  }

  async #pause(ms: number): Promise<void> {
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, ms)
      timer.unref()
      this.#endPause = (): void => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
