/**
 * Which management requests of an HTTP thread may be sent to the thread that writes, and which wait here. Each share (the
 * requests with the key of one environment, or about one) has a place for so many at once, by what they cost:
 *
 *     reads     a few, whose answers are as large as pages may be; their places are theirs until the last byte is out
 *     changes   many, but bodies of so many bytes in all: the thread that writes has to take each one apart in one go
 *
 * What waits here costs nobody anything: it is dropped without a word when its caller leaves. A share that is full has its next
 * requests refused, and is the only one that notices.
 */
import { abandoned } from '#management/commands/resumable.ts'
import { AuthzError } from '#model/errors.ts'

/** More reads at once would only wait in the main thread. */
export const READS_UNDER_WAY_MAX = 8
const CHANGES_UNDER_WAY_MAX = 256
/** Bytes of bodies that one share may have under way. A single larger body may go alone. */
const CHANGE_BYTES_UNDER_WAY_MAX = 4_194_304
/** Bytes of answers of all shares that have not gone out. Above this no read is begun. */
const ANSWER_BYTES_MAX = 268_435_456

/** One request: whose it is, and what it costs. */
export interface Asked {
  /** Requests with the same share compete for the same places. */
  readonly share: string
  readonly isRead: boolean
  /** Bytes of the request's body. */
  readonly bytes: number
}

export interface Place {
  /** Resolves when the request may be sent; rejects with `OVERLOADED` when it was given up before. */
  readonly begun: Promise<void>
  /** The answer has come, and takes memory until it has gone out. */
  answered(bytes: number): void
  /**
   * Frees the place: the caller has left, or the answer has gone out. For a request that was sent, comes after `answered`.
   * Called once.
   */
  leave(): void
}

interface Lane {
  readonly isOfReads: boolean
  readonly waiting: Waiter[]
  underWay: number
  bytes: number
}

interface Waiter {
  readonly bytes: number
  readonly begin: () => void
}

interface Share {
  /** Requests that wait, are under way, or whose answer is on its way out. */
  count: number
  readonly reads: Lane
  readonly changes: Lane
}

export class ManagementAdmission {
  readonly #shareMax: number
  readonly #shares = new Map<string, Share>()
  #answerBytes = 0

  /** `shareMax` is the ceiling for requests of one share that wait or are under way. */
  constructor(shareMax: number) {
    this.#shareMax = shareMax
  }

  /** Throws `RATE_LIMITED` when its share has too many requests. */
  enter({ share: name, isRead, bytes }: Asked): Place {
    const share = this.#shares.get(name) ?? newShare()
    if (share.count >= this.#shareMax) {
      const message = `${this.#shareMax} management requests of this environment are waiting already; try again shortly`
      throw new AuthzError('RATE_LIMITED', message, { limit: 'share' })
    }
    this.#shares.set(name, share)
    share.count += 1
    const lane = isRead ? share.reads : share.changes
    const { promise: begun, resolve, reject } = Promise.withResolvers<void>()
    let isBegun = false
    let answerBytes = 0
    const begin = (): void => {
      isBegun = true
      lane.underWay += 1
      lane.bytes += bytes
      resolve()
    }
    const waiter = { bytes, begin }
    lane.waiting.push(waiter)
    this.#beginNext(lane)
    return {
      begun,
      answered: count => {
        answerBytes = count
        this.#answerBytes += count
      },
      leave: () => {
        share.count -= 1
        if (share.count === 0) this.#shares.delete(name)
        if (!isBegun) {
          lane.waiting.splice(lane.waiting.indexOf(waiter), 1)
          // Nobody may be listening to `begun` when the caller was refused for another reason.
          begun.catch(() => undefined)
          reject(abandoned())
          return
        }
        lane.underWay -= 1
        lane.bytes -= bytes
        this.#giveBack(answerBytes)
        this.#beginNext(lane)
      },
    }
  }

  #giveBack(answerBytes: number): void {
    const wasFull = this.#answerBytes > ANSWER_BYTES_MAX
    this.#answerBytes -= answerBytes
    if (!wasFull) return
    for (const { reads } of this.#shares.values()) this.#beginNext(reads)
  }

  #beginNext(lane: Lane): void {
    while (lane.waiting.length > 0 && this.#hasPlace(lane, lane.waiting[0]!)) lane.waiting.shift()!.begin()
  }

  #hasPlace({ isOfReads, underWay, bytes }: Lane, next: Waiter): boolean {
    if (isOfReads) return underWay < READS_UNDER_WAY_MAX && this.#answerBytes <= ANSWER_BYTES_MAX
    if (underWay === 0) return true
    return underWay < CHANGES_UNDER_WAY_MAX && bytes + next.bytes <= CHANGE_BYTES_UNDER_WAY_MAX
  }
}

function newShare(): Share {
  return { count: 0, reads: newLane(true), changes: newLane(false) }
}

function newLane(isOfReads: boolean): Lane {
  return { isOfReads, waiting: [], underWay: 0, bytes: 0 }
}
