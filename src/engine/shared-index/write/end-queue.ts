/**
 * The facts that end next, in order of their ends. The queue holds those of a window only; a look through all ends (`endings.ts`), some
 * partitions at a time, finds those of the next window before it begins. So the queue takes little room, however many facts end some day.
 *
 * What is in the queue may be out of date: a fact may be gone by now, or end at another time. `endings.ts` says what holds.
 */
import { eachEnding, endingCount, endOf, type FactNumbers } from '#engine/shared-index/memory/endings.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import type { Regions } from '#engine/shared-index/memory/regions.ts'
import { EndHeap } from './end-heap.ts'

/** Up to so many ends are looked through once an hour, at once; more of them every 15 seconds, since their queue would be large. */
const FEW = 16_384
const LONG_WINDOW_MS = 3_600_000
const SHORT_WINDOW_MS = 15_000
/** When what is put makes the queue longer, and longer than twice what the last look found, the window becomes shorter. */
const QUEUED_MAX = 65_536

export class EndQueue {
  readonly #regions: Regions
  readonly #heap = new EndHeap()
  /** All that ends before is in the queue. */
  #knownUntil = -Infinity
  /** The same when the look that is going on has come to its end. */
  #lookingUntil = -Infinity
  /** The partition to look through next; none, while no look is going on. */
  #partition: number | null = null
  #queuedMax = QUEUED_MAX

  constructor(regions: Regions) {
    this.#regions = regions
  }

  /** A fact that was put ends then. O(log of the queue): readers wait for it. */
  add(fact: FactNumbers, until: number): void {
    if (until < Math.max(this.#knownUntil, this.#lookingUntil)) this.#heap.push(fact, until)
  }

  /** By when `next` is to be called again, in milliseconds since 1970. Infinite: nothing ends. */
  get wakeAt(): number {
    if (this.#isEmpty) return Infinity
    return this.#partition === null ? Math.min(this.#heap.firstEnd, this.#lookFrom) : -Infinity
  }

  /** No fact ends before that. In milliseconds since 1970; infinite: none ends. */
  get endsFrom(): number {
    return this.#isEmpty ? Infinity : Math.min(this.#heap.firstEnd, this.#knownUntil)
  }

  /**
   * Facts that have ended at `now`, about `limit` at most; one may come twice. Fewer say nothing: call it again until `wakeAt` is later
   * than `now`. O(limit, and one partition of all ends while it looks ahead). No lock, no section.
   */
  next(now: number, limit: number): FactNumbers[] {
    if (this.#isEmpty) {
      this.#heap.clear()
      this.#queuedMax = QUEUED_MAX
      this.#endLook(-Infinity)
      return []
    }
    // Not while a look goes on, which would have to begin anew.
    if (this.#partition === null && this.#heap.length > this.#queuedMax) this.#shorten()
    this.#lookAhead(now)
    const ended: FactNumbers[] = []
    while (ended.length < limit && this.#heap.firstEnd <= now) {
      const until = this.#heap.firstEnd
      const fact = this.#heap.pop()
      if (endOf(this.#regions, fact) === until) ended.push(fact)
    }
    return ended
  }

  get #isEmpty(): boolean {
    return endingCount(this.#regions) === 0
  }

  get #isFew(): boolean {
    return endingCount(this.#regions) <= FEW
  }

  get #windowMs(): number {
    return this.#isFew ? LONG_WINDOW_MS : SHORT_WINDOW_MS
  }

  /** A third of a window before the next one. */
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
    eachEnding(this.#regions, this.#partition, this.#lookingUntil, (fact, until) => {
      if (until >= from) this.#heap.push(fact, until)
    })
    this.#partition += 1
    if (this.#partition < L.ENDING_PARTITIONS) return
    // Else what ends together with all of that would be left out and looked for again and again.
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
