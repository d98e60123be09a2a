/**
 * Queues of long reads: one read at a time per environment, and a bounded number in total. Each read keeps a
 * page in memory. Two concurrent reads of one environment would not finish sooner. The number of waiting
 * reads is bounded where requests arrive.
 */

/** Limit for all environments together. Each read takes a few megabytes. */
export const LONG_READS_MAX = 64

/** The read queue of one environment. */
export interface ReadQueue {
  /** Runs `read` when it is next in the queue. Resolves or rejects with its result. */
  run<Answer>(read: () => Promise<Answer>): Promise<Answer>
}

interface QueueState {
  readonly waiting: (() => void)[]
  isBusy: boolean
}

export class ReadQueues {
  readonly #max: number
  /** The queues whose next read waits for reads of other queues to finish, in order of arrival. */
  readonly #waiting: QueueState[] = []
  #underWay = 0

  constructor(max = LONG_READS_MAX) {
    this.#max = max
  }

  /** Returns a new queue. */
  queue(): ReadQueue {
    const queue: QueueState = { waiting: [], isBusy: false }
    return {
      run: async read => {
        await this.#enter(queue)
        try {
          return await read()
        } finally {
          this.#leave(queue)
        }
      },
    }
  }

  #enter(queue: QueueState): Promise<void> {
    return new Promise(resolve => {
      queue.waiting.push(resolve)
      if (queue.waiting.length === 1 && !queue.isBusy) this.#waiting.push(queue)
      this.#beginNext()
    })
  }

  #leave(queue: QueueState): void {
    queue.isBusy = false
    this.#underWay -= 1
    if (queue.waiting.length > 0) this.#waiting.push(queue)
    this.#beginNext()
  }

  #beginNext(): void {
    while (this.#underWay < this.#max && this.#waiting.length > 0) {
      const queue = this.#waiting.shift()!
      queue.isBusy = true
      this.#underWay += 1
      queue.waiting.shift()!()
    }
  }
}
