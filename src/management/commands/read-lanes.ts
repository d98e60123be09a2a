/**
 * Queues of long reads: one read at a time per environment, and a bounded number in total. Each read keeps a
 * page in memory. Two concurrent reads of one environment would not finish sooner. The number of waiting
 * reads is bounded where requests arrive.
 */

/** Limit for all environments together. Each read takes a few megabytes. */
export const LONG_READS_MAX = 64

/** The read queue of one environment. */
export interface ReadLane {
  /** Runs `read` when it is next in the queue. Resolves or rejects with its result. */
  run<Answer>(read: () => Promise<Answer>): Promise<Answer>
}

interface Lane {
  readonly waiting: (() => void)[]
  isBusy: boolean
}

export class ReadLanes {
  readonly #max: number
  /** The lanes whose next read waits for reads of other lanes to finish, in order of arrival. */
  readonly #waiting: Lane[] = []
  #underWay = 0

  constructor(max = LONG_READS_MAX) {
    this.#max = max
  }

  /** Returns a new lane. */
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
