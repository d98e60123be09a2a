/**
 * Runs sliced reads in the thread that receives requests. Used if there is no pool or if no thread of the
 * pool has started. The reads run one after another, so that only one of them needs memory. Between two
 * slices, the thread processes other events.
 */
import { AuthzError } from '#model/errors.ts'
import type { Resumable } from './resumable.ts'
import type { WaitingClient } from '#model/caller.ts'
import { ReadTime } from './read-time.ts'

/** Duration of a slice. A single decision is delayed by at most this time. */
export const SLICE_MS = 0.25

/** A sliced read that has not begun or has paused. */
export interface SlicedRead<Answer> {
  readonly work: Resumable<Answer>
  readonly waiting: WaitingClient
  /**
   * Throws the errors that a decision would throw now. Called before each slice, and again before the result
   * is returned.
   */
  readonly check: () => void
}

export class SlicedReads {
  readonly #readsMax: number
  #last: Promise<unknown> = Promise.resolve()
  #count = 0

  /** `readsMax` is the maximum number of reads that wait or run. */
  constructor(readsMax: number) {
    this.#readsMax = readsMax
  }

  /** Runs a read. Rejects with `OVERLOADED` if too many reads wait or if the client disconnects. */
  async run<Answer>(read: SlicedRead<Answer>): Promise<Answer> {
    if (this.#count >= this.#readsMax) throw tooManyReads()
    this.#count += 1
    const before = this.#last
    const turn = Promise.withResolvers<void>()
    this.#last = turn.promise
    try {
      await before
      return await drive(read)
    } finally {
      this.#count -= 1
      turn.resolve()
    }
  }
}

async function drive<Answer>(read: SlicedRead<Answer>): Promise<Answer> {
  const time = new ReadTime()
  for (;;) {
    const start = performance.now()
    const step = takeSlice(read)
    time.spend(performance.now() - start)
    if (step.done) return step.value
    await new Promise(resolve => setImmediate(resolve))
  }
}

/** Continues a read for one slice and returns its last step. Throws the errors that end the read. */
function takeSlice<Answer>({ work, waiting, check }: SlicedRead<Answer>): IteratorResult<void, Answer> {
  if (waiting.isGone) throw nobodyWaits()
  check()
  const until = performance.now() + SLICE_MS
  for (;;) {
    const step = work.next()
    if (step.done) check()
    if (step.done || performance.now() >= until) return step
  }
}

export function tooManyReads(): AuthzError {
  return new AuthzError('OVERLOADED', 'too many large bulks and searches are running; try again shortly', {
    limit: 'pool',
  })
}

export function nobodyWaits(): AuthzError {
  return new AuthzError('OVERLOADED', 'the client disconnected before the request was processed')
}
