/**
 * A queue of the facts that expire next, in the order of expiration. It contains only the facts of a time
 * window. A scan of all expiration times (`expiry-table.ts`), some partitions at a time, finds the facts of
 * the next window before it begins. The queue thus needs little memory, however many facts expire eventually.
 *
 * Entries of the queue can be outdated: a fact might have been deleted, or its expiration time changed.
 * `expiry-table.ts` is the source of truth.
 */
import {
  eachExpiring,
  expiringCount,
  expiresAtOf,
  type FactNumbers,
} from '#engine/shared-index/memory/expiry-table.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import type { Regions } from '#engine/shared-index/memory/regions.ts'
import { ExpiryHeap } from './expiry-heap.ts'

/**
 * Up to this many expiration times are scanned once per hour, in one step. Larger tables are scanned every 15
 * seconds, because their queue would be large.
 */
const FEW = 16_384
const LONG_WINDOW_MS = 3_600_000
const SHORT_WINDOW_MS = 15_000
/**
 * If added facts make the queue longer than this, and longer than twice the result of the last scan, the
 * window is shortened.
 */
const QUEUED_MAX = 65_536

export class ExpiryQueue {
  readonly #regions: Regions
  readonly #heap = new ExpiryHeap()
  /** All facts that expire before this time are in the queue. */
  #knownUntil = -Infinity
  /** The value of `#knownUntil` after the current scan. */
  #lookingUntil = -Infinity
  /** The partition to scan next; null while no scan is in progress. */
  #partition: number | null = null
  #queuedMax = QUEUED_MAX

  constructor(regions: Regions) {
    this.#regions = regions
  }

  /** Adds a fact with its expiration time. O(log of the queue), while readers wait. */
  add(fact: FactNumbers, until: number): void {
    if (until < Math.max(this.#knownUntil, this.#lookingUntil)) this.#heap.push(fact, until)
  }

  /** Time by which `next` must be called again, in milliseconds since 1970. Infinite if no fact expires. */
  get wakeAt(): number {
    if (this.#isEmpty) return Infinity
    return this.#partition === null ? Math.min(this.#heap.firstExpiry, this.#lookFrom) : -Infinity
  }

  /** No fact expires before this time, in milliseconds since 1970. Infinite if no fact expires. */
  get expiresFrom(): number {
    return this.#isEmpty ? Infinity : Math.min(this.#heap.firstExpiry, this.#knownUntil)
  }

  /**
   * Returns facts that have expired at `now`, about `limit` at most; a fact can be returned twice. A shorter
   * result does not mean that none are left: call it again until `wakeAt` is later than `now`. O(limit, and
   * one partition of all expiration times during a scan). Requires neither the lock nor a critical section.
   */
  next(now: number, limit: number): FactNumbers[] {
    if (this.#isEmpty) {
      this.#heap.clear()
      this.#queuedMax = QUEUED_MAX
      this.#endLook(-Infinity)
      return []
    }
    // Not during a scan, which would have to start over.
    if (this.#partition === null && this.#heap.length > this.#queuedMax) this.#shorten()
    this.#lookAhead(now)
    const expired: FactNumbers[] = []
    while (expired.length < limit && this.#heap.firstExpiry <= now) {
      const until = this.#heap.firstExpiry
      const fact = this.#heap.pop()
      if (expiresAtOf(this.#regions, fact) === until) expired.push(fact)
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

  /** The scan for a window begins a third of a window earlier. */
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
    eachExpiring(this.#regions, this.#partition, this.#lookingUntil, (fact, until) => {
      if (until >= from) this.#heap.push(fact, until)
    })
    this.#partition += 1
    if (this.#partition < L.EXPIRY_PARTITIONS) return
    // Otherwise, facts that expire at the same time would be removed from the queue and scanned for
    // repeatedly.
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
