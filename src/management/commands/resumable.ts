/**
 * Drives work that stops every few rows of a store. After a stop the work goes on at once, or after the event loop has run
 * first; it may have met later commits then.
 */
import type { Waiting } from '#decisions/decision-pool.ts'
import { AuthzError } from '#model/errors.ts'
import { type Resumable, SLICE_MS } from '#model/resumable.ts'
import type { ReadLane } from './read-lanes.ts'
import type { Turns } from './fair-turns.ts'

export type { Resumable }

/** Rows read between two stops: some tenths of a millisecond. */
export const YIELD_ROWS = 32

/** For whom work is done: the share of the thread it takes, and the caller who waits for it. */
export interface Asker {
  readonly turns: Turns
  readonly waiting: Waiting
}

export function isResumable<Answer>(value: Answer | Resumable<Answer>): value is Resumable<Answer> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value && 'next' in value
}

/**
 * Runs `begin`, and the resumable work it returns, if any, to the end, in slices that take turns with other work. `long`
 * decides when resumable work may go on; absent: at once. Rejects with `OVERLOADED` when the caller has left, before the
 * work begins or at the end of a slice.
 */
export async function drive<Answer>(
  begin: () => Answer | Resumable<Answer>,
  { turns, waiting }: Asker,
  long?: ReadLane,
): Promise<Answer> {
  let work: Resumable<Answer> | null = null
  const begun = await turns.take((): IteratorResult<void, Answer> => {
    if (waiting.isGone) throw abandoned()
    const answer = begin()
    if (!isResumable(answer)) return { done: true, value: answer }
    work = answer
    // Most work is short, and done within the turn in which it begins.
    return long ? { done: false, value: undefined } : slice(answer, waiting)
  })
  if (begun.done) return begun.value
  const goOn = async (): Promise<Answer> => {
    for (;;) {
      const step = await turns.take(() => slice(work!, waiting))
      if (step.done) return step.value
    }
  }
  return long ? long.run(goOn) : goOn()
}

function slice<Answer>(work: Resumable<Answer>, waiting: Waiting): IteratorResult<void, Answer> {
  if (waiting.isGone) {
    // Releases the lists that are being read.
    work.return(undefined as Answer)
    throw abandoned()
  }
  const until = performance.now() + SLICE_MS
  for (;;) {
    const step = work.next()
    if (step.done || performance.now() >= until) return step
  }
}

/** The caller has left, so nobody reads this error. */
export function abandoned(): AuthzError {
  return new AuthzError('OVERLOADED', 'nobody waits for this any more')
}

/** The answer of an operation, whether it comes at once or in slices. */
export type AnswerOf<Result> = Result extends Resumable<infer Answer> ? Answer : Result
