/**
 * Controls which management requests of an HTTP thread are sent to the writer thread and which wait in this
 * thread. Each share (the requests with the key of one environment, or about one environment) has a limit of
 * concurrency slots for each kind of request:
 *
 * - Reads have few slots, because responses can have the maximum page size. A slot is held until the last
 *   byte is sent.
 * - Changes have many slots, but a limit for the total bytes of bodies, because the writer thread parses each
 *   body without interruption.
 *
 * Queued requests use no time of the writer thread. If the client disconnects, its request is dropped. If a
 * share is full, its next requests are rejected; other shares are not affected.
 */
import { abandoned } from '#scheduling/admission.ts'
import { AuthzError } from '#model/errors.ts'

/** More concurrent reads would only wait in the main thread. */
export const READS_UNDER_WAY_MAX = 8
const CHANGES_UNDER_WAY_MAX = 256
/** Bytes of the bodies that one share can have in flight. A single larger body can be sent alone. */
const CHANGE_BYTES_UNDER_WAY_MAX = 4_194_304
/** Bytes of unsent responses of all shares. No read starts above this limit. */
const ANSWER_BYTES_MAX = 268_435_456

/** A request: its share and its cost. */
export interface AdmissionRequest {
  /** Requests of the same share compete for the same slots. */
  readonly share: string
  readonly isRead: boolean
  /** Bytes of the request body. */
  readonly bytes: number
}

export interface RequestSlot {
  /** Resolves when the request can be sent; rejects with `OVERLOADED` if `leave` was called before. */
  readonly begun: Promise<void>
  /** The response has arrived. It uses memory until it is sent. */
  answered(bytes: number): void
  /**
   * Releases the slot because the client disconnected or the response was sent. For a request that was sent
   * to the writer thread, it must follow `answered`. Must be called once.
   */
  leave(): void
}

interface AdmissionQueue {
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
  /** Requests that are queued or in flight, or whose response is being sent. */
  count: number
  readonly reads: AdmissionQueue
  readonly changes: AdmissionQueue
}

export class ManagementAdmission {
  readonly #shareMax: number
  readonly #shares = new Map<string, Share>()
  #answerBytes = 0

  /** `shareMax` limits the requests of one share that are queued or in flight. */
  constructor(shareMax: number) {
    this.#shareMax = shareMax
  }

  /** Admits a request or queues it. Throws `RATE_LIMITED` if the share has too many requests. */
  enter({ share: name, isRead, bytes }: AdmissionRequest): RequestSlot {
    const share = this.#shares.get(name) ?? newShare()
    if (share.count >= this.#shareMax) {
      const message = `${this.#shareMax} management requests of this environment already wait; try again shortly`
      throw new AuthzError('RATE_LIMITED', message, { limit: 'share' })
    }
    this.#shares.set(name, share)
    share.count += 1
    const queue = isRead ? share.reads : share.changes
    const { promise: begun, resolve, reject } = Promise.withResolvers<void>()
    let isBegun = false
    let answerBytes = 0
    const begin = (): void => {
      isBegun = true
      queue.underWay += 1
      queue.bytes += bytes
      resolve()
    }
    const waiter = { bytes, begin }
    queue.waiting.push(waiter)
    this.#beginNext(queue)
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
          queue.waiting.splice(queue.waiting.indexOf(waiter), 1)
          // If the caller was rejected for another reason, no handler might be attached to `begun`.
          begun.catch(() => undefined)
          reject(abandoned())
          return
        }
        queue.underWay -= 1
        queue.bytes -= bytes
        this.#giveBack(answerBytes)
        this.#beginNext(queue)
      },
    }
  }

  #giveBack(answerBytes: number): void {
    const wasFull = this.#answerBytes > ANSWER_BYTES_MAX
    this.#answerBytes -= answerBytes
    if (!wasFull) return
    for (const { reads } of this.#shares.values()) this.#beginNext(reads)
  }

  #beginNext(queue: AdmissionQueue): void {
    while (queue.waiting.length > 0 && this.#hasPlace(queue, queue.waiting[0]!))
      queue.waiting.shift()!.begin()
  }

  #hasPlace({ isOfReads, underWay, bytes }: AdmissionQueue, next: Waiter): boolean {
    if (isOfReads) return underWay < READS_UNDER_WAY_MAX && this.#answerBytes <= ANSWER_BYTES_MAX
    if (underWay === 0) return true
    return underWay < CHANGES_UNDER_WAY_MAX && bytes + next.bytes <= CHANGE_BYTES_UNDER_WAY_MAX
  }
}

function newShare(): Share {
  return { count: 0, reads: newQueue(true), changes: newQueue(false) }
}

function newQueue(isOfReads: boolean): AdmissionQueue {
  return { isOfReads, waiting: [], underWay: 0, bytes: 0 }
}
