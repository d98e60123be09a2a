/**
 * Fair scheduler of a thread. All environments share the thread, and none may delay the others for longer
 * than one slice:
 *
 *     env a   ████──██──██──██──██      each event-loop iteration has one slice, for the share with the least
 *     env b   ────█───────────────      time; a share that was idle counts as having used as much time as the
 *     env c   ──────██──██──██──██      share served last, so that idle shares do not accumulate time
 *
 * `time-budget.ts` states the longest slice of each kind of thread. Short turns share a slice. System calls
 * and their results are processed between slices.
 */
import type { WaitingClient } from '#model/caller.ts'
import { AuthzError } from '#model/errors.ts'
import { abandoned, type Admission, halfPerShare, type ReadQueue } from './admission.ts'
import { FairQueue } from './fair-queue.ts'
import { isResumable, type Resumable } from './resumable.ts'
import { TimeBudget } from './time-budget.ts'

/** Maximum total time of a read. The largest lists take a hundredth of it. */
export const READ_MS_MAX = 10_000

/** Work that can pause, and the client that waits for it. A pause can last until a promise is settled. */
export interface PausingWork<Answer> {
  readonly work: Generator<Promise<unknown> | undefined | void, Answer, void>
  readonly waiting: WaitingClient
  /** Throws the errors that end the work. Called before each slice, and before the result is returned. */
  readonly check?: () => void
  /** Maximum total time of its slices. By default, it is not limited. */
  readonly msMax?: number
}

/** A share of the thread, usually of an environment. */
export interface TimeShare {
  /**
   * Calls `step` when this share is scheduled, in the order of the calls, with the time at which it should
   * stop. Resolves or rejects with its result.
   */
  take<Result>(step: (until: number) => Result): Promise<Result>
  /**
   * Calls `step` immediately if the slice of this iteration is not over, and otherwise like `take`. For steps
   * that are separated by awaits, most of which are too short for an iteration each.
   */
  takeSoon<Result>(step: (until: number) => Result): Promise<Result>
  /**
   * Runs the work to completion in slices that alternate with other work. Rejects with `OVERLOADED` if the
   * client has disconnected before a slice, and with `LIMIT_EXCEEDED` if the work takes too long.
   */
  run<Answer>(work: PausingWork<Answer>): Promise<Answer>
}

interface Turn {
  readonly share: string
  readonly take: (until: number) => void
}

export class ThreadScheduler {
  readonly budget: TimeBudget
  readonly #turns: FairQueue<Turn>
  readonly #onSlice: (ms: number) => void
  #isPlanned = false

  /** `onSlice` is called with the duration of each slice. */
  constructor(budget: TimeBudget, onSlice: (ms: number) => void = () => {}) {
    this.budget = budget
    this.#onSlice = onSlice
    this.#turns = new FairQueue(budget)
  }

  /** Returns the share with this name. All shares have the same weight. */
  share(name: string): TimeShare {
    return {
      take: step => this.#take(name, step),
      takeSoon: async step => {
        const from = this.budget.elapsedMs()
        const until = this.budget.sliceEnd()
        if (from >= until) return this.#take(name, step)
        try {
          return step(until)
        } finally {
          this.budget.spend(name, this.budget.elapsedMs() - from)
        }
      },
      run: work => this.run(name, work),
    }
  }

  hasWaiting(share: string): boolean {
    return this.#turns.hasWaiting(share)
  }

  /** See `TimeShare.run`. */
  async run<Answer>(share: string, { work, waiting, check, msMax }: PausingWork<Answer>): Promise<Answer> {
    let spentMs = 0
    const slice = (until: number): ReturnType<typeof work.next> => {
      const from = this.budget.elapsedMs()
      if (waiting.isGone) {
        // Ends the generator, which releases the lists that it was reading.
        work.return(undefined as Answer)
        throw abandoned()
      }
      check?.()
      for (;;) {
        const step = work.next()
        const now = this.budget.elapsedMs()
        if (step.done) check?.()
        if (!step.done && !(step.value instanceof Promise) && now < until) continue
        spentMs += now - from
        if (!step.done && msMax !== undefined && spentMs > msMax) throw tooLong(msMax)
        return step
      }
    }
    for (;;) {
      const step = await this.#take(share, slice)
      if (step.done) return step.value
      if (step.value instanceof Promise) await step.value
    }
  }

