/**
 * Runs work that pauses after every few rows of a store (a `yield`). After a pause, the work continues
 * immediately or after the event loop has run. In the latter case, it may read later commits.
 */
import type { WaitingClient } from '#model/caller.ts'
import { AuthzError } from '#model/errors.ts'
import { isResumable, type Resumable, SLICE_MS } from './resumable.ts'
import type { ReadQueue } from './read-queues.ts'
import type { TimeShare } from './fair-scheduler.ts'

/** The party for which work is done: its share of the thread, and the waiting caller. */
export interface Asker {
  readonly timeShare: TimeShare
  readonly waiting: WaitingClient
}

/**
 * Runs `begin`. If `begin` returns resumable work, runs that to completion, in slices that alternate with
 * other work. `long` decides when resumable work may continue; if it is absent, the work continues
 * immediately. Rejects with `OVERLOADED` if the caller has disconnected before the work begins or at the end
 * of a slice.
 */
export async function drive<Answer>(
  begin: () => Answer | Resumable<Answer>,
  { timeShare, waiting }: Asker,
  long?: ReadQueue,
): Promise<Answer> {
  let work: Resumable<Answer> | null = null
  const begun = await timeShare.take((): IteratorResult<void, Answer> => {
    if (waiting.isGone) throw abandoned()
    const answer = begin()
    if (!isResumable(answer)) return { done: true, value: answer }
    work = answer
    // Most work is short and is finished in its first slice.
    return long ? { done: false, value: undefined } : slice(answer, waiting)
  })
  if (begun.done) return begun.value
  const goOn = async (): Promise<Answer> => {
    for (;;) {
      const step = await timeShare.take(() => slice(work!, waiting))
      if (step.done) return step.value
    }
  }
  return long ? long.run(goOn) : goOn()
}

function slice<Answer>(work: Resumable<Answer>, waiting: WaitingClient): IteratorResult<void, Answer> {
  if (waiting.isGone) {
    // Ends the generator, which releases the lists that it was reading.
    work.return(undefined as Answer)
    throw abandoned()
  }
  const until = performance.now() + SLICE_MS
  for (;;) {
    const step = work.next()
    if (step.done || performance.now() >= until) return step
  }
}

/** Error for work whose caller has disconnected. It is never sent. */
export function abandoned(): AuthzError {
  return new AuthzError('OVERLOADED', 'the client disconnected before the request was processed')
}
