/**
 * The bulks, and single questions, of environments with rules that are under way in this thread: a slice of one, whatever else has
 * come, then a slice of another environment's. An environment says what its questions cost, so it does not say how long others wait.
 */
import { FairQueue } from '#model/fair-queue.ts'
import type { Waiting } from './decision-pool.ts'
import type { Deciding } from './ruled-bulk.ts'
import { nobodyWaits, SLICE_MS, tooManyReads } from './sliced-reads.ts'

/** Questions that are being decided. */
export interface RuledRead {
  readonly work: Deciding
  readonly waiting: Waiting
  /** Throws what a decision would: asked before every slice, and before it is answered. */
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

  /** `bulksMax`: those under way at once; one environment has at most half of them. */
  constructor(bulksMax: number) {
    this.#bulksMax = bulksMax
  }

  hasWaiting(environmentId: string): boolean {
    return this.#isRunning && this.#waiting.hasWaiting(environmentId)
  }

  /** Of one question, of which each connection has one: as many as come wait. Rejects where nobody waits for it any more. */
  line(environmentId: string, read: RuledRead): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      this.#push({ environmentId, read, resolve, reject })
    })
  }

  #push(bulk: Bulk): void {
    this.#waiting.push(bulk.environmentId, bulk)
    if (!this.#isRunning) void this.#drive()
  }

  /** Rejects with `OVERLOADED` when too many are under way, and when nobody waits for this one any more. */
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
      // Single questions are short: several of them are one slice.
      const until = performance.now() + SLICE_MS
      do this.#takeTurn(this.#waiting.take(() => true)!)
      while (!this.#waiting.isEmpty && performance.now() < until)
    }
    this.#isRunning = false
  }

  /** A bulk that is not done goes to the end of its environment's line, when the question that another thread decides is decided. */
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

/** Continues for one slice, at most until a promise has to be settled. Throws what ends the work. */
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
