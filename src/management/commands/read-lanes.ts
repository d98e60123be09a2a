/**
 * Long reads: one at a time in each environment, and a bounded number in all. Each keeps a page in memory while it is made,
 * and two of one environment would take no less time side by side. The number of reads that wait is bounded where requests
 * come in.
 */

/** In all environments together. Each takes some megabytes. */
export const LONG_READS_MAX = 64

/** The reads of one environment. */
export interface ReadLane {
  /** Runs `read` when it is its turn. Resolves or rejects as it does. */
  run<Answer>(read: () => Promise<Answer>): Promise<Answer>
}

interface Lane {
  readonly waiting: (() => void)[]
  isBusy: boolean
}

export class ReadLanes {
  readonly #max: number
  /** The lanes whose next read waits for reads of others to end, in order of arrival. */
  readonly #waiting: Lane[] = []
  #underWay = 0

  constructor(max = LONG_READS_MAX) {
    this.#max = max
  }

  /** A lane of its own. */
  lane(): ReadLane {
    const lane: Lane = { waiting: [], isBusy: false }
    return {
      run: async read => {
        await this.#enter(lane)
        try {
          return await read()
        } finally {
          this.#leave(lane)
        }
      },
    }
  }

  #enter(lane: Lane): Promise<void> {
    return new Promise(resolve => {
      lane.waiting.push(resolve)
      if (lane.waiting.length === 1 && !lane.isBusy) this.#waiting.push(lane)
      this.#beginNext()
    })
  }

  #leave(lane: Lane): void {
    lane.isBusy = false
    this.#underWay -= 1
    if (lane.waiting.length > 0) this.#waiting.push(lane)
    this.#beginNext()
  }

  #beginNext(): void {
    while (this.#underWay < this.#max && this.#waiting.length > 0) {
      const lane = this.#waiting.shift()!
      lane.isBusy = true
      this.#underWay += 1
      lane.waiting.shift()!()
    }
  }
}