  #take<Result>(share: string, step: (until: number) => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      const take = (until: number): void => {
        try {
          resolve(step(until))
        } catch (error) {
          reject(error as Error)
        }
      }
      this.#turns.push(share, { share, take })
      this.#plan()
    })
  }

  /** Plans a slice after the pending events, so that work that arrives at the same time is ordered fairly. */
  #plan(): void {
    if (this.#isPlanned) return
    this.#isPlanned = true
    setImmediate(() => this.#serve())
  }

  #serve(): void {
    const until = this.budget.sliceEnd()
    const start = this.budget.elapsedMs()
    let now = start
    do {
      const turn = this.#turns.take()!
      const from = now
      turn.take(until)
      now = this.budget.elapsedMs()
      this.budget.spend(turn.share, now - from)
    } while (!this.#turns.isEmpty && now < until)
    this.#onSlice(now - start)
    this.#isPlanned = false
    if (!this.#turns.isEmpty) this.#plan()
  }
}

/** Returns the only share of a separate scheduler, for objects that do not share a thread with others. */
export function unsharedTime(): TimeShare {
  return new ThreadScheduler(new TimeBudget('main')).share('')
}

/** The party for which work is done: its share of the thread, and the waiting caller. */
export interface Asker {
  readonly timeShare: TimeShare
  readonly waiting: WaitingClient
}

/**
 * Runs `begin`. If `begin` returns resumable work, runs that to completion. `long` decides when resumable
 * work may continue; if it is absent, the work continues immediately. Rejects as `TimeShare.run` does.
 */
export async function drive<Answer>(
  begin: () => Answer | Resumable<Answer>,
  { timeShare, waiting }: Asker,
  long?: ReadQueue,
): Promise<Answer> {
  // Most work is short and is finished in the slice in which it begins.
  if (!long) return timeShare.run({ work: begun(begin), waiting })
  const answer = await timeShare.take(() => {
    if (waiting.isGone) throw abandoned()
    return begin()
  })
  return isResumable(answer) ? long.run(() => timeShare.run({ work: answer, waiting })) : answer
}

function* begun<Answer>(begin: () => Answer | Resumable<Answer>): Resumable<Answer> {
  const answer = begin()
  return isResumable(answer) ? yield* answer : answer
}

/**
 * Long reads on a thread that also receives requests. They run one after another, so that only one of them
 * needs memory, and round-robin over the shares.
 */
export class LongReads {
  readonly #sliced: ThreadScheduler
  readonly #admission: Admission
  readonly #waiting = new FairQueue<() => void>()
  #isBusy = false

  /** `readsMax` is the maximum number of reads that wait or run. One share can have half of them. */
  constructor(sliced: ThreadScheduler, readsMax: number) {
    this.#sliced = sliced
    this.#admission = halfPerShare(readsMax)
  }

  /** Runs a read. Rejects with `OVERLOADED` if too many reads wait or if the client disconnects. */
  async run<Answer>(share: string, read: PausingWork<Answer>): Promise<Answer> {
    const leave = this.#admission.acquire(share)
    await new Promise<void>(resolve => {
      this.#waiting.push(share, resolve)
      this.#beginNext()
    })
    try {
      return await this.#sliced.run(share, { ...read, msMax: READ_MS_MAX })
    } finally {
      leave()
      this.#isBusy = false
      this.#beginNext()
    }
  }

  #beginNext(): void {
    const begin = this.#isBusy ? null : this.#waiting.take()
    if (begin === null) return
    this.#isBusy = true
    begin()
  }
}

function tooLong(msMax: number): AuthzError {
  return new AuthzError(
    'LIMIT_EXCEEDED',
    `the request would take longer than ${msMax} ms; filter by tenants, types or names, or use a search with pages`,
    { limit: 'list' },
  )
}
