/**
 * Schedules the bulks and single queries of environments with rules that are in progress in this thread. It
 * runs one slice, lets other events of the thread run, and then runs a slice of another environment. An
 * environment with expensive queries therefore does not determine how long other environments wait.
 */
import { FairQueue } from '#model/fair-queue.ts'
import type { WaitingClient } from './decision-pool.ts'
import type { Deciding } from './ruled-bulk.ts'
import { nobodyWaits, SLICE_MS, tooManyReads } from './sliced-reads.ts'

/** Questions that are being decided. */
export interface RuledRead {
  readonly work: Deciding
  readonly waiting: WaitingClient
  /** Throws the same errors as a decision. Called before every slice and before the result is returned. */
  readonly check: () => void
}

interface Bulk {
  readonly environmentId: string
  readonly read: RuledRead
  readonly resolve: (verdicts: Uint8Array) => void
  readonly reject: (error: unknown) => void
}

export class RuledBulks {
  readonly #bulksMax: number
  readonly #waiting = new FairQueue<Bulk>()
  readonly #countOf = new Map<string, number>()
  #count = 0
  #isRunning = false

  /** `bulksMax`: maximum number of bulks in progress. One environment can use half of them. */
  constructor(bulksMax: number) {
    this.#bulksMax = bulksMax
  }

  hasWaiting(environmentId: string): boolean {
    return this.#isRunning && this.#waiting.hasWaiting(environmentId)
  }

  /**
   * Enqueues a single query. Each connection has at most one, so their number is not limited. Rejects if the
   * client disconnects.
   */
  line(environmentId: string, read: RuledRead): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      this.#push({ environmentId, read, resolve, reject })
    })
  }

  #push(bulk: Bulk): void {
    this.#waiting.push(bulk.environmentId, bulk)
    if (!this.#isRunning) void this.#drive()
  }

  /** Rejects with `OVERLOADED` if too many bulks are in progress, or if the client disconnects. */
  async run(environmentId: string, read: RuledRead): Promise<Uint8Array> {
    const own = this.#countOf.get(environmentId) ?? 0
    if (this.#count >= this.#bulksMax || own >= Math.ceil(this.#bulksMax / 2)) throw tooManyReads()
    this.#count += 1
    this.#countOf.set(environmentId, own + 1)
    try {
      return await this.line(environmentId, read)
    } finally {
      this.#count -= 1
      const left = this.#countOf.get(environmentId)! - 1
      if (left === 0) this.#countOf.delete(environmentId)
      else this.#countOf.set(environmentId, left)
    }
  }

  async #drive(): Promise<void> {
    this.#isRunning = true
    for (;;) {
      await new Promise(resolve => setImmediate(resolve))
      if (this.#waiting.isEmpty) break
      // Single queries are short: one slice runs several of them.
      const until = performance.now() + SLICE_MS
      do this.#takeTurn(this.#waiting.take(() => true)!)
      while (!this.#waiting.isEmpty && performance.now() < until)
    }
    this.#isRunning = false
  }

  /**
   * An unfinished bulk returns to the end of the queue of its environment. If another thread decides one of
   * its queries, it returns after that decision.
   */
  #takeTurn(bulk: Bulk): void {
    try {
      const step = takeSlice(bulk.read)
      if (step.done) bulk.resolve(step.value)
      else if (step.value instanceof Promise) step.value.then(() => this.#push(bulk), bulk.reject)
      else this.#push(bulk)
    } catch (error) {
      bulk.reject(error)
    }
  }
}

/** Continues for one slice, or until a promise has to be settled. Throws the errors that end the work. */
function takeSlice({ work, waiting, check }: RuledRead): ReturnType<Deciding['next']> {
  if (waiting.isGone) throw nobodyWaits()
  check()
  const until = performance.now() + SLICE_MS
  for (;;) {
    const step = work.next()
    if (step.done) check()
    if (step.done || step.value instanceof Promise || performance.now() >= until) return step
  }
}
