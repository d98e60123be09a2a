/** Long work as a generator that pauses regularly, so that other work can run. */
import { LONGEST_SLICE_MS } from './time-budget.ts'

export type Resumable<Answer> = Generator<void, Answer, void>

/** The answer type of an operation, whether it is synchronous or resumable. */
export type AnswerOf<Result> = Result extends Resumable<infer Answer> ? Answer : Result

/** Rows read between two pauses: a few tenths of a millisecond. */
export const YIELD_ROWS = 32

export function isResumable<Answer>(value: Answer | Resumable<Answer>): value is Resumable<Answer> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value && 'next' in value
}

/** Runs the work to completion without a pause. Only for work that the caller knows to be short. */
export function runAtOnce<Answer>(work: Resumable<Answer>): Answer {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
  }
}

/**
 * Runs the work in slices, without regard to other work. The first slice runs immediately, and each further
 * slice in a later iteration of the event loop.
 */
export async function runInSlices<Answer>(work: Resumable<Answer>): Promise<Answer> {
  for (;;) {
    const until = performance.now() + LONGEST_SLICE_MS.main
    do {
      const step = work.next()
      if (step.done) return step.value
    } while (performance.now() < until)
    await new Promise(resolve => setImmediate(resolve))
  }
}
