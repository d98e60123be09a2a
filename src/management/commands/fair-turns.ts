/**
 * Whose turn it is on the thread that writes. All environments share it, so that what one of them asks for must not keep
 * the others waiting for longer than a slice:
 *
 *     env a   ████──██──██──██──██          one slice in each turn of the event loop, of whoever has had the least;
 *     env b   ────█───────────────          who comes anew has had as much as whoever was last served, so that nobody
 *     env c   ──────██──██──██──██          saves up time by asking for nothing
 *
 * Steps that are short share a slice. What is asked of the operating system, and answers that come from it, is between slices.
 */

import { SLICE_MS } from '#model/resumable.ts'

/** One share of the thread. */
export interface Turns {
  /**
   * Calls `step` when it is this share's turn, in the order of the calls; it should take no longer than a slice. Resolves or
   * rejects with what it returns or throws.
   */
  take<Result>(step: () => Result): Promise<Result>
  /** Counts time that the share has had outside of its turns. */
  charge(ms: number): void
}

/** The steps of one share that wait. */
interface Share {
  readonly steps: (() => void)[]
  /** The time that the share has had, and the time it is taken to have had while it asked for nothing. */
  usedMs: number
}

export class FairTurns {
  /** The shares with waiting steps. */
  readonly #waiting: Share[] = []
  /** The time that the share served last had had before it. */
  #usedMs = 0
  readonly #elapsedMs: () => number

  /** `elapsedMs` is the clock of `Surroundings`. */
  constructor(elapsedMs: () => number = () => performance.now()) {
    this.#elapsedMs = elapsedMs
  }

  /** A new share, equal to all others. */
  share(): Turns {
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
      if (this.#waiting.push(share) === 1) this.#awaitTurn()
    }
    share.steps.push(step)
  }

  /**
   * Takes its turn after the events that have come by now, so that callers who asked at the same moment are served in a
   * fair order.
   */
  #awaitTurn(): void {
    setImmediate(() => this.#serve())
  }

  #serve(): void {
    let now = this.#elapsedMs()
    const until = now + SLICE_MS
    do {
      const share = this.#next()
      const step = share.steps.shift()!
      // Removed before the step is called: what the step asks for itself comes after what has waited.
      if (share.steps.length === 0) this.#waiting.splice(this.#waiting.indexOf(share), 1)
      this.#usedMs = share.usedMs
      const from = now
      step()
      now = this.#elapsedMs()
      share.usedMs += now - from
    } while (this.#waiting.length > 0 && now < until)
    if (this.#waiting.length > 0) this.#awaitTurn()
  }

  /** O(waiting shares): a handful as a rule, and never more than there are environments. */
  #next(): Share {
    let least = this.#waiting[0]!
    for (const share of this.#waiting) if (share.usedMs < least.usedMs) least = share
    return least
  }
}

/** Work that does not wait for a turn, if the event loop has turned since the last such work. */
const AT_ONCE_MS = 1

/**
 * Small steps of one share, with awaits between them. They share a slice: most are not worth a turn of the event loop each. After a turn of
 * the loop a short slice begins at once, so that little work does not wait for everything else that the share has to do.
 */
export class Slices {
  readonly #turns: Turns
  readonly #elapsedMs: () => number
  #until = -Infinity
  /** Whether the event loop has turned since the slice began. */
  #hasTurned = true

  constructor(turns: Turns, elapsedMs: () => number = () => performance.now()) {
    this.#turns = turns
    this.#elapsedMs = elapsedMs
  }

  /** Calls `step`, which ends at that time: now, or if the slice is over, in the share's next turn. */
  async run<Result>(step: (until: number) => Result): Promise<Result> {
    const from = this.#elapsedMs()
    if (from >= this.#until) {
      if (!this.#hasTurned) return this.#turns.take(() => step(this.#begin(SLICE_MS)))
      this.#begin(AT_ONCE_MS)
    }
    try {
      return step(this.#until)
    } finally {
      this.#turns.charge(this.#elapsedMs() - from)
    }
  }

  #begin(ms: number): number {
    this.#until = this.#elapsedMs() + ms
    this.#hasTurned = false
    setImmediate(() => (this.#hasTurned = true))
    return this.#until
  }
}
