/**
 * A queue of the facts that expire next, in the order of expiration. It only contains the facts that expire
 * within a time window. Before the next window begins, all expiration times (`expiry-table.ts`) are scanned,
 * some partitions at a time, to find the facts of the next window. The queue thus needs little memory, even
 * if very many facts have an expiration time.
 *
 * Entries of the queue can be outdated: the fact might have been deleted, or its expiration time might have
 * changed. `expiry-table.ts` is the source of truth.
 */
import {
  eachExpiring,
  expiringCount,
  expiresAtOf,
  type FactNumbers,
} from '#engine/shared-index/memory/expiry-table.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import { ExpiryHeap } from './expiry-heap.ts'

/**
 * If there are at most this number of expiration times, the window is an hour, and a scan is a single step.
 * If there are more, the window is 15 seconds, because a longer window would need a large queue.
 */
const FEW = 16_384
const LONG_WINDOW_MS = 3_600_000
const SHORT_WINDOW_MS = 15_000
/**
 * If the queue is longer than this, the window is shortened. If the last scan found more than half of this
 * number, the limit is instead twice the number of facts that it found.
 */
const QUEUED_MAX = 65_536

export class ExpiryQueue {
  readonly #regions: Regions
  readonly #heap = new ExpiryHeap()
  /** All facts that expire before this time are in the queue. */
  #knownUntil = -Infinity
  /** Value that `#knownUntil` will have after the current scan. */
  #lookingUntil = -Infinity
  /** The partition to scan next; null while no scan is in progress. */
  #partition: number | null = null
  #queuedMax = QUEUED_MAX

  constructor(regions: Regions) {
    this.#regions = regions
  }

  /**
   * Adds a fact with its expiration time, if it expires within the window. Readers wait during the call.
   * O(log of the queue).
   */
  add(fact: FactNumbers, expiresAt: number): void {
    if (expiresAt < Math.max(this.#knownUntil, this.#lookingUntil)) this.#heap.push(fact, expiresAt)
  }

  /** Time by which `next` must be called again, in milliseconds since 1970. Infinity if no fact expires. */
  get wakeAt(): number {
    if (this.#isEmpty) return Infinity
    return this.#partition === null ? Math.min(this.#heap.firstExpiry, this.#lookFrom) : -Infinity
  }

  /** Time before which no fact expires, in milliseconds since 1970. Infinity if no fact expires. */
  get expiresFrom(): number {
    return this.#isEmpty ? Infinity : Math.min(this.#heap.firstExpiry, this.#knownUntil)
  }

  /**
   * Returns about `limit` facts that have expired at `now`. A fact can be returned twice. Even if the result
   * is shorter, other facts might have expired: call it again until `wakeAt` is later than `now`. O(limit,
   * and one partition of all expiration times during a scan). Requires neither the lock nor a critical
   * section.
   */
  next(now: number, limit: number): FactNumbers[] {
    if (this.#isEmpty) {
      this.#heap.clear()
      this.#queuedMax = QUEUED_MAX
      this.#endLook(-Infinity)
      return []
    }
    // The window is not shortened during a scan, because the scan would then have to start over.
    if (this.#partition === null && this.#heap.length > this.#queuedMax) this.#shorten()
    this.#lookAhead(now)
    const expired: FactNumbers[] = []
    while (expired.length < limit && this.#heap.firstExpiry <= now) {
      const expiresAt = this.#heap.firstExpiry
      const fact = this.#heap.pop()
      if (expiresAtOf(this.#regions, fact) === expiresAt) expired.push(fact)
    }
    return expired
  }

  get #isEmpty(): boolean {
    return expiringCount(this.#regions) === 0
  }

  get #isFew(): boolean {
    return expiringCount(this.#regions) <= FEW
  }

  get #windowMs(): number {
    return this.#isFew ? LONG_WINDOW_MS : SHORT_WINDOW_MS
  }

  /** Time at which the scan for the next window begins: a third of a window before the current one ends. */
  get #lookFrom(): number {
    return this.#knownUntil - this.#windowMs / 3
  }

  #lookAhead(now: number): void {
    if (this.#partition === null && now >= this.#lookFrom) {
      this.#lookingUntil = Math.max(now, this.#knownUntil) + this.#windowMs
      this.#partition = 0
    }
    do this.#lookThroughOne()
    while (this.#partition !== null && this.#isFew)
  }

  #lookThroughOne(): void {
    if (this.#partition === null) return
    const from = this.#knownUntil
    eachExpiring(this.#regions, this.#partition, this.#lookingUntil, (fact, expiresAt) => {
      if (expiresAt >= from) this.#heap.push(fact, expiresAt)
    })
    this.#partition += 1
    if (this.#partition < L.EXPIRY_PARTITIONS) return
    // The limit is at least twice the length after this scan. Otherwise, facts that all expire at the same
    // time would repeatedly be removed from the queue and scanned for again.
    this.#queuedMax = Math.max(QUEUED_MAX, 2 * this.#heap.length)
    this.#endLook(this.#lookingUntil)
  }

  #shorten(): void {
    this.#endLook(Math.min(this.#knownUntil, this.#heap.keepFirstHalf()))
  }

  #endLook(knownUntil: number): void {
    this.#knownUntil = knownUntil
    this.#lookingUntil = -Infinity
    this.#partition = null
  }
}
