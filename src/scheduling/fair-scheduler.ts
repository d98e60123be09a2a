/**
 * Fair scheduler of the writer thread. All environments share the thread. No environment may delay the others
 * for longer than one time slice:
 *
 *     env a   ████──██──██──██──██      each event-loop iteration has one slice, for the share with the least
 *     env b   ────█───────────────      time; a share that was idle counts as having used as much time as the
 *     env c   ──────██──██──██──██      share served last, so that idle shares do not accumulate time
 *
 * Short steps share a slice. System calls and their results are processed between slices.
 */

import { SLICE_MS } from './resumable.ts'

/** A share of the thread. */
export interface TimeShare {
  /**
   * Calls `step` when this share is scheduled, in the order of the calls. A step should take at most one
   * slice. Resolves or rejects with its result.
   */
  take<Result>(step: () => Result): Promise<Result>
  /** Adds time that the share has used outside of its slices. */
  charge(ms: number): void
}

/** The waiting steps of one share. */
interface Share {
  readonly steps: (() => void)[]
  /**
   * Time that the share has used. After an idle period, it is raised to the time of the share served last.
   */
  usedMs: number
}

export class FairScheduler {
  /** The shares with waiting steps. */
  readonly #waiting: Share[] = []
  /** The used time of the share served last, before it was served. */
  #usedMs = 0
  readonly #elapsedMs: () => number

  /** `elapsedMs` is the clock of `RuntimeServices`. */
  constructor(elapsedMs: () => number = () => performance.now()) {
    this.#elapsedMs = elapsedMs
  }

  /** Returns a new share with the same weight as all others. */
  share(): TimeShare {
    const share: Share = { steps: [], usedMs: 0 }
    return {
      charge: ms => {
        share.usedMs += ms
      },
      take: step =>
        new Promise((resolve, reject) => {
          this.#add(share, () => {
            try {
              resolve(step())
            } catch (error) {
              reject(error as Error)
            }
          })
        }),
    }
  }

  #add(share: Share, step: () => void): void {
    if (share.steps.length === 0) {
      share.usedMs = Math.max(share.usedMs, this.#usedMs)
      if (this.#waiting.push(share) === 1) this.#scheduleSlice()
    }
    share.steps.push(step)
  }

  /**
   * Schedules the next slice after the pending events, so that requests that arrive at the same time are
   * served in a fair order.
   */
  #scheduleSlice(): void {
    setImmediate(() => this.#serve())
  }

  #serve(): void {
    let now = this.#elapsedMs()
    const until = now + SLICE_MS
    do {
      const share = this.#next()
      const step = share.steps.shift()!
      // The share is removed before its step is called. If the step adds other steps, these come after those
      // of other waiting shares.
      if (share.steps.length === 0) this.#waiting.splice(this.#waiting.indexOf(share), 1)
      this.#usedMs = share.usedMs
      const from = now
      step()
      now = this.#elapsedMs()
      share.usedMs += now - from
    } while (this.#waiting.length > 0 && now < until)
    if (this.#waiting.length > 0) this.#scheduleSlice()
  }

  /**
   * The waiting share that has used the least time. O(waiting shares): usually a few, at most the number of
   * environments.
   */
  #next(): Share {
    let least = this.#waiting[0]!
    for (const share of this.#waiting) if (share.usedMs < least.usedMs) least = share
    return least
  }
}

/** Duration of a slice that starts without waiting, if the event loop has run since the previous slice. */
const AT_ONCE_MS = 1

/**
 * Runs small steps of one share that are separated by awaits. The steps share a slice, because most of them
 * are too short for an event-loop iteration each. After an iteration, a short slice begins immediately, so
 * that little work does not wait for all other work of the share.
 */
export class Slices {
  readonly #timeShare: TimeShare
  readonly #elapsedMs: () => number
  #until = -Infinity
  /** Whether the event loop has run since the slice began. */
  #hasIterated = true

  constructor(timeShare: TimeShare, elapsedMs: () => number = () => performance.now()) {
    this.#timeShare = timeShare
    this.#elapsedMs = elapsedMs
  }

  /**
   * Calls `step` with the time at which it must stop. If the current slice is not over, the call is
   * immediate; otherwise, it is in the share's next slice.
   */
  async run<Result>(step: (until: number) => Result): Promise<Result> {
    const from = this.#elapsedMs()
    if (from >= this.#until) {
      if (!this.#hasIterated) return this.#timeShare.take(() => step(this.#begin(SLICE_MS)))
      this.#begin(AT_ONCE_MS)
    }
    try {
      return step(this.#until)
    } finally {
      this.#timeShare.charge(this.#elapsedMs() - from)
    }
  }

  #begin(ms: number): number {
    this.#until = this.#elapsedMs() + ms
    this.#hasIterated = false
    setImmediate(() => (this.#hasIterated = true))
    return this.#until
  }
}
