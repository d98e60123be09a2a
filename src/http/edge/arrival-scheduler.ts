/**
 * Order in which a thread processes requests that have arrived completely. In each iteration of the event
 * loop, the HTTP library passes on everything that has arrived since the last iteration: all pipelined
 * requests, and all bodies that were completed. A share is a group of requests with a common quota, usually
 * those of one environment. Two limits prevent one share from occupying a whole iteration:
 *
 * - In each iteration, a share can use `COST_PER_ITERATION`. Further requests of this share wait for later
 *   iterations, in which the shares are served round-robin. If a client pipelines another request after a
 *   waiting one, the library closes the connection.
 * - One large body is read per iteration, round-robin over the shares. Reading takes about a millisecond, or
 *   tens of milliseconds if the body must be parsed (`npm run bench -- after-bulks`).
 */
import { FairQueue } from '#scheduling/fair-queue.ts'

/**
 * Minimum size of a large body, in bytes. A body of this size contains about 2,300 typical checks. It takes
 * 0.25 ms to read directly, or 5 ms to parse. Large bodies can wait for a later iteration, and a client must
 * not pipeline another request after a waiting one. The value is chosen so that nearly all bulks of fewer
 * than 2,000 checks, which clients might pipeline, are not large.
 */
export const LARGE_BODY_BYTES_MIN = 256 * 1_024

/**
 * Maximum cost of the requests of one share per iteration. A request costs 1, plus 1 for each 512 bytes of
 * its body. The maximum takes less than 0.1 s. It is sufficient for one hundred connections that pipeline one
 * hundred decisions each. The HTTP library passes on such requests together, and clients that pipeline no
 * more than this must not lose their connections.
 */
export const COST_PER_ITERATION = 10_240
const BYTES_PER_COST_LOG2 = 9
/**
 * Maximum cost of requests that are processed without counting them per share, about 8 ms. Counting requires
 * another iteration of the event loop, which would slow down pipelined requests by 10%. After this cost, the
 * requests of one iteration are counted. A share can therefore use at most the sum of both limits in one
 * iteration.
 */
const UNCOUNTED_COST = 1_024

/** Determines when a request that has arrived completely is processed. */
export interface ArrivalScheduler {
  /** Whether a request of `share` with a body of this many bytes can be processed immediately. */
  begin(bytes: number, share: string): boolean
  /** Calls `answer` immediately or in a later iteration. */
  take(bytes: number, share: string, answer: () => void): void
}

interface WaitingRequest {
  readonly bytes: number
  readonly share: string
  readonly answer: () => void
}

/** Cost that one share has used in the current iteration. */
interface Had {
  cost: number
}

export class FairArrivalScheduler implements ArrivalScheduler {
  readonly #large = new FairQueue<WaitingRequest>()
  readonly #waiting = new FairQueue<WaitingRequest>()
  #isLargeTaken = false
  #uncounted = 0
  #isCounting = false
  /** Used cost of each share since the iteration began. */
  readonly #had = new Map<string, Had>()
  /** Share of the last request, cached because the next request often has the same share. */
  #lastShare: string | null = null
  #last: Had = { cost: 0 }
  readonly #hasQuota = (share: string): boolean => (this.#had.get(share)?.cost ?? 0) < COST_PER_ITERATION

  /** Checks whether a request can be processed immediately. If so, adds its cost to the iteration. */
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
    // The requests of one share are processed in the order of their arrival. A request must therefore wait if
    // earlier requests of its share wait.
    if (had.cost >= COST_PER_ITERATION || (!this.#waiting.isEmpty && this.#waiting.hasWaiting(share)))
      return false
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
    // Two callbacks are needed to wait until the sockets were polled. The first `setImmediate` callback runs
    // before the event loop polls the sockets again, and the second one runs after that.
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
    setImmediate(() => this.#endIteration())
  }

  /**
   * Processes waiting requests within the limits of their shares, before the event loop polls the sockets
   * again.
   */
  #endIteration(): void {
    this.#had.clear()
    this.#lastShare = null
    for (;;) {
      const next = this.#waiting.take(this.#hasQuota)
      if (next === null) break
      this.#hadBy(next.share).cost += costOf(next.bytes)
      next.answer()
    }
    this.#uncounted = 0
    this.#isCounting = false
    // The requests that were just processed count towards the next iteration. All requests that still wait
    // belong to shares that have reached their limit.
    if (this.#had.size > 0) this.#count()
  }
}

function costOf(bytes: number): number {
  return 1 + (bytes >>> BYTES_PER_COST_LOG2)
}
