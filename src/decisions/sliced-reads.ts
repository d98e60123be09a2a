/**
 * Reads in slices in the thread that takes requests, where there is no pool or none of its threads has started: one after the
 * other, so that only one keeps memory, and between two slices whatever else has come.
 */
import { AuthzError } from '#model/errors.ts'
import type { Resumable } from '#model/resumable.ts'
import type { Waiting } from './decision-pool.ts'
import { ReadTime } from './read-time.ts'

/** How long single decisions may have to wait for a slice. */
export const SLICE_MS = 0.25

/** A read, from its beginning or where it stopped. */
export interface SlicedRead<Answer> {
  readonly work: Resumable<Answer>
  readonly waiting: Waiting
  /** Throws what a decision would: asked before every slice, and before it is answered. */
  readonly check: () => void
}

export class SlicedReads {
  readonly #readsMax: number
  #last: Promise<unknown> = Promise.resolve()
  #count = 0

  /** `readsMax`: those that may wait or be under way at once. */
  constructor(readsMax: number) {
    this.#readsMax = readsMax
  }

  /** Rejects with `OVERLOADED` when too many wait, and when nobody waits for this one any more. */
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

/** Goes on with a read for one slice. The last step of it. Throws what ends the read. */
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
  return new AuthzError('OVERLOADED', 'too many large bulks and searches are under way; try again shortly', {
    limit: 'pool',
  })
}

export function nobodyWaits(): AuthzError {
  return new AuthzError('OVERLOADED', 'nobody waits for this any more')
}
