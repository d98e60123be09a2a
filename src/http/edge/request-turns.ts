/**
 * Order in which a thread answers requests that have arrived whole. The library hands on everything that has arrived since the last
 * iteration of the event loop, one request after the other: all requests that connections have pipelined, and all bodies that were
 * completed. Two limits keep one share, as a rule an environment, from occupying a whole iteration:
 *
 * - A share has `COST_A_TURN` of each iteration. Its further requests wait, and are answered in later iterations, round-robin over the shares. The
 *   library ends a connection that has pipelined another request behind a waiting one.
 * - Large bodies are read one in each iteration, round-robin over the shares. Reading one takes a millisecond, tens of them where it has to be parsed
 *   (`npm run bench -- behind-bulks`).
 */
import { FairQueue } from '#model/fair-queue.ts'

/**
 * Bodies of at least this size are large: 2,300 usual checks, which take a quarter of a millisecond to be read and five to be parsed. A
 * waiting request must be the last on its connection, and bulks of fewer than 2,000, which may be pipelined, are
 * nearly all smaller.
 */
export const LARGE_BODY_BYTES_MIN = 256 * 1_024

/**
 * Cost of the requests of one share in an iteration, less than a tenth of a second. It is that of a hundred connections that pipeline a
 * hundred decisions each: the library hands these on together, and clients that pipeline no more must not lose connections. A request
 * costs 1, and 1 more for each 512 bytes of its body.
 */
export const COST_A_TURN = 10_240
const BYTES_A_COST_LOG2 = 9
/**
 * Cost of the requests that are not counted by share, about eight milliseconds. A count needs another iteration of the event loop, which would
 * cost pipelined requests a tenth. After this cost one iteration is counted, so a share has at most the sum of both limits in an iteration.
 */
const UNCOUNTED_COST = 1_024

/** When a request that has come whole is answered. */
export interface Turns {
  /** Whether a request with a body of so many bytes may be answered now. */
  begin(bytes: number, share: string): boolean
  /** Calls `answer` now or in a later turn. */
  take(bytes: number, share: string, answer: () => void): void
}

interface Waiting {
  readonly bytes: number
  readonly share: string
  readonly answer: () => void
}

/** Part of a turn that a share has had. */
interface Had {
  cost: number
}

export class RequestTurns implements Turns {
  readonly #large = new FairQueue<Waiting>()
  readonly #waiting = new FairQueue<Waiting>()
  #isLargeTaken = false
  #uncounted = 0
  #isCounting = false
  /** By share, since the turn began. */
  readonly #had = new Map<string, Had>()
  /** The share of the last request, which the next one often has as well. */
  #lastShare: string | null = null
  #last: Had = { cost: 0 }
  readonly #mayHaveTurn = (share: string): boolean => (this.#had.get(share)?.cost ?? 0) < COST_A_TURN

  /** A request that may be answered now takes its part of this turn. */
  begin(bytes: number, share: string): boolean {
    if (bytes >= LARGE_BODY_BYTES_MIN) return this.#beginLarge()
    if (!this.#isCounting) {
      if (this.#uncounted < UNCOUNTED_COST) {
        this.#uncounted += costOf(bytes)
        return true
      }
      this.#count()
    }
    const had = this.#hadBy(share)
    // The requests of a share are answered in the order in which they came.
    if (had.cost >= COST_A_TURN || (!this.#waiting.isEmpty && this.#waiting.hasWaiting(share))) return false
    had.cost += costOf(bytes)
    return true
  }

  take(bytes: number, share: string, answer: () => void): void {
    if (this.begin(bytes, share)) answer()
    else (bytes >= LARGE_BODY_BYTES_MIN ? this.#large : this.#waiting).push(share, { bytes, share, answer })
  }

  #hadBy(share: string): Had {
    if (share === this.#lastShare) return this.#last
    let had = this.#had.get(share)
    if (had === undefined) this.#had.set(share, (had = { cost: 0 }))
    this.#lastShare = share
    this.#last = had
    return had
  }

  #beginLarge(): boolean {
    if (this.#isLargeTaken) return false
    this.#isLargeTaken = true
    // The first `setImmediate` runs before the loop looks at the sockets again, the second after that.
    setImmediate(() => setImmediate(() => this.#endLarge()))
    return true
  }

  #endLarge(): void {
    this.#isLargeTaken = false
    const next = this.#large.take(() => true)
    if (next !== null) this.take(next.bytes, next.share, next.answer)
  }

  #count(): void {
    this.#isCounting = true
    setImmediate(() => this.#endTurn())
  }

  /** Answers what waits, as far as the shares go, before the loop looks at the sockets again. */
  #endTurn(): void {
    this.#had.clear()
    this.#lastShare = null
    for (;;) {
      const next = this.#waiting.take(this.#mayHaveTurn)
      if (next === null) break
      this.#hadBy(next.share).cost += costOf(next.bytes)
      next.answer()
    }
    this.#uncounted = 0
    this.#isCounting = false
    // These answers count towards the iteration that follows. Requests that still wait are of a share that has had its part.
    if (this.#had.size > 0) this.#count()
  }
}

function costOf(bytes: number): number {
  return 1 + (bytes >>> BYTES_A_COST_LOG2)
}
