/**
 * Simulated time in seconds, with the list of future events. Simultaneous events have a fixed order, so that
 * a run can be reproduced.
 */

export interface Happening {
  happen(): void
}

export class Clock {
  now = 0
  /** Binary heap of the events, ordered by time. */
  readonly #times: number[] = []
  readonly #happenings: Happening[] = []

  after(seconds: number, happening: Happening): void {
    const [times, happenings] = [this.#times, this.#happenings]
    const time = this.now + seconds
    let at = times.length
    times.push(time)
    happenings.push(happening)
    while (at > 0) {
      const above = (at - 1) >> 1
      if (times[above]! <= time) break
      times[at] = times[above]!
      happenings[at] = happenings[above]!
      at = above
    }
    times[at] = time
    happenings[at] = happening
  }

  /** Processes all events up to the given time. */
  run(until: number): void {
    while (this.#times.length > 0 && this.#times[0]! <= until) {
      this.now = this.#times[0]!
      this.#takeFirst().happen()
    }
    this.now = until
  }

  #takeFirst(): Happening {
    const [times, happenings] = [this.#times, this.#happenings]
    const first = happenings[0]!
    const time = times.pop()!
    const happening = happenings.pop()!
    const count = times.length
    if (count === 0) return first
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      if (below >= count) break
      if (below + 1 < count && times[below + 1]! < times[below]!) below += 1
      if (times[below]! >= time) break
      times[at] = times[below]!
      happenings[at] = happenings[below]!
      at = below
    }
    times[at] = time
    happenings[at] = happening
    return first
  }
}
