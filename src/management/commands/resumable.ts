/**
 * Work in slices on the rows of a store: it stops every few rows. Whoever drives it decides whether to go on at once or to let
 * the event loop run first; it may have met later commits when it goes on.
 */
import type { Waiting } from '#decisions/decision-pool.ts'
import { AuthzError } from '#model/errors.ts'
import { type Resumable, SLICE_MS } from '#model/resumable.ts'
import type { ReadLane } from './read-lanes.ts'
import type { Turns } from './turns.ts'

export type { Resumable }

/** Rows read between two stops: some tenths of a millisecond. */
export const YIELD_ROWS = 32

/** For whom work is done: whose share of the thread it takes, and who waits for it. */
export interface Asker {
  readonly turns: Turns
  readonly waiting: Waiting
}

export function isResumable<Answer>(value: Answer | Resumable<Answer>): value is Resumable<Answer> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value && 'next' in value
}

/**
 * Runs `begin` and what it returns, if that is resumable, to the end, in slices that take turns with the work of others.
 * `long` says when what is resumable may be gone on with; absent: at once.
 * Rejects with `OVERLOADED` when nobody waits for it any more, before it is begun or at the end of a slice.
 */
export async function drive<Answer>(
  begin: () => Answer | Resumable<Answer>,
  { turns, waiting }: Asker,
  long?: ReadLane,
): Promise<Answer> {
  const begun = await turns.take(() => {
    if (waiting.isGone) throw abandoned()
    return begin()
  })
  if (!isResumable(begun)) return begun
  const goOn = async (): Promise<Answer> => {
    for (;;) {
      const step = await turns.take(() => slice(begun, waiting))
      if (step.done) return step.value
    }
  }
  return long ? long.run(goOn) : goOn()
}

function slice<Answer>(work: Resumable<Answer>, waiting: Waiting): IteratorResult<void, Answer> {
  if (waiting.isGone) {
    // Lists that are being read are let go of.
    work.return(undefined as Answer)
    throw abandoned()
  }
  const until = performance.now() + SLICE_MS
  for (;;) {
    const step = work.next()
    if (step.done || performance.now() >= until) return step
  }
}

/** Nobody hears it. */
export function abandoned(): AuthzError {
  return new AuthzError('OVERLOADED', 'nobody waits for this any more')
}

/** What an operation answers, whether at once or resumed. */
export type AnswerOf<Result> = Result extends Resumable<infer Answer> ? Answer : Result
