/**
 * Removes behind the decisions what has ended (`facts/expiry.ts`): some grants a commit, in the order in which they ended. While the store
 * takes no commits it tries again and again; nobody is allowed anything by them meanwhile. After a start those are found by list whose
 * removal was not made before: an index that was kept has them no more.
 *
 * Other nodes do the same. A node whose clock is fast would end grants for those whose clock is right, so each waits a moment first.
 */
import {
  type EndedFact,
  EXPIRED_PER_COMMIT,
  type ListedPlace,
  NAMES_BYTES_MAX,
} from '#management/facts/expiry.ts'
import { isForLater } from '#management/commands/later.ts'
import type { Change } from '#model/change.ts'
import { jsonBytes } from '#model/json-text.ts'

/** Ended grants that are known by name; what comes beyond is found by the lists of what ends. */
const PENDING_MAX = 100_000
/** How often the removal of one grant fails before it is left for the next start: it may be a row that cannot be read. */
const FAILURES_MAX = 3
const FIRST_PAUSE_MS = 500
const PAUSE_MS_MAX = 30_000

export interface EndedGrantsOptions {
  /** How long after its end a grant is removed. */
  readonly holdMs: number
  /** Makes the commit that removes them. */
  readonly remove: (ended: readonly EndedFact[]) => Promise<unknown>
  /** The same for some of those that the lists have behind that place; resolves to where to go on, null at their end. */
  readonly removeListed: (from: ListedPlace | null) => Promise<ListedPlace | null>
  readonly onFault: (error: unknown) => void
  /** How long it waits behind the first failure; for tests. */
  readonly firstPauseMs?: number
}

interface Waiting extends EndedFact {
  /** By `performance.now()`. */
  readonly dueAt: number
}

/** A look through the lists. */
interface Look {
  readonly from: ListedPlace | null
  readonly dueAt: number
}

export class EndedGrants {
  readonly #options: EndedGrantsOptions
  #waiting: Waiting[] = []
  /** Of `#waiting`, how many are done. */
  #done = 0
  #look: Look | null = null
  /** Grants of the next commit: one, behind a failure, so that one that always fails keeps none of the others. */
  #batchMax = EXPIRED_PER_COMMIT
  #failures = 0
  #isRunning = false
  #isClosed = false
  #running: Promise<void> = Promise.resolve()
  #endPause: () => void = () => {}

  constructor(options: EndedGrantsOptions) {
    this.#options = options
  }

  add(removals: readonly Change[], sequence: number): void {
    const dueAt = this.#heldUntil()
    const room = PENDING_MAX - (this.#waiting.length - this.#done)
    for (const removal of removals.slice(0, room)) this.#waiting.push({ removal, sequence, dueAt })
    if (removals.length > room) this.#look = { from: null, dueAt }
    this.#resume()
  }

  /** Finds all by list that have ended by now. O(facts that end). */
  lookThroughLists(): void {
    this.#look = { from: null, dueAt: this.#heldUntil() }
    this.#resume()
  }

  /** Lets the commit that is under way finish and makes no other. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#endPause()
    await this.#running
  }

  #heldUntil(): number {
    return performance.now() + this.#options.holdMs
  }

  /** Goes on, unless it does already. */
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
        if (!isForLater(error)) this.#failed(error)
        await this.#pause(pauseMs)
        pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)
      }
    }
    // In the same turn, so that what is added from now on begins anew.
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

  async #removeListed(look: Look): Promise<void> {
    const from = await this.#options.removeListed(look.from)
    // Not if another look is to begin meanwhile.
    if (this.#look === look) this.#look = from && { ...look, from }
  }

  /** Those that are due together with the first. */
  #nextBatch(): Waiting[] {
    const batch: Waiting[] = []
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
