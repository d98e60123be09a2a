/** Limits of concurrent work: in total, and per share (usually an environment). */
import { AuthzError } from '#model/errors.ts'

/** Rejects work above its limits. */
export class Admission {
  readonly #max: number
  readonly #shareMax: number
  readonly #refusal: (isShareFull: boolean) => AuthzError
  #total = 0
  readonly #ofShare = new Map<string, number>()

  /**
   * `max` is the limit of all shares together, `shareMax` that of one share. `refusal` returns the error for
   * rejected work.
   */
  constructor(
    { max, shareMax = max }: { readonly max: number; readonly shareMax?: number },
    refusal: (isShareFull: boolean) => AuthzError = tooManyReads,
  ) {
    this.#max = max
    this.#shareMax = shareMax
    this.#refusal = refusal
  }

  /** Admitted amount of all shares. */
  get total(): number {
    return this.#total
  }

  hasRoom(share: string, amount = 1): boolean {
    return this.#total + amount <= this.#max && this.#of(share) + amount <= this.#shareMax
  }

  /** Returns a function that ends the work; it is idempotent. Throws the refusal if a limit is reached. */
  acquire(share: string, amount = 1): () => void {
    if (!this.hasRoom(share, amount)) throw this.#refusal(this.#of(share) + amount > this.#shareMax)
    this.#add(share, amount)
    let isOver = false
    return () => {
      if (!isOver) this.#add(share, -amount)
      isOver = true
    }
  }

  #of(share: string): number {
    return this.#ofShare.get(share) ?? 0
  }

  #add(share: string, amount: number): void {
    this.#total += amount
    const own = this.#of(share) + amount
    if (own === 0) this.#ofShare.delete(share)
    else this.#ofShare.set(share, own)
  }
}

/** Returns an admission of `max` in total, of which one share can use half. */
export function halfPerShare(max: number): Admission {
  return new Admission({ max, shareMax: Math.ceil(max / 2) })
}

/** Limit of long reads of all environments together. Each keeps a page of a few megabytes in memory. */
const LONG_READS_MAX = 64

/** The read queue of one environment. */
export interface ReadQueue {
  /** Runs `read` when it is next in the queue. Resolves or rejects with its result. */
  run<Answer>(read: () => Promise<Answer>): Promise<Answer>
}

interface QueueState {
  readonly waiting: (() => void)[]
  isBusy: boolean
}

/**
 * Queues of long reads: one read at a time per environment, because two concurrent reads would not finish
 * sooner, and a bounded number in total. The number of waiting reads is bounded where requests arrive.
 */
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

export function tooManyReads(): AuthzError {
  return new AuthzError('OVERLOADED', 'too many large bulks and searches are running; try again shortly', {
    limit: 'pool',
  })
}

/** Error for work whose client has disconnected. It is never sent. */
export function abandoned(): AuthzError {
  return new AuthzError('OVERLOADED', 'the client disconnected before the request was processed')
}
