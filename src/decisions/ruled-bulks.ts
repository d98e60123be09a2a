/**
 * Schedules the bulks and single queries of environments with rules in this thread. It runs one slice of an
 * environment, lets other events of the thread run, and then runs a slice of another environment. If the
 * queries of an environment are expensive, other environments therefore do not wait longer.
 */
import { FairQueue } from '#scheduling/fair-queue.ts'
import type { WaitingClient } from '#model/caller.ts'
import type { Deciding } from '#decisions/rules/ruled-bulk.ts'
import { nobodyWaits, SLICE_MS, tooManyReads } from '#scheduling/sliced-reads.ts'

/** Queries that are being decided. */
export interface RuledRead {
  readonly work: Deciding
  readonly waiting: WaitingClient
  /**
   * Throws the errors that a decision would throw now. Called before each slice, and again before the result
   * is returned.
   */
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

  /** `bulksMax` is the maximum number of bulks in progress. A single environment can use half of them. */
  constructor(bulksMax: number) {
    this.#bulksMax = bulksMax
  }

  hasWaiting(environmentId: string): boolean {
    return this.#isRunning && this.#waiting.hasWaiting(environmentId)
  }

  /**
   * Adds a single query to the queue. The number of single queries is not limited, because each connection
   * has at most one. Rejects if the client disconnects.
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

  /**
   * Runs a bulk. Rejects with `OVERLOADED` if too many bulks are in progress or if the client disconnects.
   */
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
      // Single queries are short, so several of them share a slice.
      const until = performance.now() + SLICE_MS
      do this.#takeTurn(this.#waiting.take(() => true)!)
      while (!this.#waiting.isEmpty && performance.now() < until)
    }
    this.#isRunning = false
  }

  /**
   * Runs one slice of a bulk. If the bulk is not complete, it returns to the end of the queue of its
   * environment. If it waits for a decision of another thread, it returns after that decision.
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

/**
 * Continues the work for one slice, or until it has to wait for a promise. Throws the errors that end the
 * work.
 */
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
