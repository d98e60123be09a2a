/**
 * The bulks, and single questions, of environments with rules that are under way in this thread: a slice of one, whatever else has
 * come, then a slice of another environment's. An environment says what its questions cost, so it does not say how long others wait.
 */
import { FairQueue } from '#model/fair-queue.ts'
import { SLICE_MS, type SlicedRead, takeSlice, tooManyReads } from './sliced-reads.ts'

interface Bulk {
  readonly environmentId: string
  readonly read: SlicedRead<Uint8Array>
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
  line(environmentId: string, read: SlicedRead<Uint8Array>): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(environmentId, { environmentId, read, resolve, reject })
      if (!this.#isRunning) void this.#drive()
    })
  }

  /** Rejects with `OVERLOADED` when too many are under way, and when nobody waits for this one any more. */
  async run(environmentId: string, read: SlicedRead<Uint8Array>): Promise<Uint8Array> {
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

  /** A bulk that is not done goes to the end of its environment's line. */
  #takeTurn(bulk: Bulk): void {
    try {
      const step = takeSlice(bulk.read)
      if (step.done) bulk.resolve(step.value)
      else this.#waiting.push(bulk.environmentId, bulk)
    } catch (error) {
      bulk.reject(error)
    }
  }
}
